#pragma once

#include <cstdint>
#include <vector>

#include "policy.h"

namespace agentgym {

/// Log-probability, entropy and their gradients for one action of any mix of heads: of the leaves that count, given the
/// action's own choices. Holds what `Score` computed until
/// `Gradient` is called for the same sample; one object a thread.
class ActionScorer {
 public:
  explicit ActionScorer(const Policy& policy);

  struct Result {
    float log_probability;
    float entropy;
  };

  /// `output` is the actor's raw output row, `log_std` the policy's parameters, `mask` may be null.
  Result Score(const float* output, const float* action, const uint8_t* mask, const float* log_std);

  /// Writes d loss / d output of the leaves that count, given d loss / d log-probability and d loss / d entropy; adds to d loss / d log_std.
  void Gradient(const float* action, float by_log_probability, float by_entropy, float* output_gradient,
                float* log_std_gradient) const;

 private:
  Result ScoreGaussian(const ActionLeaf& leaf, const float* output, const float* action, const float* log_std,
                       int64_t component);
  Result ScoreCategorical(const float* logits, int64_t count, const uint8_t* legal, int64_t chosen, int64_t at);

  const Policy& policy_;
  std::vector<float> log_p_;      // categorical: log-probabilities; Gaussian: z
  std::vector<float> p_;          // categorical: probabilities; Gaussian: exp(-log_std)
  std::vector<float> entropies_;  // of each categorical component
  std::vector<MeanLogSlope> slopes_;  // of each squashed component
};

}  // namespace agentgym
