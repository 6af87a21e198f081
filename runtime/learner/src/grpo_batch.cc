#include "grpo_batch.h"

#include <algorithm>
#include <cmath>

#include "group_advantages.h"
#include "learner_failure.h"

namespace agentgym {

namespace {

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

void ValidateBatch(const Policy& policy, const Batch& batch) {
  ValidateRows(policy, batch.observations.data(), batch.actions.data(),
               batch.masks.empty() ? nullptr : batch.masks.data(), batch.size, 0);
  const bool finite = std::all_of(batch.log_probabilities.begin(), batch.log_probabilities.end(),
                                  [](float value) { return std::isfinite(value); });
  Require(finite, "a log-probability is not finite");
}

}  // namespace

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
