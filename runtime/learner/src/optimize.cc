#include "optimize.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "learner_failure.h"
#include "random.h"

namespace agentgym {

namespace {

[[noreturn]] void FailDiverged(const char* what, int64_t epoch, int64_t minibatch) {
  throw LearnerFailure("training_diverged",
                       std::string(what) + " stopped being finite in epoch " + std::to_string(epoch + 1) +
                           ", minibatch " + std::to_string(minibatch + 1) + " of an update",
                       {{"epoch", epoch + 1}, {"minibatch", minibatch + 1}});
}

bool IsFinite(const MinibatchLoss& loss) {
  return std::isfinite(loss.policy_loss + loss.value_loss + loss.entropy + loss.approximate_kl + loss.kl_to_reference);
}

bool AllFinite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

/// Sums over the minibatches that were seen.
struct Sums {
  MinibatchLoss loss;
  double gradient_norm = 0;
  int64_t seen = 0;

  void Add(const MinibatchLoss& one, double norm) {
    loss.policy_loss += one.policy_loss;
    loss.value_loss += one.value_loss;
    loss.entropy += one.entropy;
    loss.approximate_kl += one.approximate_kl;
    loss.clip_fraction += one.clip_fraction;
    loss.kl_to_reference += one.kl_to_reference;
    gradient_norm += norm;
    ++seen;
  }
};

void TakeMeans(const Sums& sums, const LossSettings& settings, UpdateMetrics& metrics) {
  const double share = 1.0 / static_cast<double>(sums.seen);
  metrics.policy_loss = sums.loss.policy_loss * share;
  metrics.entropy = sums.loss.entropy * share;
  metrics.approximate_kl = sums.loss.approximate_kl * share;
  metrics.clip_fraction = sums.loss.clip_fraction * share;
  metrics.gradient_norm = sums.gradient_norm * share;
  if (settings.critic) metrics.value_loss = sums.loss.value_loss * share;
  if (settings.kl_coefficient > 0) metrics.kl_to_reference = sums.loss.kl_to_reference * share;
}

}  // namespace

UpdateMetrics Optimize(Engine& engine, TrainingState& state, const Batch& batch, const OptimizerSettings& optimizer,
                       const LossSettings& settings) {
  UpdateMetrics metrics;
  Sums sums;
  engine.SetBatch(batch);
  SplitMix64 random(optimizer.seed);
  std::vector<int32_t> rows(batch.size);
  std::iota(rows.begin(), rows.end(), 0);
  bool stop = false;
  for (int64_t epoch = 0; epoch < optimizer.epochs && !stop; ++epoch) {
    ++metrics.epochs_run;
    Shuffle(rows, random);
    for (int64_t start = 0; start < batch.size; start += optimizer.minibatch_size) {
      const int64_t count = std::min(optimizer.minibatch_size, batch.size - start);
      const MinibatchLoss loss = engine.ComputeGradient(&rows[start], count, settings);
      const double norm = engine.GradientNorm();
      const int64_t minibatch = start / optimizer.minibatch_size;
      if (!IsFinite(loss)) FailDiverged("the loss", epoch, minibatch);
      if (!std::isfinite(norm)) FailDiverged("the gradient", epoch, minibatch);
      sums.Add(loss, norm);
      // Stable-Baselines3's rule: the minibatch that shows the divergence is not learned from.
      stop = optimizer.target_kl && loss.approximate_kl > 1.5 * *optimizer.target_kl;
      if (stop) break;
      const double scale = std::min(1.0, optimizer.max_gradient_norm / (norm + 1e-6));
      engine.Step({optimizer.learning_rate, scale, ++state.optimizer_steps});
      ++metrics.minibatches_run;
    }
  }
  engine.Download();
  if (!AllFinite(state.weights) || !AllFinite(state.second_moment)) {
    FailDiverged("a weight", metrics.epochs_run - 1, 0);
  }
  TakeMeans(sums, settings, metrics);
  return metrics;
}

}  // namespace agentgym
