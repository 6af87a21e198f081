#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "action_scorer.h"
#include "engine.h"
#include "joined_batch.h"
#include "rollout.h"
#include "training_state.h"

namespace agentgym {

/// Epochs over shuffled minibatches, each of them one step of the optimizer.
struct OptimizerSettings {
  Optimizer optimizer;
  int64_t epochs;
  int64_t minibatch_size;
  double learning_rate;
  double max_gradient_norm;
  std::optional<double> target_kl;
  uint32_t seed;
};

/// Means over the minibatches of an update; absent where nothing can be said.
struct UpdateMetrics {
  std::optional<double> policy_loss;
  std::optional<double> value_loss;
  std::optional<double> entropy;
  std::optional<double> approximate_kl;
  std::optional<double> clip_fraction;
  std::optional<double> kl_to_reference;
  std::optional<double> value_mean;  // DQN: of the actions that were taken; SAC: of those that the actor draws
  std::optional<double> entropy_coefficient;  // SAC: after the update
  double gradient_norm = 0;
  std::optional<double> explained_variance;
  std::optional<double> zero_variance_groups;  // share of the groups
  int64_t epochs_run = 0;       // begun, so one that target KL cut short counts
  int64_t minibatches_run = 0;  // optimiser steps
  std::optional<double> gradient_seconds;  // several processes: computing the own share of the gradients
  std::optional<double> shared_seconds;    // several processes: waiting for the others' and adding them up
};

/// Where several processes learn together: what they have, and how it is added up.
struct Joined {
  RankGroup* ranks = nullptr;
  JoinedBatch* batch = nullptr;
};

/// The update that PPO, A2C and GRPO share, as in CleanRL's ppo.py: epochs over shuffled minibatches; for each the gradient of the
/// clipped surrogate loss, clipping of its norm and a step of the optimizer; early stop at target KL. `state` is the engine's own.
/// With `ranks`, every process has the rows of its own environments: each computes the gradient of its share of a minibatch,
/// and all make the same step by the sum.
/// Fails with training_diverged where loss, gradient or weights stop being finite; the caller then restores `state`.
UpdateMetrics RunSurrogateUpdate(Engine& engine, TrainingState& state, const Batch& batch,
                                 const OptimizerSettings& optimizer, const LossSettings& loss, const Joined& joined = {});

[[noreturn]] void FailDiverged(const char* what, int64_t epoch, int64_t minibatch);

bool AllFinite(const std::vector<float>& values);

/// Replaces the log-probabilities that the actions were sampled with by those of the policy as it is now.
void ScoreAgain(Engine& engine, Batch& batch);

/// What follows is the loss as the fused engine computes it, tile by tile. The autograd engine has its own.

/// Rows of a batch, with the statistics of their advantages.
struct Minibatch {
  const Batch* batch;
  const int32_t* rows;
  int64_t count;
  int64_t total;           // of all processes that have a part of it
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
  double policy = 0, value = 0, entropy = 0, kl = 0, clipped = 0, reference = 0, value_mean = 0;
};

/// Clipped surrogate, entropy bonus and, where the settings say so, the divergence from the reference policy: Schulman's
/// k3 estimate (2020), exp(d) - d - 1 with d = log π_ref(a) - log π(a), which is never negative. Adds to the gradient of
/// log_std and the pointers.
void AddActorLoss(const Policy& policy, const Minibatch& minibatch, const TileOutput& tile, ActionScorer& scorer,
                  float* heads_gradient, LossSums& sums);

/// Half the squared error of the value, clipped where the settings say so.
void AddCriticLoss(const Minibatch& minibatch, const TileOutput& tile, LossSums& sums);

/// The chunks' sums, added in their order, over `count` samples.
MinibatchLoss MeanLoss(const std::vector<LossSums>& chunks, int64_t count);

}  // namespace agentgym
