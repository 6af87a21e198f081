#include "advantages.h"

#include <vector>

#include "rollout.h"

namespace agentgym {

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

}  // namespace agentgym
