#include "grpo.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "learner_failure.h"

namespace agentgym {

namespace {

constexpr double kGroupEpsilon = 1e-4;
constexpr double kEqualReturns = 1e-8;

struct GroupAdvantages {
  std::vector<float> advantages;  // one an episode
  double zero_variance_share;     // of the groups
};

/// Group relative advantages (Shao et al., 2024: DeepSeekMath, section 4.1), one an episode:
///   A_i = (R_i - mean) / (std + 1e-4) over the `group_size` episodes of i's group
/// with the unbiased deviation (n - 1), as TRL's GRPOTrainer has it. Each episode counts once, however long it is.
/// A group whose returns are equal (deviation below 1e-8, TRL's tolerance) has advantages of exactly 0: rounding of the
/// mean must not become a direction to learn in. `returns` holds whole groups, one after another.
GroupAdvantages CompareGroups(const std::vector<double>& returns, int64_t group_size) {
  const auto episodes = static_cast<int64_t>(returns.size());
  Require(group_size > 1 && episodes > 0 && episodes % group_size == 0, "a rollout does not hold whole groups");
  GroupAdvantages result{std::vector<float>(episodes, 0.0f), 0.0};
  int64_t equal = 0;
  for (int64_t first = 0; first < episodes; first += group_size) {
    double mean = 0, squares = 0;
    for (int64_t i = first; i < first + group_size; ++i) mean += returns[i];
    mean /= static_cast<double>(group_size);
    for (int64_t i = first; i < first + group_size; ++i) squares += (returns[i] - mean) * (returns[i] - mean);
    const double deviation = std::sqrt(squares / static_cast<double>(group_size - 1));
    if (deviation < kEqualReturns) {
      ++equal;
      continue;
    }
    for (int64_t i = first; i < first + group_size; ++i) {
      result.advantages[i] = static_cast<float>((returns[i] - mean) / (deviation + kGroupEpsilon));
    }
  }
  result.zero_variance_share = static_cast<double>(equal * group_size) / static_cast<double>(episodes);
  return result;
}

/// Sums of the episodes' rewards, undiscounted.
std::vector<double> Returns(const std::vector<Segment>& rollout) {
  std::vector<double> returns;
  int64_t row = 0;
  for (const Segment& segment : rollout) {
    for (int64_t environment = 0; environment < segment.environments; ++environment) {
      double sum = 0;
      for (int64_t step = 0; step < segment.lengths[environment]; ++step, ++row) {
        const float reward = segment.rewards[step * segment.environments + environment];
        if (!std::isfinite(reward)) FailSample("reward_not_finite", "a reward that is not finite", row);
        sum += reward;
      }
      returns.push_back(sum);
    }
  }
  return returns;
}

/// The mean over the groups of all processes, from that over this one's.
double MeanOfGroups(double own, RankGroup& ranks) {
  const auto share = static_cast<double>(ranks.place().environments) / static_cast<double>(ranks.place().all_environments);
  std::vector<double> sum{own * share};
  ranks.Sum(sum);
  return sum[0];
}

void ValidateBatch(const Policy& policy, const Batch& batch) {
  ValidateRows(policy, batch.observations.data(), batch.actions.data(),
               batch.masks.empty() ? nullptr : batch.masks.data(), batch.size, 0);
  const bool finite = std::all_of(batch.log_probabilities.begin(), batch.log_probabilities.end(),
                                  [](float value) { return std::isfinite(value); });
  Require(finite, "a log-probability is not finite");
}

}  // namespace

UpdateMetrics RunGrpoUpdate(const Policy& policy, const std::vector<Segment>& rollout, const GrpoUpdate& update,
                            Engine& engine, Engine* reference, TrainingState& state, Batch& batch,
                            RankGroup* ranks) {
  const double zero_variance = PrepareGrpoBatch(policy, rollout, update, batch);
  const auto merge = [&] {
    state.MergeObservations(policy, batch.observations.data(), batch.size, ranks);
    engine.Upload();
  };
  // As in PPO: the first rollout's statistics come before its update.
  const bool first = update.normalize_observation && state.observations.count == 0;
  if (first) {
    merge();
    ScoreAgain(engine, batch);
  }
  if (update.loss.kl_coefficient > 0) {
    Require(reference != nullptr, "a KL penalty needs a reference policy");
    batch.reference_log_probabilities.resize(batch.size);
    reference->SetBatch(batch);
    reference->Score(batch.reference_log_probabilities.data());
  }
  std::optional<JoinedBatch> joined;
  if (ranks != nullptr) joined.emplace(policy, rollout, batch, *ranks);
  UpdateMetrics metrics = RunSurrogateUpdate(engine, state, batch, update.optimizer, update.loss,
                                             {ranks, joined ? &*joined : nullptr});
  metrics.zero_variance_groups = ranks == nullptr ? zero_variance : MeanOfGroups(zero_variance, *ranks);
  if (update.normalize_observation && !first) merge();
  return metrics;
}

double PrepareGrpoBatch(const Policy& policy, const std::vector<Segment>& rollout, const GrpoUpdate& update,
                        Batch& batch) {
  FlattenEpisodes(policy, rollout, batch);
  ValidateBatch(policy, batch);
  const std::vector<double> returns = Returns(rollout);
  const GroupAdvantages groups = CompareGroups(returns, update.group_size);
  int64_t row = 0, episode = 0;
  for (const Segment& segment : rollout) {
    for (int64_t environment = 0; environment < segment.environments; ++environment, ++episode) {
      const int64_t length = segment.lengths[environment];
      std::fill_n(&batch.advantages[row], length, groups.advantages[episode]);
      std::fill_n(&batch.returns[row], length, static_cast<float>(returns[episode]));
      row += length;
    }
  }
  return groups.zero_variance_share;
}

}  // namespace agentgym
