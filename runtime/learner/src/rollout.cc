#include "rollout.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "learner_failure.h"

namespace agentgym {

void FailSample(const char* code, const std::string& what, int64_t row) {
  throw LearnerFailure(code, "the learner was given " + what + " (sample " + std::to_string(row) + ")", {{"sample", row}});
}

namespace {

void ValidateObservation(const Policy& policy, const float* observation, int64_t row) {
  for (const ObservationLeaf& leaf : policy.observation) {
    for (int64_t i = 0; i < leaf.size; ++i) {
      const float value = observation[leaf.offset + i];
      if (!std::isfinite(value)) FailSample("observation_invalid", "an observation that is not finite", row);
      if (leaf.kind == ObservationKind::kBox) continue;
      const int64_t count = leaf.kind == ObservationKind::kText ? leaf.counts[0] : leaf.counts[i];
      if (value < 0 || value >= static_cast<float>(count) || value != std::floor(value)) {
        FailSample("observation_invalid", "an index outside its observation space", row);
      }
    }
  }
}

void ValidateComponent(float action, int64_t count, const uint8_t* mask, int64_t row) {
  Require(action >= 0 && action < static_cast<float>(count) && action == std::floor(action),
          "a categorical action lies outside its space");
  if (mask == nullptr) return;
  if (std::none_of(mask, mask + count, [](uint8_t legal) { return legal != 0; })) {
    FailSample("no_legal_action", "a mask that leaves no legal action", row);
  }
  if (mask[static_cast<int64_t>(action)] == 0) FailSample("mask_invalid", "an action that its own mask forbids", row);
}

}  // namespace

void ValidateObservations(const Policy& policy, const float* observations, int64_t count) {
  for (int64_t row = 0; row < count; ++row) ValidateObservation(policy, observations + row * policy.observation_size, row);
}

void ValidateRows(const Policy& policy, const float* observations, const float* actions, const uint8_t* masks,
                  int64_t count, int64_t first) {
  for (int64_t row = 0; row < count; ++row) {
    ValidateObservation(policy, observations + row * policy.observation_size, first + row);
    const float* action = actions + row * policy.action_size;
    for (const ActionLeaf& leaf : policy.action) {
      if (!leaf.Counts(action)) continue;
      int64_t mask_offset = row * policy.mask_size + leaf.mask_offset;
      for (int64_t i = 0; i < leaf.size; ++i) {
        const float value = action[leaf.offset + i];
        if (leaf.gaussian) {
          Require(std::isfinite(value), "an action is not finite");
          continue;
        }
        ValidateComponent(value, leaf.counts[i], masks == nullptr ? nullptr : masks + mask_offset, first + row);
        mask_offset += leaf.counts[i];
      }
    }
  }
}

void ValidateRollout(const Policy& policy, const std::vector<Segment>& rollout) {
  int64_t first = 0;
  for (const Segment& segment : rollout) {
    const int64_t rows = segment.steps * segment.environments;
    for (int64_t i = 0; i < rows; ++i) {
      if (!std::isfinite(segment.rewards[i])) FailSample("reward_not_finite", "a reward that is not finite", first + i);
      Require(std::isfinite(segment.log_probabilities[i]), "a log-probability is not finite");
      if ((segment.flags[i] & (kTerminated | kTruncated)) == kTruncated) {
        ValidateObservation(policy, segment.final_observations + i * policy.observation_size, first + i);
      }
    }
    ValidateRows(policy, segment.observations, segment.actions, segment.masks, rows, first);
    for (int64_t i = 0; i < segment.environments; ++i) {
      ValidateObservation(policy, segment.observations + (rows + i) * policy.observation_size, first + rows - 1);
    }
    first += rows;
  }
}

int64_t RolloutSize(const std::vector<Segment>& rollout) {
  int64_t rows = 0;
  for (const Segment& segment : rollout) rows += segment.steps * segment.environments;
  return rows;
}

int64_t RolloutEnvironments(const std::vector<Segment>& rollout) {
  int64_t environments = 0;
  for (const Segment& segment : rollout) environments += segment.environments;
  return environments;
}

namespace {

/// Makes room for `size` samples.
void ResizeBatch(const Policy& policy, const std::vector<Segment>& rollout, int64_t size, Batch& batch) {
  Require(size <= INT32_MAX, "a rollout has more than 2^31 samples");
  const bool masked = policy.mask_size > 0 && std::any_of(rollout.begin(), rollout.end(), [](const Segment& segment) {
    return segment.masks != nullptr;
  });
  batch.size = size;
  batch.observations.resize(size * policy.observation_size);
  batch.actions.resize(size * policy.action_size);
  batch.log_probabilities.resize(size);
  batch.advantages.resize(size);
  batch.returns.resize(size);
  batch.values.resize(size);
  batch.masks.resize(masked ? size * policy.mask_size : 0);
  batch.reference_log_probabilities.clear();
  batch.sequences.clear();
  batch.actor_states.clear();
  batch.critic_states.clear();
}

/// Copies `rows` neighbouring rows of a segment to the batch's rows from `to` on.
void CopyRows(const Policy& policy, const Segment& segment, int64_t from, int64_t rows, int64_t to, Batch& batch) {
  const auto copy = [&](const float* source, int64_t columns, std::vector<float>& target) {
    std::copy_n(source + from * columns, rows * columns, target.begin() + to * columns);
  };
  copy(segment.observations, policy.observation_size, batch.observations);
  copy(segment.actions, policy.action_size, batch.actions);
  copy(segment.log_probabilities, 1, batch.log_probabilities);
  if (batch.masks.empty()) return;
  const auto target = batch.masks.begin() + to * policy.mask_size;
  if (segment.masks == nullptr) {
    std::fill_n(target, rows * policy.mask_size, uint8_t{1});
  } else {
    std::copy_n(segment.masks + from * policy.mask_size, rows * policy.mask_size, target);
  }
}

}  // namespace

namespace {

/// The rows of one environment, in their order, as sequences.
void FlattenEnvironment(const Policy& policy, const Segment& segment, int64_t environment, int64_t state, int64_t row,
                        Batch& batch) {
  Sequence sequence{row, 0, state};
  for (int64_t step = 0; step < segment.steps; ++step) {
    const int64_t from = step * segment.environments + environment;
    CopyRows(policy, segment, from, 1, row + step, batch);
    ++sequence.length;
    if ((segment.flags[from] & (kTerminated | kTruncated)) == 0) continue;
    batch.sequences.push_back(sequence);
    sequence = {row + step + 1, 0, -1};
  }
  if (sequence.length > 0) batch.sequences.push_back(sequence);
}

}  // namespace

void FlattenRollout(const Policy& policy, const std::vector<Segment>& rollout,
                    const std::vector<float>& critic_states, Batch& batch) {
  ResizeBatch(policy, rollout, RolloutSize(rollout), batch);
  int64_t row = 0, environment = 0;
  for (const Segment& segment : rollout) {
    const int64_t rows = segment.steps * segment.environments;
    if (policy.memory == 0) {
      CopyRows(policy, segment, 0, rows, row, batch);
    } else {
      Require(segment.states != nullptr, "a rollout of a policy with memory has no states");
      batch.actor_states.insert(batch.actor_states.end(), segment.states,
                                segment.states + segment.environments * policy.memory);
      for (int64_t i = 0; i < segment.environments; ++i) {
        FlattenEnvironment(policy, segment, i, environment + i, row + i * segment.steps, batch);
      }
    }
    row += rows;
    environment += segment.environments;
  }
  if (policy.memory == 0) return;
  batch.critic_states = critic_states;
  batch.critic_states.resize(environment * policy.memory, 0.0f);
}

const std::vector<Segment>& RolloutMerger::Merge(const Policy& policy, const std::vector<Segment>& rollout) {
  if (rollout.size() < 2 || rollout[0].lengths != nullptr) return rollout;
  const int64_t steps = rollout[0].steps, environments = RolloutEnvironments(rollout);
  const auto alike = [&](auto Segment::* field, const Segment& segment) {
    return (segment.*field == nullptr) == (rollout[0].*field == nullptr);
  };
  for (const Segment& segment : rollout) {
    if (segment.steps != steps || segment.lengths != nullptr) return rollout;
    if (!alike(&Segment::masks, segment) || !alike(&Segment::states, segment)) return rollout;
  }
  // Rows of one step and of all environments, `columns` numbers each.
  const auto join = [&](auto Segment::* field, int64_t rows, int64_t columns, auto& target) -> decltype(&target[0]) {
    if (rollout[0].*field == nullptr) return nullptr;
    target.resize(rows * environments * columns);
    int64_t first = 0;
    for (const Segment& segment : rollout) {
      const int64_t width = segment.environments * columns;
      for (int64_t row = 0; row < rows; ++row) {
        std::copy_n(segment.*field + row * width, width, target.begin() + (row * environments + first) * columns);
      }
      first += segment.environments;
    }
    return target.data();
  };
  Segment all{};
  all.steps = steps;
  all.environments = environments;
  all.observations = join(&Segment::observations, steps + 1, policy.observation_size, observations_);
  all.final_observations = join(&Segment::final_observations, steps, policy.observation_size, final_observations_);
  all.actions = join(&Segment::actions, steps, policy.action_size, actions_);
  all.log_probabilities = join(&Segment::log_probabilities, steps, 1, log_probabilities_);
  all.rewards = join(&Segment::rewards, steps, 1, rewards_);
  all.flags = join(&Segment::flags, steps, 1, flags_);
  all.masks = join(&Segment::masks, steps, policy.mask_size, masks_);
  all.states = join(&Segment::states, 1, policy.memory, states_);
  merged_.assign(1, all);
  return merged_;
}

void FlattenEpisodes(const Policy& policy, const std::vector<Segment>& rollout, Batch& batch) {
  int64_t size = 0;
  for (const Segment& segment : rollout) {
    Require(segment.lengths != nullptr, "a rollout of episodes has no lengths");
    for (int64_t i = 0; i < segment.environments; ++i) {
      const int64_t length = segment.lengths[i];
      Require(length > 0 && length <= segment.steps, "an episode is longer than its segment, or empty");
      size += length;
    }
  }
  ResizeBatch(policy, rollout, size, batch);
  std::fill(batch.values.begin(), batch.values.end(), 0.0f);
  int64_t row = 0;
  for (const Segment& segment : rollout) {
    for (int64_t i = 0; i < segment.environments; ++i) {
      if (policy.memory > 0) batch.sequences.push_back({row, segment.lengths[i], -1});
      for (int64_t step = 0; step < segment.lengths[i]; ++step, ++row) {
        CopyRows(policy, segment, step * segment.environments + i, 1, row, batch);
      }
    }
  }
}

}  // namespace agentgym
