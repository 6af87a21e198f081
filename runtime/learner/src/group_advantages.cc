#include "group_advantages.h"

#include <cmath>

#include "learner_failure.h"

namespace agentgym {

namespace {

constexpr double kEpsilon = 1e-4;
constexpr double kEqual = 1e-8;

}  // namespace

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
    if (deviation < kEqual) {
      ++equal;
      continue;
    }
    for (int64_t i = first; i < first + group_size; ++i) {
      result.advantages[i] = static_cast<float>((returns[i] - mean) / (deviation + kEpsilon));
    }
  }
  result.zero_variance_share = static_cast<double>(equal * group_size) / static_cast<double>(episodes);
  return result;
}

}  // namespace agentgym
