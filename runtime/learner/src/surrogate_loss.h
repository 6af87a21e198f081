#pragma once

#include <cstdint>
#include <vector>

#include "action_scorer.h"
#include "engine.h"
#include "rollout.h"

namespace agentgym {

/// A minibatch on its way through the networks: rows of a batch.
struct Minibatch {
  const Batch* batch;
  const int32_t* rows;
  int64_t count;
  LossSettings settings;
  float advantage_mean;    // 0 and 1 where advantages stay as they are
  float advantage_factor;  // 1 / (deviation + 1e-8)
};

Minibatch DescribeMinibatch(const Batch& batch, const int32_t* rows, int64_t count, const LossSettings& settings);

/// A network's output for some neighbouring samples of a minibatch, and where d loss / d output goes.
struct TileOutput {
  int64_t first;
  int64_t rows;
  const float* output;
  int64_t stride;
  float* gradient;  // rows `stride` apart, padding included
};

/// Sums over the samples of one chunk.
struct LossSums {
  double policy = 0, value = 0, entropy = 0, kl = 0, clipped = 0, reference = 0;
};

/// Clipped surrogate, entropy bonus and, where the settings say so, the divergence from the reference policy: Schulman's
/// k3 estimate (2020), exp(d) - d - 1 with d = log π_ref(a) - log π(a), which is never negative. `log_std` may be null where
/// no action is Gaussian.
void AddActorLoss(const Policy& policy, const Minibatch& minibatch, const TileOutput& tile, const float* log_std,
                  ActionScorer& scorer, float* log_std_gradient, LossSums& sums);

/// Half the squared error of the value, clipped where the settings say so.
void AddCriticLoss(const Minibatch& minibatch, const TileOutput& tile, LossSums& sums);

/// The chunks' sums, added in their order, over `count` samples.
MinibatchLoss MeanLoss(const std::vector<LossSums>& chunks, int64_t count);

}  // namespace agentgym
