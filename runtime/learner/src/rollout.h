#pragma once

#include <cstdint>
#include <vector>

#include "policy.h"

namespace agentgym {

constexpr uint8_t kTerminated = 1;
constexpr uint8_t kTruncated = 2;

/// One worker's rollout, row-major [steps, environments, …], in memory that belongs to JavaScript. See RolloutSegment in
/// runtime/src/learner/learner-types.ts.
struct Segment {
  int64_t steps;
  int64_t environments;
  const float* observations;        // [steps + 1, environments, observation]
  const float* final_observations;  // [steps, environments, observation]
  const float* actions;
  const float* log_probabilities;
  const float* rewards;
  const uint8_t* flags;
  const uint8_t* masks;             // null: nothing is masked
};

/// Samples of an update, one row each, in the order segment, step, environment.
struct Batch {
  int64_t size = 0;
  std::vector<float> observations;       // [size, observation]
  std::vector<float> actions;            // [size, action]
  std::vector<float> log_probabilities;  // [size]
  std::vector<float> advantages;
  std::vector<float> returns;
  std::vector<float> values;
  std::vector<uint8_t> masks;            // [size, mask]; empty: nothing is masked
};

/// Fails with a typed error at the first reward, observation, action or mask that training could not survive.
void ValidateRollout(const Policy& policy, const std::vector<Segment>& rollout);

/// An index outside its table would read foreign memory.
void ValidateObservations(const Policy& policy, const float* observations, int64_t count);

/// Checks actions, observations and masks of `count` rows; `first` is how the first row is called in messages.
void ValidateRows(const Policy& policy, const float* observations, const float* actions, const uint8_t* masks,
                  int64_t count, int64_t first);

/// Copies everything but advantages, returns and values into `batch`.
void FlattenRollout(const Policy& policy, const std::vector<Segment>& rollout, Batch& batch);

/// Rows of a rollout: the sum of steps × environments.
int64_t RolloutSize(const std::vector<Segment>& rollout);

/// Environments of all segments together.
int64_t RolloutEnvironments(const std::vector<Segment>& rollout);

}  // namespace agentgym
