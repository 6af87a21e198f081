#pragma once

#include <cstdint>
#include <vector>

#include "byte_stream.h"
#include "dqn.h"
#include "engine.h"
#include "replay_buffer.h"
#include "split_mix.h"
#include "surrogate_update.h"
#include "training_state.h"

namespace agentgym {

/// SacUpdate in runtime/src/learner/learner-types.ts.
struct SacUpdate {
  double gamma;
  int64_t gradient_steps;
  int64_t minibatch_size;
  double tau;                  // share of the critics' weights that their targets take over after each gradient step
  double learning_rate;        // of actor, critics and entropy coefficient
  double entropy_coefficient;  // α; at first, where it is learned
  bool learn_entropy_coefficient;
  double target_entropy;
  uint32_t seed;
  LossSettings loss;           // nothing of it is used
};

/// α = exp(logarithm), learned by Adam.
struct EntropyCoefficient {
  double logarithm = 0;
  double first_moment = 0;
  double second_moment = 0;
  int64_t steps = 0;
};

/// What SAC learns besides the actor, and an agent does not contain: two critics, their targets, and α.
struct SacCritics {
  explicit SacCritics(Policy description) : policy(std::move(description)), online(policy), target(policy) {}
  SacCritics(const SacCritics&) = delete;

  struct Learned {
    TrainingState online;
    std::vector<float> target;
    EntropyCoefficient entropy;
  };
  Learned Save() const { return {online.state, target.state.weights, entropy}; }
  void Restore(const Learned& learned);

  /// Takes over the observation statistics of the actor.
  void SetStatistics(const Policy& actor, const TrainingState& state);

  void Serialize(Writer& writer) const;
  void Deserialize(Reader& reader);

  Policy policy;  // observation rows end with the action, in the coordinates of `CriticRows`
  SecondPolicy online;
  SecondPolicy target;
  EntropyCoefficient entropy;
};

/// Soft actor-critic (Haarnoja et al., 2018, with the learned coefficient of their second paper). Each of `gradient_steps`
/// steps draws a minibatch from the buffer, by `update.seed` alone, and makes a step of Adam on
///   J_Q = ½ mean((Q₁(s, a) - y)² + (Q₂(s, a) - y)²),  y = r + γ (min Q'ᵢ(s', a') - α log π(a'|s')),  a' ~ π(s')
///   J_π = mean(α log π(a|s) - min Qᵢ(s, a)),          a = f(mean + exp(log_std) · noise)
///   J_α = mean(-log α (log π(a|s) + target_entropy)), as in the authors' code: a small α grows as fast as a large one
/// and moves the target networks Q'ᵢ by tau. Fails with training_diverged.
UpdateMetrics RunSacUpdate(const Policy& policy, const SacUpdate& update, const ReplayBuffer& replay, Engine& actor,
                           TrainingState& state, SacCritics& critics);

/// The targets y of a batch of transitions: [size].
std::vector<float> SacTargets(const Policy& policy, const Transitions& batch, double entropy_coefficient, Engine& actor,
                              SacCritics& critics, SplitMix64& random);

/// Leaves the gradient of J_Q in the critics' engine. `batch` has observations, actions and, as returns, targets.
MinibatchLoss ComputeCriticsGradient(const Policy& policy, const Batch& batch, SacCritics& critics);

/// Leaves the gradient of J_π in the actor's engine. `batch` has observations and noise, and gets the values of the actions
/// that these make.
MinibatchLoss ComputeActorGradient(const Policy& policy, Batch& batch, double entropy_coefficient, Engine& actor,
                                   SacCritics& critics);

/// d J_α / d log α; `entropy` is the mean of -log π.
double EntropyCoefficientGradient(double entropy, double target_entropy);

/// Standard normal numbers.
std::vector<float> DrawNoise(int64_t count, SplitMix64& random);

/// J_π as the fused engine computes it, tile by tile.
void AddSquashedGaussianLoss(const Policy& policy, const Minibatch& minibatch, const TileOutput& tile, LossSums& sums);

/// Outputs of SAC's actor to its distribution row: means as they are, log standard deviations within their range.
void WriteGaussian(const Policy& policy, const float* output, float* distribution);

}  // namespace agentgym
