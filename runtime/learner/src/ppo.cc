#include "ppo.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace agentgym {

namespace {

/// VecNormalize's limit for normalized rewards.
constexpr double kRewardClip = 10.0;

/// Rewards in units of the deviation of the running discounted return (VecNormalize), or as they are.
std::vector<float> ScaledRewards(const Policy& policy, const std::vector<Segment>& rollout, const PpoUpdate& update,
                                 TrainingState& statistics, RankGroup* ranks) {
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
  statistics.returns.Merge(returns.data(), size, 1, {0}, ranks);

  // Returns that never vary say nothing about a scale: dividing by their deviation would blow rewards up to the clip.
  const double variance = statistics.returns.Variance(0);
  const double scale = variance > 0 ? std::sqrt(variance + 1e-8) : 1.0;
  for (float& reward : rewards) {
    reward = static_cast<float>(std::clamp(reward / scale, -kRewardClip, kRewardClip));
  }
  statistics.weights[policy.value_scale] = static_cast<float>(scale);
  return rewards;
}

/// Divides the critic's last layer by the reward scale: it was in the reward's own units, and its values stay what they
/// are (van Hasselt et al. 2016, Pop-Art).
void RescaleAdoptedCritic(const Policy& policy, Engine& engine, TrainingState& state) {
  if (!state.adopted_critic) return;
  state.adopted_critic = false;
  const float scale = state.weights[policy.value_scale];
  const Layer& last = policy.critic.layers.back();
  for (int64_t i = 0; i < last.in * last.out; ++i) state.weights[last.weight + i] /= scale;
  for (int64_t i = 0; i < last.out; ++i) state.weights[last.bias + i] /= scale;
  engine.Upload();
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

/// Generalised advantage estimation (Schulman et al., 2016) with Stable-Baselines3's rule for time limits.
///   delta_t = r_t + γ V_next (1 - terminated_t) - V_t
///   A_t = delta_t + γ λ A_{t+1}, cut where an episode ended
/// V_next is the value of the true last observation where the episode was truncated, of the next observation otherwise:
/// running out of time is no end of the world, but it is one of the episode.
/// `values` is [steps + 1, environments]; everything else [steps, environments]; `final_values` is read only in rows that
/// were truncated and not terminated. Returns are A_t + V_t.
void ComputeAdvantages(int64_t steps, int64_t environments, const float* rewards, const uint8_t* flags,
                       const float* values, const float* final_values, float gamma, float lambda, float* advantages,
                       float* returns) {
  std::vector<float> chain(environments, 0.0f);
  for (int64_t step = steps - 1; step >= 0; --step) {
    for (int64_t environment = 0; environment < environments; ++environment) {
      const int64_t i = step * environments + environment;
      const bool terminated = (flags[i] & kTerminated) != 0;
      const bool truncated = (flags[i] & kTruncated) != 0;
      const float next = terminated ? 0.0f : truncated ? final_values[i] : values[i + environments];
      const float delta = rewards[i] + gamma * next - values[i];
      const float tail = terminated || truncated ? 0.0f : chain[environment];
      chain[environment] = delta + gamma * lambda * tail;
      advantages[i] = chain[environment];
      returns[i] = chain[environment] + values[i];
    }
  }
}

/// Where a sequence lies in its rollout.
struct SequencePlace {
  const Segment* segment;
  int64_t environment;     // of the segment
  int64_t step;            // of its last row
  int64_t first;           // row of the segment's first sample among all rewards
  int64_t state;           // environment among those of all segments

  int64_t last() const { return step * segment->environments + environment; }
  bool ended(uint8_t flags) const { return (segment->flags[last()] & flags) != 0; }
};

/// In the order of FlattenRollout.
std::vector<SequencePlace> PlaceSequences(const std::vector<Segment>& rollout, const Batch& batch) {
  std::vector<SequencePlace> places;
  int64_t first = 0, state = 0;
  size_t at = 0;
  for (const Segment& segment : rollout) {
    for (int64_t environment = 0; environment < segment.environments; ++environment, ++state) {
      for (int64_t step = 0; step < segment.steps; step += batch.sequences[at++].length) {
        places.push_back({&segment, environment, step + batch.sequences[at].length - 1, first, state});
      }
    }
    first += segment.steps * segment.environments;
  }
  return places;
}

/// For each sequence the value of what follows it: of the true last observation where the episode was truncated, of the
/// next observation where the rollout ended within it, 0 where it terminated. The critic goes on from `states`.
std::vector<float> FollowingValues(const Policy& policy, const std::vector<SequencePlace>& places,
                                   const std::vector<float>& states, Engine& engine) {
  std::vector<Sequence> sequences;
  std::vector<size_t> owners;
  std::vector<float> observations;
  for (size_t i = 0; i < places.size(); ++i) {
    const SequencePlace& place = places[i];
    if (place.ended(kTerminated)) continue;
    const Segment& segment = *place.segment;
    const float* row = place.ended(kTruncated)
                           ? segment.final_observations + place.last() * policy.observation_size
                           : segment.observations + (place.last() + segment.environments) * policy.observation_size;
    observations.insert(observations.end(), row, row + policy.observation_size);
    sequences.push_back({static_cast<int64_t>(owners.size()), 1, static_cast<int64_t>(i)});
    owners.push_back(i);
  }
  std::vector<float> values(owners.size()), following(places.size(), 0.0f);
  if (!owners.empty()) {
    SequenceResults results;
    results.values = values.data();
    engine.ForwardSequences({observations.data(), sequences, nullptr, states.data()}, results);
  }
  for (size_t i = 0; i < owners.size(); ++i) following[owners[i]] = values[i];
  return following;
}

/// Values and advantages of a policy with memory, and the critic's states that the next rollout begins with. The formula
/// is that of ComputeAdvantages; a sequence never goes beyond an episode's end.
void PrepareSequences(const Policy& policy, const std::vector<Segment>& rollout, const PpoUpdate& update,
                      const std::vector<float>& rewards, Engine& engine, TrainingState& statistics, Batch& batch) {
  const std::vector<SequencePlace> places = PlaceSequences(rollout, batch);
  std::vector<float> states(places.size() * policy.memory);
  SequenceResults results;
  results.values = batch.values.data();
  results.critic_states = states.data();
  engine.ForwardSequences({batch.observations.data(), batch.sequences, batch.actor_states.data(),
                           batch.critic_states.data()}, results);
  const std::vector<float> following = FollowingValues(policy, places, states, engine);
  const auto gamma = static_cast<float>(update.gamma), lambda = static_cast<float>(update.gae_lambda);
  statistics.critic_states.assign(RolloutEnvironments(rollout) * policy.memory, 0.0f);
  for (size_t i = 0; i < places.size(); ++i) {
    const Sequence& sequence = batch.sequences[i];
    const SequencePlace& place = places[i];
    float next = following[i], chain = 0.0f;
    for (int64_t back = 0; back < sequence.length; ++back) {
      const int64_t row = sequence.first + sequence.length - 1 - back;
      const float reward = rewards[place.first + place.last() - back * place.segment->environments];
      chain = reward + gamma * next - batch.values[row] + gamma * lambda * chain;
      next = batch.values[row];
      batch.advantages[row] = chain;
      batch.returns[row] = chain + next;
    }
    if (place.step + 1 < place.segment->steps || place.ended(kTerminated | kTruncated)) continue;
    std::copy_n(&states[i * policy.memory], policy.memory, &statistics.critic_states[place.state * policy.memory]);
  }
}

double Variance(const std::vector<float>& values) {
  double mean = 0, squares = 0;
  for (const float value : values) mean += value;
  mean /= static_cast<double>(values.size());
  for (const float value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size());
}

/// 1 - Var(return - value) / Var(return): 1 is a perfect critic; undefined where all returns are equal.
std::optional<double> ExplainedVariance(const std::vector<float>& advantages, const std::vector<float>& returns) {
  const double variance = Variance(returns);
  if (!(variance > 0)) return std::nullopt;
  return 1.0 - Variance(advantages) / variance;  // advantages are returns - values
}

}  // namespace

UpdateMetrics RunPpoUpdate(const Policy& policy, const std::vector<Segment>& rollout, const PpoUpdate& update,
                           Engine& engine, TrainingState& state, Batch& batch, RankGroup* ranks) {
  const auto merge = [&] {
    for (const Segment& segment : rollout) {
      state.MergeObservations(policy, segment.observations, segment.steps * segment.environments, ranks);
    }
    engine.Upload();
  };
  const bool first = update.normalize_observation && state.observations.count == 0;
  if (first) {
    ValidateRollout(policy, rollout);
    merge();
  }
  PreparePpoBatch(policy, rollout, update, engine, state, batch, ranks);
  if (first) ScoreAgain(engine, batch);
  std::optional<JoinedBatch> joined;
  if (ranks != nullptr) joined.emplace(policy, rollout, batch, *ranks);
  UpdateMetrics metrics = RunSurrogateUpdate(engine, state, batch, update.optimizer, update.loss,
                                             {ranks, joined ? &*joined : nullptr});
  metrics.explained_variance = joined ? ExplainedVariance(joined->advantages(), joined->returns())
                                      : ExplainedVariance(batch.advantages, batch.returns);
  if (update.normalize_observation && !first) merge();
  return metrics;
}

void PreparePpoBatch(const Policy& policy, const std::vector<Segment>& rollout, const PpoUpdate& update, Engine& engine,
                     TrainingState& statistics, Batch& batch, RankGroup* ranks) {
  ValidateRollout(policy, rollout);
  FlattenRollout(policy, rollout, statistics.critic_states, batch);
  const std::vector<float> rewards = ScaledRewards(policy, rollout, update, statistics, ranks);
  RescaleAdoptedCritic(policy, engine, statistics);
  if (policy.memory > 0) {
    PrepareSequences(policy, rollout, update, rewards, engine, statistics, batch);
    return;
  }
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

}  // namespace agentgym
