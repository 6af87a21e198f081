#include "surrogate_update.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>
#include <string>

#include "learner_failure.h"
#include "split_mix.h"

namespace agentgym {

namespace {

/// Fisher-Yates.
void Shuffle(std::vector<int32_t>& rows, SplitMix64& random) {
  for (uint32_t i = static_cast<uint32_t>(rows.size()); i > 1; --i) std::swap(rows[i - 1], rows[random.Below(i)]);
}

/// The batch's rows in a new order, cut into minibatches: single rows, or whole sequences where the policy has memory. A
/// minibatch of sequences ends with the one that reaches its share of the batch.
class Shuffler {
 public:
  Shuffler(int64_t size, const std::vector<Sequence>& sequences, int64_t minibatch_size)
      : size_(size), sequences_(sequences), minibatch_size_(minibatch_size) {
    items_.resize(sequences.empty() ? size : sequences.size());
    std::iota(items_.begin(), items_.end(), 0);
  }

  void Shuffle(SplitMix64& random) {
    agentgym::Shuffle(items_, random);
    ends_.clear();
    if (sequences_.empty()) {
      for (int64_t end = minibatch_size_; end < size_; end += minibatch_size_) ends_.push_back(end);
      ends_.push_back(size_);
      return;
    }
    rows_.clear();
    const int64_t minibatches = (size_ + minibatch_size_ - 1) / minibatch_size_;
    for (const int32_t item : items_) {
      const Sequence& sequence = sequences_[item];
      for (int64_t i = 0; i < sequence.length; ++i) rows_.push_back(static_cast<int32_t>(sequence.first + i));
      const auto full = static_cast<int64_t>(rows_.size());
      if (full * minibatches >= size_ * static_cast<int64_t>(ends_.size() + 1)) ends_.push_back(full);
    }
  }

  const std::vector<int32_t>& rows() const { return sequences_.empty() ? items_ : rows_; }
  const std::vector<int64_t>& ends() const { return ends_; }

 private:
  int64_t size_;
  const std::vector<Sequence>& sequences_;
  int64_t minibatch_size_;
  std::vector<int32_t> items_;
  std::vector<int32_t> rows_;
  std::vector<int64_t> ends_;
};

/// Mean and deviation of a minibatch's advantages.
JoinedMinibatch Standardize(const std::vector<float>& advantages, const int32_t* rows, int64_t count, bool normalize) {
  JoinedMinibatch whole{count, 0.0f, 1.0f};
  if (!normalize || count < 2) return whole;
  double mean = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) mean += advantages[rows[i]];
  mean /= static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i) {
    const double deviation = advantages[rows[i]] - mean;
    squares += deviation * deviation;
  }
  whole.advantage_mean = static_cast<float>(mean);
  whole.advantage_factor = static_cast<float>(1.0 / (std::sqrt(squares / static_cast<double>(count - 1)) + 1e-8));
  return whole;
}

/// A minibatch's gradient by several processes: one sum of the flat gradient, with the losses behind it.
class SharedGradient {
 public:
  SharedGradient(Engine& engine, const TrainingState& state, const Joined& joined)
      : engine_(engine), joined_(joined), size_(state.first_moment.size()) {
    if (joined.ranks != nullptr) values_.resize(size_ + kLosses);
  }

  /// Rows of the joined batch.
  MinibatchLoss Compute(const int32_t* rows, int64_t count, LossSettings settings) {
    settings.joined = Standardize(joined_.batch->advantages(), rows, count, settings.normalize_advantage);
    const std::vector<int32_t>& own = joined_.batch->OwnRows(rows, count);
    MinibatchLoss loss;
    const auto started = Clock::now();
    if (own.empty()) {
      std::fill(values_.begin(), values_.end(), 0.0f);
    } else {
      loss = engine_.ComputeGradient(own.data(), static_cast<int64_t>(own.size()), settings);
      engine_.ReadGradient(values_.data());
    }
    const std::array<double*, kLosses> losses{&loss.policy_loss,    &loss.value_loss,    &loss.entropy,
                                              &loss.approximate_kl, &loss.clip_fraction, &loss.kl_to_reference};
    for (size_t i = 0; i < kLosses; ++i) values_[size_ + i] = static_cast<float>(*losses[i]);
    const auto computed = Clock::now();
    joined_.ranks->Sum(values_);
    gradient_seconds_ += std::chrono::duration<double>(computed - started).count();
    shared_seconds_ += std::chrono::duration<double>(Clock::now() - computed).count();
    for (size_t i = 0; i < kLosses; ++i) *losses[i] = values_[size_ + i];
    engine_.WriteGradient(values_.data());
    return loss;
  }

  double gradient_seconds() const { return gradient_seconds_; }
  double shared_seconds() const { return shared_seconds_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kLosses = 6;

  Engine& engine_;
  Joined joined_;
  size_t size_;
  std::vector<float> values_;
  double gradient_seconds_ = 0;
  double shared_seconds_ = 0;
};

bool IsFinite(const MinibatchLoss& loss) {
  return std::isfinite(loss.policy_loss + loss.value_loss + loss.entropy + loss.approximate_kl + loss.kl_to_reference);
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

void FailDiverged(const char* what, int64_t epoch, int64_t minibatch) {
  throw LearnerFailure("training_diverged",
                       std::string(what) + " stopped being finite in epoch " + std::to_string(epoch + 1) +
                           ", minibatch " + std::to_string(minibatch + 1) + " of an update",
                       {{"epoch", epoch + 1}, {"minibatch", minibatch + 1}});
}

bool AllFinite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

UpdateMetrics RunSurrogateUpdate(Engine& engine, TrainingState& state, const Batch& batch,
                                 const OptimizerSettings& optimizer, const LossSettings& settings, const Joined& joined) {
  UpdateMetrics metrics;
  Sums sums;
  engine.SetBatch(batch);
  SplitMix64 random(optimizer.seed);
  Shuffler shuffler(joined.batch == nullptr ? batch.size : joined.batch->size(),
                    joined.batch == nullptr ? batch.sequences : joined.batch->sequences(), optimizer.minibatch_size);
  SharedGradient shared(engine, state, joined);
  bool stop = false;
  for (int64_t epoch = 0; epoch < optimizer.epochs && !stop; ++epoch) {
    ++metrics.epochs_run;
    shuffler.Shuffle(random);
    int64_t start = 0;
    for (size_t minibatch = 0; minibatch < shuffler.ends().size(); ++minibatch) {
      const int64_t count = shuffler.ends()[minibatch] - start;
      const int32_t* rows = &shuffler.rows()[start];
      const MinibatchLoss loss = joined.ranks == nullptr ? engine.ComputeGradient(rows, count, settings)
                                                         : shared.Compute(rows, count, settings);
      const double norm = engine.GradientNorm();
      start += count;
      if (!IsFinite(loss)) FailDiverged("the loss", epoch, minibatch);
      if (!std::isfinite(norm)) FailDiverged("the gradient", epoch, minibatch);
      sums.Add(loss, norm);
      // Stable-Baselines3's rule: the minibatch that shows the divergence is not learned from.
      stop = optimizer.target_kl && loss.approximate_kl > 1.5 * *optimizer.target_kl;
      if (stop) break;
      const double scale = std::min(1.0, optimizer.max_gradient_norm / (norm + 1e-6));
      engine.Step({optimizer.optimizer, optimizer.learning_rate, scale, ++state.optimizer_steps});
      ++metrics.minibatches_run;
    }
  }
  engine.Download();
  if (!AllFinite(state.weights) || !AllFinite(state.second_moment)) {
    FailDiverged("a weight", metrics.epochs_run - 1, 0);
  }
  TakeMeans(sums, settings, metrics);
  if (joined.ranks != nullptr) {
    metrics.gradient_seconds = shared.gradient_seconds();
    metrics.shared_seconds = shared.shared_seconds();
  }
  return metrics;
}

void ScoreAgain(Engine& engine, Batch& batch) {
  engine.SetBatch(batch);
  engine.Score(batch.log_probabilities.data());
}

Minibatch DescribeMinibatch(const Batch& batch, const int32_t* rows, int64_t count, const LossSettings& settings) {
  const JoinedMinibatch whole = settings.joined ? *settings.joined
                                                : Standardize(batch.advantages, rows, count, settings.normalize_advantage);
  return {&batch, rows, count, whole.count, settings, whole.advantage_mean, whole.advantage_factor};
}

void AddActorLoss(const Policy& policy, const Minibatch& minibatch, const TileOutput& tile, ActionScorer& scorer,
                  float* heads_gradient, LossSums& sums) {
  const Batch& batch = *minibatch.batch;
  const float share = 1.0f / static_cast<float>(minibatch.total);
  const auto low = static_cast<float>(1 - minibatch.settings.clip_range);
  const auto high = static_cast<float>(1 + minibatch.settings.clip_range);
  const float by_entropy = -static_cast<float>(minibatch.settings.entropy_coefficient) * share;
  const float by_reference = static_cast<float>(minibatch.settings.kl_coefficient) * share;
  for (int64_t i = 0; i < tile.rows; ++i) {
    const int64_t sample = minibatch.rows[tile.first + i];
    const float* action = &batch.actions[sample * policy.action_size];
    const uint8_t* mask = batch.masks.empty() ? nullptr : &batch.masks[sample * policy.mask_size];
    const float* output = tile.output + i * tile.stride;
    const float* observation = &batch.observations[sample * policy.observation_size];
    const auto score = scorer.Score(output, observation, action, mask);
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
    scorer.Gradient(output, action, by_log_probability, by_entropy, gradient, heads_gradient);
    sums.policy += inside ? unclipped : clipped;  // NaN fails the comparison, and stays
    sums.entropy += score.entropy;
    sums.kl += (ratio - 1) - log_ratio;
    sums.clipped += std::abs(ratio - 1) > minibatch.settings.clip_range ? 1 : 0;
  }
}

void AddCriticLoss(const Minibatch& minibatch, const TileOutput& tile, LossSums& sums) {
  const Batch& batch = *minibatch.batch;
  const float factor = static_cast<float>(minibatch.settings.value_coefficient / static_cast<double>(minibatch.total));
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
    sum.value_mean += chunk.value_mean;
  }
  const auto n = static_cast<double>(count);
  return {sum.policy / n, sum.value / n, sum.entropy / n, sum.kl / n, sum.clipped / n, sum.reference / n,
          sum.value_mean / n};
}

}  // namespace agentgym
