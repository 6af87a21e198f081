#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine.h"
#include "policy.h"
#include "rollout.h"
#include "training_state.h"

namespace agentgym {

/// PpoUpdate in runtime/src/learner/learner-types.ts.
struct PpoUpdate {
  double gamma;
  double gae_lambda;
  int64_t epochs;
  int64_t minibatch_size;
  double learning_rate;
  double max_gradient_norm;
  std::optional<double> target_kl;
  bool normalize_observation;
  bool normalize_reward;
  uint32_t seed;
  LossSettings loss;
};

/// Means over the minibatches of an update; absent where nothing can be said.
struct UpdateMetrics {
  MinibatchLoss loss;
  double gradient_norm = 0;
  std::optional<double> explained_variance;
  int64_t epochs_run = 0;       // begun, so one that target KL cut short counts
  int64_t minibatches_run = 0;  // optimiser steps
  int64_t minibatches_seen = 0;
};

enum class EnginePath { kAutograd, kFused };

/// Proximal policy optimisation (Schulman et al., 2017) in the details of CleanRL's ppo.py.
///
/// What is normalised when:
/// - Observations: by the statistics that the rollout was sampled with, so that the first minibatch has ratio 1; the
///   rollout's own observations are merged after the update. So the first rollout of a run sees mean 0 and variance 1.
/// - Rewards: this rollout's returns are merged first, then its rewards are divided by the new deviation. One scale holds
///   throughout an update, for rewards, targets and the critic; it is the `value.scale` of the weights that come out.
class PpoLearner {
 public:
  PpoLearner(Policy policy, uint64_t seed, EnginePath path, bool cuda, int threads);

  const Policy& policy() const { return policy_; }
  const TrainingState& state() const { return state_; }
  void SetWeights(const float* weights);
  void SetState(const uint8_t* bytes, int64_t size);

  /// Values are in the reward's own units.
  void Forward(const float* observations, int64_t count, float* distribution, float* values);

  /// One whole update; the state is unchanged if it throws.
  UpdateMetrics Update(const std::vector<Segment>& rollout, const PpoUpdate& update);

  /// Values, advantages and returns that Update would learn from, in units of the normalised return.
  const Batch& Advantages(const std::vector<Segment>& rollout, const PpoUpdate& update);

  /// Gradient over a whole batch as one minibatch, by either engine.
  void Gradient(const Batch& batch, const LossSettings& settings, EnginePath path, float* gradient);

 private:
  UpdateMetrics Optimize(const PpoUpdate& update);
  void PrepareBatch(const std::vector<Segment>& rollout, const PpoUpdate& update, TrainingState& statistics);
  std::vector<float> ScaledRewards(const std::vector<Segment>& rollout, const PpoUpdate& update,
                                   TrainingState& statistics);
  void MergeObservations(const std::vector<Segment>& rollout);
  void Restore(const TrainingState& backup);

  Policy policy_;
  TrainingState state_;
  int threads_;
  std::unique_ptr<Engine> engine_;
  EnginePath path_;
  Batch batch_;
};

}  // namespace agentgym
