#pragma once

#include <cstdint>
#include <string>
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
  const int32_t* lengths;           // [environments], steps of each environment's only episode; null: every row counts
  const float* states;              // [environments, memory], the actor's before step 0; null where there is no memory
};

/// Neighbouring rows of one episode. A GRU starts with the given row of the initial states, or with zeros (-1).
struct Sequence {
  int64_t first;
  int64_t length;
  int64_t state;
};

/// Samples of an update, one row each.
struct Batch {
  int64_t size = 0;
  std::vector<float> observations;       // [size, observation]
  std::vector<float> actions;            // [size, action]
  std::vector<float> log_probabilities;  // [size]
  std::vector<float> advantages;
  std::vector<float> returns;
  std::vector<float> values;
  std::vector<uint8_t> masks;            // [size, mask]; empty: nothing is masked
  std::vector<float> reference_log_probabilities;  // [size]; empty: there is no reference policy
  std::vector<float> noise;              // [size, action]; SAC: what the actor's loss draws its actions with
  std::vector<float> action_slopes;      // [size, action]; SAC: of the critics' smaller value, which is in `values`
  std::vector<Sequence> sequences;       // of a policy with memory: all rows, in their order
  std::vector<float> actor_states;       // [states, memory]
  std::vector<float> critic_states;
};

/// Puts the segments of several workers together: one [steps, all environments, …], so that nothing that an update adds up
/// or draws depends on how workers share the environments. Keeps its memory for the next rollout.
class RolloutMerger {
 public:
  /// The rollout itself where it has one segment or none, `lengths`, or segments that differ in steps or arrays, which is left
  /// to ValidateRollout; else valid until the next call.
  const std::vector<Segment>& Merge(const Policy& policy, const std::vector<Segment>& rollout);

 private:
  std::vector<float> observations_, final_observations_, actions_, log_probabilities_, rewards_, states_;
  std::vector<uint8_t> flags_, masks_;
  std::vector<Segment> merged_;
};

/// Fails with a typed error that names a sample.
[[noreturn]] void FailSample(const char* code, const std::string& what, int64_t row);

/// Fails with a typed error at the first reward, observation, action or mask that training could not survive.
void ValidateRollout(const Policy& policy, const std::vector<Segment>& rollout);

/// An index outside its table would read foreign memory.
void ValidateObservations(const Policy& policy, const float* observations, int64_t count);

/// Checks actions, observations and masks of `count` rows; `first` is how the first row is called in messages.
void ValidateRows(const Policy& policy, const float* observations, const float* actions, const uint8_t* masks,
                  int64_t count, int64_t first);

/// Copies everything but advantages, returns and values into `batch`, in the order segment, step, environment. For a policy
/// with memory the order is segment, environment, step, and an environment's rows are cut where an episode ended; its first
/// sequence starts with the state that the segment has, and that `critic_states` [all environments, memory] has.
void FlattenRollout(const Policy& policy, const std::vector<Segment>& rollout,
                    const std::vector<float>& critic_states, Batch& batch);

/// As FlattenRollout, for segments with `lengths`: in the order environment, step. Values are 0.
void FlattenEpisodes(const Policy& policy, const std::vector<Segment>& rollout, Batch& batch);

/// Rows of a rollout: the sum of steps × environments.
int64_t RolloutSize(const std::vector<Segment>& rollout);

/// Environments of all segments together.
int64_t RolloutEnvironments(const std::vector<Segment>& rollout);

}  // namespace agentgym
