#pragma once

#include <cstdint>
#include <vector>

#include "pointer_scorer.h"
#include "policy.h"

namespace agentgym {

/// Log-probability, entropy and their gradients for one action of any mix of heads: of the leaves that count, given the
/// action's own choices. Holds what `Score` computed until
/// `Gradient` is called for the same sample; one object a thread.
class ActionScorer {
 public:
  /// `weights` is the flat buffer, which is read at each call.
  ActionScorer(const Policy& policy, const std::vector<float>& weights);

  struct Result {
    float log_probability;
    float entropy;
  };

  /// `output` is the actor's raw output row for the raw `observation`; `mask` may be null.
  Result Score(const float* output, const float* observation, const float* action, const uint8_t* mask);

  /// Writes d loss / d output of the leaves that count, given d loss / d log-probability and d loss / d entropy; adds to d loss / d heads
  /// [policy.heads_size].
  void Gradient(const float* output, const float* action, float by_log_probability, float by_entropy,
                float* output_gradient, float* heads_gradient);

  /// The distribution row of an output row: means as they are, logits of pointers.
  void WriteDistribution(const float* output, const float* observation, float* distribution);

 private:
  Result ScoreGaussian(const ActionLeaf& leaf, const float* output, const float* action, const float* log_std,
                       int64_t component);
  Result ScoreCategorical(const float* logits, int64_t count, const uint8_t* legal, int64_t chosen, int64_t at);

  const Policy& policy_;
  const std::vector<float>& weights_;
  PointerScorer pointers_;
  std::vector<float> logits_;     // of one pointer, or their gradient
  std::vector<float> log_p_;      // categorical: log-probabilities; Gaussian: z
  std::vector<float> p_;          // categorical: probabilities; Gaussian: exp(-log_std)
  std::vector<float> entropies_;  // of each categorical component
  std::vector<MeanLogSlope> slopes_;  // of each squashed component
};

}  // namespace agentgym
