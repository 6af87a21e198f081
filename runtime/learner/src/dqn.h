#pragma once

#include <cstdint>

#include "engine.h"
#include "replay_buffer.h"
#include "surrogate_update.h"
#include "training_state.h"

namespace agentgym {

/// DqnUpdate in runtime/src/learner/learner-types.ts.
struct DqnUpdate {
  double gamma;
  int64_t n_step;
  bool double_q;
  int64_t gradient_steps;
  int64_t minibatch_size;
  int64_t target_interval;  // gradient steps between updates of the target network
  double tau;               // share of the online weights that each of them takes over
  double learning_rate;
  double max_gradient_norm;
  uint32_t seed;
  LossSettings loss;        // nothing of it is used: the Huber loss has no settings
};

/// A second policy of the same kind: a target network, or the one that a KL penalty measures the distance from.
struct SecondPolicy {
  explicit SecondPolicy(const Policy& policy) : state(policy) {}
  TrainingState state;
  std::unique_ptr<Engine> engine;
};

/// DQN (Mnih et al., 2015): `gradient_steps` steps of Adam on the Huber loss between Q(s, a) and
///   Σ_{k<n} γ^k r_{t+k} + γ^n Q'(s_{t+n}, argmax_a Q(s_{t+n}, a))
/// with the target network Q' (double DQN: van Hasselt et al., 2016; else the maximum of Q' itself), over steps drawn
/// uniformly from the buffer by `update.seed` alone. Fails with training_diverged.
UpdateMetrics RunDqnUpdate(const Policy& policy, const DqnUpdate& update, const ReplayBuffer& replay, Engine& engine,
                           TrainingState& state, SecondPolicy& target);

/// The targets of a batch of transitions: [size].
std::vector<float> DqnTargets(const Policy& policy, const Transitions& batch, bool double_q, Engine& engine,
                              Engine& target);

/// The Huber loss as the fused engine computes it, tile by tile; `batch.returns` are the targets.
void AddQLoss(const Policy& policy, const Minibatch& minibatch, const TileOutput& tile, LossSums& sums);

/// Outputs of the network to the values of the actions. Dueling (Wang et al., 2016): Q = V + A - mean A, where V is the last output.
void WriteQ(const Policy& policy, const float* output, float* q);

/// The largest of a row of Q-values among legal actions; `mask` may be null.
int64_t BestAction(const float* q, const uint8_t* mask, int64_t count);

/// weights = tau · online + (1 - tau) · target where they are trained; statistics are taken over as they are.
void MoveTarget(const Policy& policy, const TrainingState& online, double tau, SecondPolicy& target);

}  // namespace agentgym
