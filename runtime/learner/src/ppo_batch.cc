#include "ppo_batch.h"

#include <algorithm>
#include <cmath>

#include "advantages.h"

namespace agentgym {

namespace {

/// VecNormalize's limit for normalised rewards.
constexpr double kRewardClip = 10.0;

double Variance(const std::vector<float>& values) {
  double mean = 0, squares = 0;
  for (const float value : values) mean += value;
  mean /= static_cast<double>(values.size());
  for (const float value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size());
}

/// Rewards in units of the deviation of the running discounted return (VecNormalize), or as they are.
std::vector<float> ScaledRewards(const Policy& policy, const std::vector<Segment>& rollout, const PpoUpdate& update,
                                 TrainingState& statistics) {
  const int64_t size = RolloutSize(rollout);
  std::vector<float> rewards;
  rewards.reserve(size);
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
  statistics.returns.Merge(returns.data(), size, 1, {0});

  // Returns that never vary say nothing about a scale: dividing by their deviation would blow rewards up to the clip.
  const double variance = statistics.returns.Variance(0);
  const double scale = variance > 0 ? std::sqrt(variance + 1e-8) : 1.0;
  for (float& reward : rewards) {
    reward = static_cast<float>(std::clamp(reward / scale, -kRewardClip, kRewardClip));
  }
  statistics.weights[policy.value_scale] = static_cast<float>(scale);
  return rewards;
}

/// Values of the true last observations, in rows that the time limit ended; 0 in all others.
std::vector<float> FinalValues(const Policy& policy, const Segment& segment, Engine& engine) {
  const int64_t rows = segment.steps * segment.environments;
  std::vector<int64_t> ended;
  std::vector<float> observations;
  for (int64_t i = 0; i < rows; ++i) {
    if ((segment.flags[i] & (kTerminated | kTruncated)) != kTruncated) continue;
    ended.push_back(i);
    const float* row = segment.final_observations + i * policy.observation_size;
    observations.insert(observations.end(), row, row + policy.observation_size);
  }
  std::vector<float> values(ended.size());
  const auto count = static_cast<int64_t>(ended.size());
  if (count > 0) engine.Forward(observations.data(), count, nullptr, values.data());
  std::vector<float> finals(rows, 0.0f);
  for (size_t i = 0; i < ended.size(); ++i) finals[ended[i]] = values[i];
  return finals;
}

}  // namespace

void PreparePpoBatch(const Policy& policy, const std::vector<Segment>& rollout, const PpoUpdate& update, Engine& engine,
                     TrainingState& statistics, Batch& batch) {
  FlattenRollout(policy, rollout, batch);
  const std::vector<float> rewards = ScaledRewards(policy, rollout, update, statistics);
  std::vector<float> values;
  int64_t first = 0;
  for (const Segment& segment : rollout) {
    const int64_t rows = segment.steps * segment.environments;
    values.resize(rows + segment.environments);
    engine.Forward(segment.observations, rows + segment.environments, nullptr, values.data());
    const std::vector<float> finals = FinalValues(policy, segment, engine);
    std::copy_n(values.begin(), rows, batch.values.begin() + first);
    ComputeAdvantages(segment.steps, segment.environments, &rewards[first], segment.flags, values.data(), finals.data(),
                      static_cast<float>(update.gamma), static_cast<float>(update.gae_lambda), &batch.advantages[first],
                      &batch.returns[first]);
    first += rows;
  }
}

std::optional<double> ExplainedVariance(const Batch& batch) {
  const double variance = Variance(batch.returns);
  if (!(variance > 0)) return std::nullopt;
  return 1.0 - Variance(batch.advantages) / variance;  // advantages are returns - values
}

}  // namespace agentgym
