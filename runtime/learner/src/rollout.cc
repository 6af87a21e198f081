#include "rollout.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "learner_failure.h"

namespace agentgym {

namespace {

[[noreturn]] void FailRow(const char* code, const std::string& what, int64_t row) {
  throw LearnerFailure(code, "the learner was given " + what + " (sample " + std::to_string(row) + ")", {{"sample", row}});
}

void ValidateObservation(const Policy& policy, const float* observation, int64_t row) {
  for (const ObservationLeaf& leaf : policy.observation) {
    for (int64_t i = 0; i < leaf.size; ++i) {
      const float value = observation[leaf.offset + i];
      if (!std::isfinite(value)) FailRow("observation_invalid", "an observation that is not finite", row);
      if (leaf.kind == ObservationKind::kBox) continue;
      const int64_t count = leaf.kind == ObservationKind::kText ? leaf.counts[0] : leaf.counts[i];
      if (value < 0 || value >= static_cast<float>(count) || value != std::floor(value)) {
        FailRow("observation_invalid", "an index outside its observation space", row);
      }
    }
  }
}

void ValidateComponent(float action, int64_t count, const uint8_t* mask, int64_t row) {
  Require(action >= 0 && action < static_cast<float>(count) && action == std::floor(action),
          "a categorical action lies outside its space");
  if (mask == nullptr) return;
  if (std::none_of(mask, mask + count, [](uint8_t legal) { return legal != 0; })) {
    FailRow("no_legal_action", "a mask that leaves no legal action", row);
  }
  if (mask[static_cast<int64_t>(action)] == 0) FailRow("mask_invalid", "an action that its own mask forbids", row);
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
      if (!std::isfinite(segment.rewards[i])) FailRow("reward_not_finite", "a reward that is not finite", first + i);
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

void FlattenRollout(const Policy& policy, const std::vector<Segment>& rollout, Batch& batch) {
  batch.size = RolloutSize(rollout);
  Require(batch.size <= INT32_MAX, "a rollout has more than 2^31 samples");
  const bool masked = policy.mask_size > 0 && std::any_of(rollout.begin(), rollout.end(), [](const Segment& segment) {
    return segment.masks != nullptr;
  });
  batch.observations.resize(batch.size * policy.observation_size);
  batch.actions.resize(batch.size * policy.action_size);
  batch.log_probabilities.resize(batch.size);
  batch.advantages.resize(batch.size);
  batch.returns.resize(batch.size);
  batch.values.resize(batch.size);
  batch.masks.resize(masked ? batch.size * policy.mask_size : 0);
  int64_t row = 0;
  for (const Segment& segment : rollout) {
    const int64_t rows = segment.steps * segment.environments;
    std::copy_n(segment.observations, rows * policy.observation_size, &batch.observations[row * policy.observation_size]);
    std::copy_n(segment.actions, rows * policy.action_size, &batch.actions[row * policy.action_size]);
    std::copy_n(segment.log_probabilities, rows, &batch.log_probabilities[row]);
    if (masked && segment.masks != nullptr) {
      std::copy_n(segment.masks, rows * policy.mask_size, &batch.masks[row * policy.mask_size]);
    } else if (masked) {
      std::fill_n(&batch.masks[row * policy.mask_size], rows * policy.mask_size, uint8_t{1});
    }
    row += rows;
  }
}

}  // namespace agentgym
