#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "byte_stream.h"
#include "policy.h"
#include "rollout.h"

namespace agentgym {

/// Transitions of n steps, one row each:
///   (s_t, a_t) → reward = Σ_{k<m} γ^k r_{t+k},  then discount · V(s_{t+m})
/// m is n, or less where the episode ended or the buffer does. discount is γ^m, and 0 after a termination.
struct Transitions {
  int64_t size = 0;
  std::vector<float> observations;       // [size, observation]
  std::vector<float> actions;            // [size, action]
  std::vector<float> rewards;            // [size]
  std::vector<float> discounts;          // [size]
  std::vector<float> next_observations;  // [size, observation]
  std::vector<uint8_t> next_masks;       // [size, mask]; empty: nothing is masked
};

/// The last vector steps of all environments in flat rings, structure of arrays. An observation is stored once: the next
/// observation of a step is that of the ring's next slot. Only a truncated episode's true last observation, which no slot
/// has, lies aside. The newest slot holds the observation that the next rollout starts from, and no step yet.
class ReplayBuffer {
 public:
  /// `capacity` counts steps of single environments; at least one vector step is kept.
  ReplayBuffer(const Policy& policy, int64_t environments, int64_t capacity, bool masked);

  /// Appends a rollout that goes on where the last one ended. The oldest steps make room.
  void Add(const std::vector<Segment>& rollout);

  int64_t size() const { return filled_ * environments_; }
  int64_t environments() const { return environments_; }

  /// Fills `batch` with these steps; index i is step i / environments, counted from the oldest, of environment
  /// i % environments.
  ///
  /// Where the mask of s_{t+m} is not known, after a truncation and at the buffer's end, it is that of the step before.
  void Gather(const uint32_t* indices, int64_t count, int64_t n, double gamma, Transitions& batch) const;

  /// Oldest first, so that the same index finds the same step in the buffer that is read back.
  void Serialize(Writer& writer) const;
  static std::unique_ptr<ReplayBuffer> Deserialize(Reader& reader, const Policy& policy);

  /// Of `Serialize`, about.
  int64_t bytes() const;

 private:
  int64_t Row(int64_t slot, int64_t environment) const { return slot * environments_ + environment; }
  int64_t Slot(int64_t step) const { return (newest_ + slots_ - filled_ + step) % slots_; }
  void KeepFinal(int64_t row, const float* observation);
  void DropFinals(int64_t slot);
  void Advance();

  const Policy& policy_;
  int64_t environments_;
  int64_t slots_;
  int64_t newest_ = 0;
  int64_t filled_ = 0;  // complete slots before the newest
  // [slots, environments, …]; memory that no step was written to is never touched.
  std::unique_ptr<float[]> observations_, actions_, rewards_;
  std::unique_ptr<uint8_t[]> flags_, masks_;  // masks_ may be null: nothing is masked
  std::vector<int32_t> final_rows_;           // [slots, environments]: row of `finals_`, or -1
  std::vector<float> finals_;                 // [rows, observation]
  std::vector<int32_t> free_finals_;
};

}  // namespace agentgym
