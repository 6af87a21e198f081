#include "surrogate_loss.h"

#include <algorithm>
#include <cmath>

namespace agentgym {

Minibatch DescribeMinibatch(const Batch& batch, const int32_t* rows, int64_t count, const LossSettings& settings) {
  Minibatch minibatch{&batch, rows, count, settings, 0.0f, 1.0f};
  if (!settings.normalize_advantage || count < 2) return minibatch;
  double mean = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) mean += batch.advantages[rows[i]];
  mean /= static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i) {
    const double deviation = batch.advantages[rows[i]] - mean;
    squares += deviation * deviation;
  }
  minibatch.advantage_mean = static_cast<float>(mean);
  minibatch.advantage_factor = static_cast<float>(1.0 / (std::sqrt(squares / static_cast<double>(count - 1)) + 1e-8));
  return minibatch;
}

void AddActorLoss(const Policy& policy, const Minibatch& minibatch, const TileOutput& tile, const float* log_std,
                  ActionScorer& scorer, float* log_std_gradient, LossSums& sums) {
  const Batch& batch = *minibatch.batch;
  const float share = 1.0f / static_cast<float>(minibatch.count);
  const auto low = static_cast<float>(1 - minibatch.settings.clip_range);
  const auto high = static_cast<float>(1 + minibatch.settings.clip_range);
  const float by_entropy = -static_cast<float>(minibatch.settings.entropy_coefficient) * share;
  const float by_reference = static_cast<float>(minibatch.settings.kl_coefficient) * share;
  for (int64_t i = 0; i < tile.rows; ++i) {
    const int64_t sample = minibatch.rows[tile.first + i];
    const float* action = &batch.actions[sample * policy.action_size];
    const uint8_t* mask = batch.masks.empty() ? nullptr : &batch.masks[sample * policy.mask_size];
    const auto score = scorer.Score(tile.output + i * tile.stride, action, mask, log_std);
    const float log_ratio = score.log_probability - batch.log_probabilities[sample];
    const float ratio = std::exp(log_ratio);
    const float advantage = (batch.advantages[sample] - minibatch.advantage_mean) * minibatch.advantage_factor;
    const float unclipped = -advantage * ratio;
    const float clipped = -advantage * std::clamp(ratio, low, high);
    // Where the clipped loss is the larger one, it is constant; inside the range the two are one.
    const bool inside = unclipped >= clipped;
    float by_log_probability = inside ? unclipped * share : 0.0f;
    if (minibatch.settings.kl_coefficient > 0) {
      const float distance = batch.reference_log_probabilities[sample] - score.log_probability;
      const float odds = std::exp(distance);
      by_log_probability += by_reference * (1 - odds);
      sums.reference += (odds - 1) - distance;
    }
    float* gradient = tile.gradient + i * tile.stride;
    std::fill_n(gradient, tile.stride, 0.0f);
    scorer.Gradient(action, by_log_probability, by_entropy, gradient, log_std_gradient);
    sums.policy += inside ? unclipped : clipped;  // NaN fails the comparison, and stays
    sums.entropy += score.entropy;
    sums.kl += (ratio - 1) - log_ratio;
    sums.clipped += std::abs(ratio - 1) > minibatch.settings.clip_range ? 1 : 0;
  }
}

void AddCriticLoss(const Minibatch& minibatch, const TileOutput& tile, LossSums& sums) {
  const Batch& batch = *minibatch.batch;
  const float factor = static_cast<float>(minibatch.settings.value_coefficient / static_cast<double>(minibatch.count));
  for (int64_t i = 0; i < tile.rows; ++i) {
    const int64_t sample = minibatch.rows[tile.first + i];
    const float value = tile.output[i * tile.stride];
    const float error = value - batch.returns[sample];
    float square = error * error;
    float slope = error;
    if (minibatch.settings.clip_range_value) {
      const auto range = static_cast<float>(*minibatch.settings.clip_range_value);
      const float moved = value - batch.values[sample];
      const float near = batch.values[sample] + std::clamp(moved, -range, range) - batch.returns[sample];
      if (std::abs(moved) > range && near * near > square) {
        square = near * near;
        slope = 0.0f;
      }
    }
    float* gradient = tile.gradient + i * tile.stride;
    std::fill_n(gradient, tile.stride, 0.0f);
    gradient[0] = slope * factor;
    sums.value += 0.5 * square;
  }
}

MinibatchLoss MeanLoss(const std::vector<LossSums>& chunks, int64_t count) {
  LossSums sum;
  for (const LossSums& chunk : chunks) {
    sum.policy += chunk.policy;
    sum.value += chunk.value;
    sum.entropy += chunk.entropy;
    sum.kl += chunk.kl;
    sum.clipped += chunk.clipped;
    sum.reference += chunk.reference;
  }
  const auto n = static_cast<double>(count);
  return {sum.policy / n, sum.value / n, sum.entropy / n, sum.kl / n, sum.clipped / n, sum.reference / n};
}

}  // namespace agentgym
