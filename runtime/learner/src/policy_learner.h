#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine.h"
#include "policy.h"
#include "rollout.h"
#include "training_state.h"
#include "update.h"

namespace agentgym {

enum class EnginePath { kAutograd, kFused, kFloat64 };

/// A policy that learns. PPO (Schulman et al., 2017) in the details of CleanRL's ppo.py; GRPO (Shao et al., 2024) with the
/// same clipped objective and optimiser, but advantages from groups of episodes and no critic.
///
/// What is normalised when:
/// - Observations: by the statistics that the rollout was sampled with, so that the first minibatch has ratio 1; the
///   rollout's own observations are merged after the update. So the first rollout of a run sees mean 0 and variance 1.
/// - Rewards (PPO): this rollout's returns are merged first, then its rewards are divided by the new deviation. One scale
///   holds throughout an update, for rewards, targets and the critic; it is the `value.scale` of the weights that come out.
class PolicyLearner {
 public:
  PolicyLearner(Policy policy, uint64_t seed, EnginePath path, bool cuda, int threads);

  const Policy& policy() const { return policy_; }
  const TrainingState& state() const { return state_; }
  void SetWeights(const float* weights);
  void SetState(const uint8_t* bytes, int64_t size);

  /// The policy that a KL penalty holds this one to, with its own observation statistics.
  void SetReference(const float* weights);

  /// Values are in the reward's own units.
  void Forward(const float* observations, int64_t count, float* distribution, float* values);

  /// One whole update; the state is unchanged if it throws.
  UpdateMetrics RunUpdate(const std::vector<Segment>& rollout, const Update& update);

  /// Values, advantages and returns that an update would learn from; PPO's in units of the normalised return.
  const Batch& Advantages(const std::vector<Segment>& rollout, const Update& update);

  /// Gradient over a whole batch as one minibatch, by any engine.
  void Gradient(const Batch& batch, const LossSettings& settings, EnginePath path, float* gradient);

 private:
  /// A second policy of the same kind, which is never moved.
  struct Reference {
    Reference(const Policy& policy) : state(policy) {}
    TrainingState state;
    std::unique_ptr<Engine> engine;
  };

  UpdateMetrics Learn(const std::vector<Segment>& rollout, const PpoUpdate& update);
  UpdateMetrics Learn(const std::vector<Segment>& rollout, const GrpoUpdate& update);
  void ScoreReference();
  void MergeObservations(const float* observations, int64_t count);
  void ApplyObservationStatistics();
  void Restore(const TrainingState& backup);
  std::unique_ptr<Engine> MakeEngine(TrainingState& state, EnginePath path, bool cuda) const;

  Policy policy_;
  TrainingState state_;
  int threads_;
  bool cuda_;
  EnginePath path_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Reference> reference_;
  Batch batch_;
};

}  // namespace agentgym
