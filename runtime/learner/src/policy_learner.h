#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "dqn.h"
#include "engine.h"
#include "grpo.h"
#include "policy.h"
#include "ppo.h"
#include "rank_group.h"
#include "rollout.h"
#include "sac.h"
#include "training_state.h"

namespace agentgym {

enum class EnginePath { kAutograd, kFused, kFloat64 };

using Update = std::variant<PpoUpdate, GrpoUpdate, DqnUpdate, SacUpdate>;

/// A policy that learns: its weights and statistics, the engine that computes with them, and the algorithms' updates.
class PolicyLearner {
 public:
  /// `critics` are SAC's, absent for every other policy. With `ranks`, this is one of several processes whose weights stay the
  /// same: PPO and GRPO learn from what all of them play.
  PolicyLearner(Policy policy, std::optional<Policy> critics, uint64_t seed, EnginePath path, int device, int threads,
                std::shared_ptr<RankGroup> ranks);

  const Policy& policy() const { return policy_; }
  const TrainingState& state() const { return state_; }
  void SetWeights(const float* weights);

  /// Begins from the weights of another run's agent, whose statistics are of `observations` rows and whose values are in
  /// the reward's own units. Optimizer and reward scale begin anew; the first update of the scale leaves the values alone.
  void StartFrom(const float* weights, double observations);
  void SetState(const uint8_t* bytes, int64_t size);

  /// The policy from which a KL penalty measures the distance, with its own observation statistics.
  void SetReference(const float* weights);

  /// Values are in the reward's own units.
  void Forward(const float* observations, int64_t count, float* distribution, float* values);

  /// The same for sequences of a policy with memory; `sequences` cover `count` rows.
  void ForwardSequences(const SequenceRows& rows, int64_t count, const SequenceResults& results);

  /// Appends a rollout to the replay buffer, which holds `capacity` steps, and its observations to the statistics.
  /// Environments and capacity are those of the first call.
  void Remember(const std::vector<Segment>& segments, int64_t capacity, bool normalize_observation);

  const ReplayBuffer* replay() const { return replay_.get(); }

  /// Of all steps of the replay buffer, oldest first: what an update would move their values to.
  std::vector<float> Targets(const Update& update);

  /// Of SAC: weights of both critics, and of their targets as well where they are set.
  const std::vector<float>& CriticWeights() const;
  void SetCriticWeights(const float* weights);

  /// Gradients of SAC's losses over a whole batch as one minibatch, by any engine. `batch` has observations, actions, noise
  /// and, as returns, the critics' targets. Gives that of the entropy coefficient.
  double SacGradients(Batch& batch, const SacUpdate& update, EnginePath path, float* actor, float* critics);

  /// Everything but the weights, as bytes: optimizer, statistics, target network and, unless left out, the replay buffer. It
  /// holds what every process knows of its environments; of lost ones, that their episodes begin.
  std::vector<uint8_t> SaveState(bool with_replay) const;

  /// One whole update; the state is unchanged if it throws. Off-policy updates learn from the replay buffer, not from `rollout`.
  UpdateMetrics RunUpdate(const std::vector<Segment>& segments, const Update& update);

  /// Values, advantages and returns that an update would learn from; PPO's in units of the normalised return.
  const Batch& Advantages(const std::vector<Segment>& segments, const Update& update);

  /// Gradient over a whole batch as one minibatch, by any engine.
  void Gradient(const Batch& batch, const LossSettings& settings, EnginePath path, float* gradient);

 private:
  void Restore(const TrainingState& backup);
  std::vector<float> JoinByEnvironment(const std::vector<float>& own) const;
  void TakeOwnEnvironments(std::vector<float>& all) const;
  std::unique_ptr<SecondPolicy> MakeSecondPolicy(const float* weights) const;
  SecondPolicy& Target();
  std::unique_ptr<Engine> MakeEngine(const Policy& policy, TrainingState& state, EnginePath path, int device) const;

  Policy policy_;
  TrainingState state_;
  int threads_;
  int device_;
  EnginePath path_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<SecondPolicy> reference_;
  std::unique_ptr<SecondPolicy> target_;
  std::unique_ptr<SacCritics> critics_;
  std::unique_ptr<ReplayBuffer> replay_;
  std::shared_ptr<RankGroup> ranks_;
  RolloutMerger merger_;
  Batch batch_;
};

}  // namespace agentgym
