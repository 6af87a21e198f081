#include "replay_buffer.h"

#include <algorithm>

#include "learner_failure.h"

namespace agentgym {

namespace {

/// A learner's replay beyond this is a mistake in the settings.
constexpr int64_t kMostBytes = int64_t{32} << 30;

template <typename Value>
std::unique_ptr<Value[]> Uninitialized(int64_t count) {
  return std::unique_ptr<Value[]>(new Value[count]);
}

}  // namespace

ReplayBuffer::ReplayBuffer(const Policy& policy, int64_t environments, int64_t capacity, bool masked)
    : policy_(policy), environments_(environments), slots_(std::max<int64_t>(1, capacity / environments) + 1) {
  const int64_t rows = slots_ * environments;
  const int64_t row_bytes = 4 * (policy.observation_size + policy.action_size + 2) + 1 + (masked ? policy.mask_size : 0);
  if (rows > INT32_MAX || rows * row_bytes > kMostBytes) {
    throw LearnerFailure("config_invalid", "a replay buffer of " + std::to_string(rows) + " steps needs " +
                                               std::to_string(rows * row_bytes >> 30) + " GiB; lower buffer_size");
  }
  observations_ = Uninitialized<float>(rows * policy.observation_size);
  actions_ = Uninitialized<float>(rows * policy.action_size);
  rewards_ = Uninitialized<float>(rows);
  flags_ = Uninitialized<uint8_t>(rows);
  if (masked) masks_ = Uninitialized<uint8_t>(rows * policy.mask_size);
  final_rows_.assign(rows, -1);
}

void ReplayBuffer::Add(const std::vector<Segment>& rollout) {
  Require(RolloutEnvironments(rollout) == environments_, "a rollout has other environments than the replay buffer");
  const int64_t steps = rollout[0].steps;
  for (int64_t step = 0; step < steps; ++step) {
    int64_t first = Row(newest_, 0);
    for (const Segment& segment : rollout) {
      Require(segment.steps == steps, "segments of one rollout differ in their steps");
      const int64_t from = step * segment.environments;
      const auto copy = [&](const auto* source, int64_t columns, auto& target) {
        std::copy_n(source + from * columns, segment.environments * columns, &target[first * columns]);
      };
      copy(segment.observations, policy_.observation_size, observations_);
      copy(segment.actions, policy_.action_size, actions_);
      copy(segment.rewards, 1, rewards_);
      copy(segment.flags, 1, flags_);
      if (masks_ != nullptr && segment.masks != nullptr) copy(segment.masks, policy_.mask_size, masks_);
      if (masks_ != nullptr && segment.masks == nullptr) {
        std::fill_n(&masks_[first * policy_.mask_size], segment.environments * policy_.mask_size, uint8_t{1});
      }
      for (int64_t i = 0; i < segment.environments; ++i) {
        if ((segment.flags[from + i] & (kTerminated | kTruncated)) != kTruncated) continue;
        KeepFinal(first + i, segment.final_observations + (from + i) * policy_.observation_size);
      }
      first += segment.environments;
    }
    Advance();
  }
  int64_t first = Row(newest_, 0);
  for (const Segment& segment : rollout) {
    std::copy_n(segment.observations + steps * segment.environments * policy_.observation_size,
                segment.environments * policy_.observation_size, &observations_[first * policy_.observation_size]);
    first += segment.environments;
  }
}

void ReplayBuffer::Advance() {
  newest_ = (newest_ + 1) % slots_;
  filled_ = std::min(filled_ + 1, slots_ - 1);
  DropFinals(newest_);
}

void ReplayBuffer::KeepFinal(int64_t row, const float* observation) {
  if (free_finals_.empty()) {
    const auto added = static_cast<int32_t>(finals_.size() / policy_.observation_size);
    finals_.resize(finals_.size() + policy_.observation_size);
    free_finals_.push_back(added);
  }
  final_rows_[row] = free_finals_.back();
  free_finals_.pop_back();
  std::copy_n(observation, policy_.observation_size, &finals_[final_rows_[row] * policy_.observation_size]);
}

void ReplayBuffer::DropFinals(int64_t slot) {
  for (int64_t row = Row(slot, 0); row < Row(slot + 1, 0); ++row) {
    if (final_rows_[row] >= 0) free_finals_.push_back(final_rows_[row]);
    final_rows_[row] = -1;
  }
}

void ReplayBuffer::Gather(const uint32_t* indices, int64_t count, int64_t n, double gamma, Transitions& batch) const {
  const int64_t width = policy_.observation_size;
  batch.size = count;
  batch.observations.resize(count * width);
  batch.actions.resize(count * policy_.action_size);
  batch.rewards.resize(count);
  batch.discounts.resize(count);
  batch.next_observations.resize(count * width);
  batch.next_masks.resize(masks_ == nullptr ? 0 : count * policy_.mask_size);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t step = indices[i] / environments_, environment = indices[i] % environments_;
    int64_t slot = Slot(step), row = Row(slot, environment);
    std::copy_n(&observations_[row * width], width, &batch.observations[i * width]);
    std::copy_n(&actions_[row * policy_.action_size], policy_.action_size, &batch.actions[i * policy_.action_size]);
    double reward = 0, discount = 1;
    uint8_t ended = 0;
    for (int64_t k = 0; k < n && step + k < filled_; ++k) {
      slot = Slot(step + k);
      row = Row(slot, environment);
      reward += discount * rewards_[row];
      discount *= gamma;
      ended = flags_[row] & (kTerminated | kTruncated);
      if (ended != 0) break;
    }
    const int64_t next_slot = (slot + 1) % slots_;
    const int64_t next = Row(next_slot, environment);
    const float* observation = ended == kTruncated ? &finals_[final_rows_[row] * width] : &observations_[next * width];
    std::copy_n(observation, width, &batch.next_observations[i * width]);
    batch.rewards[i] = static_cast<float>(reward);
    batch.discounts[i] = (ended & kTerminated) != 0 ? 0.0f : static_cast<float>(discount);
    if (masks_ == nullptr) continue;
    const int64_t legal = ended != 0 || next_slot == newest_ ? row : next;
    std::copy_n(&masks_[legal * policy_.mask_size], policy_.mask_size, &batch.next_masks[i * policy_.mask_size]);
  }
}

int64_t ReplayBuffer::bytes() const {
  const int64_t row = 4 * (policy_.observation_size + policy_.action_size + 1) + 1 + (masks_ == nullptr ? 0 : policy_.mask_size);
  const auto finals = static_cast<int64_t>(finals_.size() - free_finals_.size() * policy_.observation_size);
  return size() * row + 4 * (finals + environments_ * policy_.observation_size);
}

void ReplayBuffer::Serialize(Writer& writer) const {
  writer.Put(environments_);
  writer.Put(slots_);
  writer.Put(filled_);
  writer.Put<uint8_t>(masks_ == nullptr ? 0 : 1);
  const int64_t width = policy_.observation_size;
  std::vector<float> finals;
  const auto put = [&](const auto& source, int64_t columns, int64_t slots) {
    std::vector<std::decay_t<decltype(source[0])>> all;
    all.reserve(slots * environments_ * columns);
    for (int64_t step = 0; step < slots; ++step) {
      const auto* from = &source[Row(Slot(step), 0) * columns];
      all.insert(all.end(), from, from + environments_ * columns);
    }
    writer.PutAll(all);
  };
  put(observations_, width, filled_ + 1);
  put(actions_, policy_.action_size, filled_);
  put(rewards_, 1, filled_);
  put(flags_, 1, filled_);
  if (masks_ != nullptr) put(masks_, policy_.mask_size, filled_);
  for (int64_t step = 0; step < filled_; ++step) {
    for (int64_t row = Row(Slot(step), 0); row < Row(Slot(step) + 1, 0); ++row) {
      if (final_rows_[row] < 0) continue;
      const float* from = &finals_[final_rows_[row] * width];
      finals.insert(finals.end(), from, from + width);
    }
  }
  writer.PutAll(finals);
}

std::unique_ptr<ReplayBuffer> ReplayBuffer::Deserialize(Reader& reader, const Policy& policy) {
  const auto environments = reader.Get<int64_t>(), slots = reader.Get<int64_t>(), filled = reader.Get<int64_t>();
  const bool masked = reader.Get<uint8_t>() != 0;
  if (environments < 1 || slots < 2 || slots > INT32_MAX / environments || filled < 0 || filled >= slots) {
    Reader::Fail("its replay buffer is of no size");
  }
  auto buffer = std::make_unique<ReplayBuffer>(policy, environments, (slots - 1) * environments, masked);
  const int64_t rows = filled * environments, width = policy.observation_size;
  const auto take = [&](auto& target, int64_t count) {
    const auto values = reader.GetAll<std::decay_t<decltype(target[0])>>(count);
    std::copy(values.begin(), values.end(), &target[0]);
  };
  take(buffer->observations_, (rows + environments) * width);
  take(buffer->actions_, rows * policy.action_size);
  take(buffer->rewards_, rows);
  take(buffer->flags_, rows);
  if (masked) take(buffer->masks_, rows * policy.mask_size);
  ValidateRows(policy, buffer->observations_.get(), buffer->actions_.get(), nullptr, rows, 0);
  ValidateObservations(policy, &buffer->observations_[rows * width], environments);
  const auto finals = reader.GetAll<float>(-1);
  int64_t used = 0;
  for (int64_t row = 0; row < rows; ++row) {
    if ((buffer->flags_[row] & (kTerminated | kTruncated)) != kTruncated) continue;
    if ((used + 1) * width > static_cast<int64_t>(finals.size())) Reader::Fail("it is cut short");
    ValidateObservations(policy, &finals[used * width], 1);
    buffer->KeepFinal(row, &finals[used++ * width]);
  }
  buffer->newest_ = buffer->filled_ = filled;
  return buffer;
}

}  // namespace agentgym
