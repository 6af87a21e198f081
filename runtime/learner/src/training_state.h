#pragma once

#include <cstdint>
#include <vector>

#include "policy.h"
#include "running_statistics.h"

namespace agentgym {

/// Everything that learning changes. A copy of it is a perfect backup; `weights` and a serialised rest are a checkpoint.
struct TrainingState {
  explicit TrainingState(const Policy& policy)
      : weights(policy.total_size, 0.0f),
        first_moment(policy.trainable_size, 0.0f),
        second_moment(policy.trainable_size, 0.0f),
        observations(policy.statistics_size),
        returns(1) {}

  std::vector<float> weights;        // parameter-layout.ts gives the order
  std::vector<float> first_moment;   // Adam's, one a trainable weight
  std::vector<float> second_moment;
  int64_t optimizer_steps = 0;
  RunningStatistics observations;    // of box columns
  RunningStatistics returns;         // of the discounted return, one column
  std::vector<float> running_returns;  // discounted return of each environment's episode under way
};

/// Little-endian bytes of everything but the weights.
std::vector<uint8_t> SerializeState(const TrainingState& state);

/// Replaces everything but the weights. Fails with checkpoint_invalid where the bytes do not fit the policy; `state` is
/// then unchanged.
void DeserializeState(const uint8_t* bytes, int64_t size, TrainingState& state);

}  // namespace agentgym
