#include "dqn.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "learner_failure.h"
#include "split_mix.h"

namespace agentgym {

UpdateMetrics RunDqnUpdate(const Policy& policy, const DqnUpdate& update, const ReplayBuffer& replay, Engine& engine,
                           TrainingState& state, SecondPolicy& target) {
  Require(replay.size() > 0, "the replay buffer is empty");
  SplitMix64 random(update.seed);
  std::vector<uint32_t> drawn(update.minibatch_size);
  std::vector<int32_t> rows(update.minibatch_size);
  std::iota(rows.begin(), rows.end(), 0);
  Transitions transitions;
  Batch batch;
  double loss = 0, norms = 0, values = 0;
  for (int64_t step = 0; step < update.gradient_steps; ++step) {
    for (uint32_t& index : drawn) index = random.Below(static_cast<uint32_t>(replay.size()));
    replay.Gather(drawn.data(), update.minibatch_size, update.n_step, update.gamma, transitions);
    batch.returns = DqnTargets(policy, transitions, update.double_q, engine, *target.engine);
    batch.size = transitions.size;
    batch.observations.swap(transitions.observations);
    batch.actions.swap(transitions.actions);

    engine.SetBatch(batch);
    const MinibatchLoss one = engine.ComputeGradient(rows.data(), batch.size, update.loss);
    const double norm = engine.GradientNorm();
    if (!std::isfinite(one.value_loss) || !std::isfinite(norm)) FailDiverged("the loss", 0, step);
    const double scale = std::min(1.0, update.max_gradient_norm / (norm + 1e-6));
    engine.Step({Optimizer::kAdam, update.learning_rate, scale, ++state.optimizer_steps});
    loss += one.value_loss;
    values += one.value;
    norms += norm;
    if (state.optimizer_steps % update.target_interval == 0) {
      engine.Download();
      MoveTarget(policy, state, update.tau, target);
    }
  }
  engine.Download();
  if (!AllFinite(state.weights)) FailDiverged("a weight", 0, update.gradient_steps - 1);
  const auto count = static_cast<double>(update.gradient_steps);
  UpdateMetrics metrics;
  metrics.value_loss = loss / count;
  metrics.value_mean = values / count;
  metrics.gradient_norm = norms / count;
  metrics.epochs_run = 1;
  metrics.minibatches_run = update.gradient_steps;
  return metrics;
}

std::vector<float> DqnTargets(const Policy& policy, const Transitions& batch, bool double_q, Engine& engine,
                              Engine& target) {
  const int64_t actions = policy.distribution_size;
  std::vector<float> values(batch.size * actions), chooser;
  target.Forward(batch.next_observations.data(), batch.size, values.data(), nullptr);
  if (double_q) {
    chooser.resize(values.size());
    engine.Forward(batch.next_observations.data(), batch.size, chooser.data(), nullptr);
  }
  std::vector<float> targets(batch.size);
  for (int64_t i = 0; i < batch.size; ++i) {
    const uint8_t* mask = batch.next_masks.empty() ? nullptr : &batch.next_masks[i * policy.mask_size];
    const float* by = double_q ? &chooser[i * actions] : &values[i * actions];
    const float next = values[i * actions + BestAction(by, mask, actions)];
    targets[i] = batch.rewards[i] + (batch.discounts[i] == 0 ? 0.0f : batch.discounts[i] * next);
  }
  return targets;
}

void AddQLoss(const Policy& policy, const Minibatch& minibatch, const TileOutput& tile, LossSums& sums) {
  const int64_t actions = policy.distribution_size;
  const float share = 1.0f / static_cast<float>(minibatch.count);
  std::vector<float> q(actions);
  for (int64_t i = 0; i < tile.rows; ++i) {
    const int64_t sample = minibatch.rows[tile.first + i];
    const auto chosen = static_cast<int64_t>(minibatch.batch->actions[sample]);
    WriteQ(policy, tile.output + i * tile.stride, q.data());
    const float error = q[chosen] - minibatch.batch->returns[sample];
    const float size = std::abs(error);
    const float slope = share * std::clamp(error, -1.0f, 1.0f);
    float* gradient = tile.gradient + i * tile.stride;
    std::fill_n(gradient, tile.stride, 0.0f);
    if (policy.head == Head::kDuelingQ) {
      std::fill_n(gradient, actions, -slope / static_cast<float>(actions));
      gradient[actions] = slope;
    }
    gradient[chosen] += slope;
    sums.value += size < 1 ? 0.5 * size * size : size - 0.5;  // NaN fails the comparison, and stays
    sums.value_mean += q[chosen];
  }
}

void WriteQ(const Policy& policy, const float* output, float* q) {
  const int64_t actions = policy.distribution_size;
  float shift = 0;
  if (policy.head == Head::kDuelingQ) {
    shift = output[actions] - std::accumulate(output, output + actions, 0.0f) / static_cast<float>(actions);
  }
  for (int64_t i = 0; i < actions; ++i) q[i] = output[i] + shift;
}

int64_t BestAction(const float* q, const uint8_t* mask, int64_t count) {
  int64_t best = -1;
  for (int64_t i = 0; i < count; ++i) {
    if (mask != nullptr && mask[i] == 0) continue;
    if (best < 0 || q[i] > q[best]) best = i;
  }
  return std::max<int64_t>(best, 0);
}

void MoveTarget(const Policy& policy, const TrainingState& online, double tau, SecondPolicy& target) {
  std::vector<float>& weights = target.state.weights;
  const auto share = static_cast<float>(tau);
  for (int64_t i = 0; i < policy.trainable_size; ++i) {
    weights[i] = tau == 1 ? online.weights[i] : weights[i] + share * (online.weights[i] - weights[i]);
  }
  std::copy(online.weights.begin() + policy.trainable_size, online.weights.end(), weights.begin() + policy.trainable_size);
  target.engine->Upload();
}

}  // namespace agentgym
