#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "engine.h"
#include "grpo.h"
#include "policy.h"
#include "ppo.h"
#include "rollout.h"
#include "training_state.h"

namespace agentgym {

enum class EnginePath { kAutograd, kFused, kFloat64 };

using Update = std::variant<PpoUpdate, GrpoUpdate>;

/// A policy that learns: its weights and statistics, the engine that computes with them, and the algorithms' updates.
class PolicyLearner {
 public:
  PolicyLearner(Policy policy, uint64_t seed, EnginePath path, bool cuda, int threads);

  const Policy& policy() const { return policy_; }
  const TrainingState& state() const { return state_; }
  void SetWeights(const float* weights);
  void SetState(const uint8_t* bytes, int64_t size);

  /// The policy from which a KL penalty measures the distance, with its own observation statistics.
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
