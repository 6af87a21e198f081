#pragma once

#include <cstdint>

namespace agentgym {

/// Generalised advantage estimation (Schulman et al., 2016) with Stable-Baselines3's rule for time limits.
///   delta_t = r_t + γ V_next (1 - terminated_t) - V_t
///   A_t = delta_t + γ λ A_{t+1}, cut where an episode ended
/// V_next is the value of the true last observation where the episode was truncated, of the next observation otherwise:
/// running out of time is no end of the world, but it is one of the episode.
/// `values` is [steps + 1, environments]; everything else [steps, environments]; `final_values` is read only in rows that
/// were truncated and not terminated. Returns are A_t + V_t.
void ComputeAdvantages(int64_t steps, int64_t environments, const float* rewards, const uint8_t* flags,
                       const float* values, const float* final_values, float gamma, float lambda, float* advantages,
                       float* returns);

}  // namespace agentgym
