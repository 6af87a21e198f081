#pragma once

#include <cstdint>
#include <vector>

namespace agentgym {

struct GroupAdvantages {
  std::vector<float> advantages;  // one an episode
  double zero_variance_share;     // of the groups
};

/// Group relative advantages (Shao et al., 2024: DeepSeekMath, section 4.1), one an episode:
///   A_i = (R_i - mean) / (std + 1e-4) over the `group_size` episodes of i's group
/// with the unbiased deviation (n - 1), as TRL's GRPOTrainer has it. Each episode counts once, however long it is.
/// A group whose returns are equal (deviation below 1e-8, TRL's tolerance) has advantages of exactly 0: rounding of the
/// mean must not become a direction to learn in. `returns` holds whole groups, one after another.
GroupAdvantages CompareGroups(const std::vector<double>& returns, int64_t group_size);

}  // namespace agentgym
