#include "ppo_learner.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <string>
#include <utility>

#include "advantages.h"
#include "learner_failure.h"
#include "libtorch_setup.h"
#include "random.h"

namespace agentgym {

namespace {

/// VecNormalize's limit for normalised rewards.
constexpr double kRewardClip = 10.0;

std::unique_ptr<Engine> MakeEngine(const Policy& policy, TrainingState& state, EnginePath path, bool cuda, int threads) {
  return path == EnginePath::kFused ? MakeFusedEngine(policy, state, threads)
                                    : MakeAutogradEngine(policy, state, cuda);
}

[[noreturn]] void FailDiverged(const char* what, int64_t epoch, int64_t minibatch) {
  throw LearnerFailure("training_diverged",
                       std::string(what) + " stopped being finite in epoch " + std::to_string(epoch + 1) +
                           ", minibatch " + std::to_string(minibatch + 1) + " of an update",
                       {{"epoch", epoch + 1}, {"minibatch", minibatch + 1}});
}

bool IsFinite(const MinibatchLoss& loss) {
  return std::isfinite(loss.policy_loss + loss.value_loss + loss.entropy + loss.approximate_kl);
}

bool AllFinite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

void Accumulate(MinibatchLoss& sum, const MinibatchLoss& loss, double weight) {
  sum.policy_loss += weight * loss.policy_loss;
  sum.value_loss += weight * loss.value_loss;
  sum.entropy += weight * loss.entropy;
  sum.approximate_kl += weight * loss.approximate_kl;
  sum.clip_fraction += weight * loss.clip_fraction;
}

double Variance(const std::vector<float>& values) {
  double mean = 0, squares = 0;
  for (const float value : values) mean += value;
  mean /= static_cast<double>(values.size());
  for (const float value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size());
}

/// 1 - Var(return - value) / Var(return): 1 is a perfect critic; nothing can be said of returns that are all equal.
std::optional<double> ExplainedVariance(const Batch& batch) {
  const double variance = Variance(batch.returns);
  if (!(variance > 0)) return std::nullopt;
  return 1.0 - Variance(batch.advantages) / variance;  // advantages are returns - values
}

}  // namespace

PpoLearner::PpoLearner(Policy policy, uint64_t seed, EnginePath path, bool cuda, int threads)
    : policy_(std::move(policy)), state_(policy_), threads_(std::max(1, threads)), path_(path) {
  SetLibtorchThreads(1);
  static std::once_flag verified;
  std::call_once(verified, VerifyBlas);
  InitializeWeights(policy_, seed, state_);
  if (path == EnginePath::kAutograd) SetLibtorchThreads(threads_);
  engine_ = MakeEngine(policy_, state_, path, cuda, threads_);
  engine_->Upload();
}

void PpoLearner::SetWeights(const float* weights) {
  std::copy_n(weights, state_.weights.size(), state_.weights.begin());
  engine_->Upload();
}

void PpoLearner::SetState(const uint8_t* bytes, int64_t size) {
  DeserializeState(bytes, size, state_);
  engine_->Upload();
}

void PpoLearner::Forward(const float* observations, int64_t count, float* distribution, float* values) {
  ValidateObservations(policy_, observations, count);
  engine_->Forward(observations, count, distribution, values);
  const float scale = state_.weights[policy_.value_scale];
  for (int64_t i = 0; i < count; ++i) values[i] *= scale;
}

UpdateMetrics PpoLearner::Update(const std::vector<Segment>& rollout, const PpoUpdate& update) {
  ValidateRollout(policy_, rollout);
  const TrainingState backup = state_;
  try {
    PrepareBatch(rollout, update, state_);
    const UpdateMetrics metrics = Optimize(update);
    if (update.normalize_observation) MergeObservations(rollout);
    return metrics;
  } catch (...) {
    Restore(backup);
    throw;
  }
}

/// CleanRL's loop: epochs over shuffled minibatches, gradient clipping, Adam, early stop at target KL.
UpdateMetrics PpoLearner::Optimize(const PpoUpdate& update) {
  UpdateMetrics metrics;
  metrics.explained_variance = ExplainedVariance(batch_);
  engine_->SetBatch(batch_);
  SplitMix64 random(update.seed);
  std::vector<int32_t> rows(batch_.size);
  std::iota(rows.begin(), rows.end(), 0);
  bool stop = false;
  for (int64_t epoch = 0; epoch < update.epochs && !stop; ++epoch) {
    ++metrics.epochs_run;
    Shuffle(rows, random);
    for (int64_t start = 0; start < batch_.size; start += update.minibatch_size) {
      const int64_t count = std::min(update.minibatch_size, batch_.size - start);
      const MinibatchLoss loss = engine_->ComputeGradient(&rows[start], count, update.loss);
      const double norm = engine_->GradientNorm();
      const int64_t minibatch = start / update.minibatch_size;
      if (!IsFinite(loss)) FailDiverged("the loss", epoch, minibatch);
      if (!std::isfinite(norm)) FailDiverged("the gradient", epoch, minibatch);
      Accumulate(metrics.loss, loss, 1.0);
      metrics.gradient_norm += norm;
      ++metrics.minibatches_seen;
      // Stable-Baselines3's rule: the minibatch that shows the divergence is not learned from.
      stop = update.target_kl && loss.approximate_kl > 1.5 * *update.target_kl;
      if (stop) break;
      const double scale = std::min(1.0, update.max_gradient_norm / (norm + 1e-6));
      engine_->Step({update.learning_rate, scale, ++state_.optimizer_steps});
      ++metrics.minibatches_run;
    }
  }
  engine_->Download();
  if (!AllFinite(state_.weights) || !AllFinite(state_.second_moment)) {
    FailDiverged("a weight", metrics.epochs_run - 1, 0);
  }
  MinibatchLoss mean;
  Accumulate(mean, metrics.loss, 1.0 / static_cast<double>(metrics.minibatches_seen));
  metrics.loss = mean;
  metrics.gradient_norm /= static_cast<double>(metrics.minibatches_seen);
  return metrics;
}

const Batch& PpoLearner::Advantages(const std::vector<Segment>& rollout, const PpoUpdate& update) {
  ValidateRollout(policy_, rollout);
  TrainingState statistics = state_;
  PrepareBatch(rollout, update, statistics);
  return batch_;
}

/// Fills the batch, with advantages in units of the normalised return; `statistics` gets the new reward statistics.
void PpoLearner::PrepareBatch(const std::vector<Segment>& rollout, const PpoUpdate& update, TrainingState& statistics) {
  FlattenRollout(policy_, rollout, batch_);
  const std::vector<float> rewards = ScaledRewards(rollout, update, statistics);
  std::vector<float> values, finals, final_observations;
  std::vector<int64_t> ended;
  int64_t first = 0;
  for (const Segment& segment : rollout) {
    const int64_t rows = segment.steps * segment.environments;
    values.resize(rows + segment.environments);
    engine_->Forward(segment.observations, rows + segment.environments, nullptr, values.data());

    ended.clear();
    final_observations.clear();
    for (int64_t i = 0; i < rows; ++i) {
      if ((segment.flags[i] & (kTerminated | kTruncated)) != kTruncated) continue;
      ended.push_back(i);
      const float* row = segment.final_observations + i * policy_.observation_size;
      final_observations.insert(final_observations.end(), row, row + policy_.observation_size);
    }
    std::vector<float> ended_values(ended.size());
    const auto count = static_cast<int64_t>(ended.size());
    if (count > 0) engine_->Forward(final_observations.data(), count, nullptr, ended_values.data());
    finals.assign(rows, 0.0f);
    for (size_t i = 0; i < ended.size(); ++i) finals[ended[i]] = ended_values[i];

    std::copy_n(values.begin(), rows, batch_.values.begin() + first);
    ComputeAdvantages(segment.steps, segment.environments, &rewards[first], segment.flags, values.data(), finals.data(),
                      static_cast<float>(update.gamma), static_cast<float>(update.gae_lambda),
                      &batch_.advantages[first], &batch_.returns[first]);
    first += rows;
  }
}

/// Rewards in units of the deviation of the running discounted return (VecNormalize), or as they are.
std::vector<float> PpoLearner::ScaledRewards(const std::vector<Segment>& rollout, const PpoUpdate& update,
                                             TrainingState& statistics) {
  std::vector<float> rewards;
  rewards.reserve(batch_.size);
  for (const Segment& segment : rollout) {
    rewards.insert(rewards.end(), segment.rewards, segment.rewards + segment.steps * segment.environments);
  }
  if (!update.normalize_reward) return rewards;

  statistics.running_returns.resize(RolloutEnvironments(rollout), 0.0f);
  std::vector<float> returns(rewards.size());
  int64_t first = 0, first_environment = 0;
  for (const Segment& segment : rollout) {
    for (int64_t i = 0; i < segment.steps * segment.environments; ++i) {
      float& running = statistics.running_returns[first_environment + i % segment.environments];
      running = static_cast<float>(running * update.gamma + segment.rewards[i]);
      returns[first + i] = running;
      if ((segment.flags[i] & (kTerminated | kTruncated)) != 0) running = 0.0f;
    }
    first += segment.steps * segment.environments;
    first_environment += segment.environments;
  }
  statistics.returns.Merge(returns.data(), batch_.size, 1, {0});

  // Returns that never vary say nothing about a scale: dividing by their deviation would blow rewards up to the clip.
  const double variance = statistics.returns.Variance(0);
  const double scale = variance > 0 ? std::sqrt(variance + 1e-8) : 1.0;
  for (float& reward : rewards) {
    reward = static_cast<float>(std::clamp(reward / scale, -kRewardClip, kRewardClip));
  }
  statistics.weights[policy_.value_scale] = static_cast<float>(scale);
  return rewards;
}

void PpoLearner::MergeObservations(const std::vector<Segment>& rollout) {
  if (policy_.statistics_size == 0) return;
  std::vector<int64_t> columns;
  for (const ObservationLeaf& leaf : policy_.observation) {
    if (leaf.kind != ObservationKind::kBox) continue;
    for (int64_t i = 0; i < leaf.size; ++i) columns.push_back(leaf.offset + i);
  }
  for (const Segment& segment : rollout) {
    state_.observations.Merge(segment.observations, segment.steps * segment.environments, policy_.observation_size,
                              columns);
  }
  for (int64_t i = 0; i < policy_.statistics_size; ++i) {
    state_.weights[policy_.normalizer_mean + i] = static_cast<float>(state_.observations.mean[i]);
    state_.weights[policy_.normalizer_variance + i] = static_cast<float>(state_.observations.Variance(i));
  }
  engine_->Upload();
}

void PpoLearner::Gradient(const Batch& batch, const LossSettings& settings, EnginePath path, float* gradient) {
  ValidateRows(policy_, batch.observations.data(), batch.actions.data(),
               batch.masks.empty() ? nullptr : batch.masks.data(), batch.size, 0);
  std::unique_ptr<Engine> other;
  if (path != path_) {
    other = MakeEngine(policy_, state_, path, false, threads_);
    other->Upload();
  }
  Engine& engine = other ? *other : *engine_;
  engine.SetBatch(batch);
  std::vector<int32_t> rows(batch.size);
  std::iota(rows.begin(), rows.end(), 0);
  engine.ComputeGradient(rows.data(), batch.size, settings);
  engine.ReadGradient(gradient);
}

/// Copies into the memory that the engine knows.
void PpoLearner::Restore(const TrainingState& backup) {
  state_ = backup;  // vectors of equal size: assignment keeps their memory
  engine_->Upload();
}

}  // namespace agentgym
