#pragma once

#include <cstdint>
#include <vector>

#include "policy.h"

namespace agentgym {

/// Scores the slots of a list for a pointer: logit = q · tanh(W x + b), with the query q from the actor's outputs and x the
/// slot's row as it enters the network. Because all slots share W and b, an item scores the same in whichever slot it is.
/// Holds the keys of a sample until `Gradient` is called for it; one object a thread.
class PointerScorer {
 public:
  /// `weights` is the flat buffer, which is read at each call.
  PointerScorer(const Policy& policy, const std::vector<float>& weights);

  /// Writes the logits [slots] for a raw observation row.
  void Score(const ActionLeaf& leaf, const float* query, const float* observation, float* logits);

  /// From d loss / d logits: writes d loss / d query [units], adds to d loss / d heads [policy.heads_size].
  void Gradient(const ActionLeaf& leaf, const float* query, const float* by_logits, float* query_gradient,
                float* heads_gradient) const;

 private:
  /// Of one pointer: what the last sample's slots were, and their keys.
  struct Slots {
    std::vector<float> rows;  // [slots, columns]
    std::vector<float> keys;  // [slots, units]
  };

  const Policy& policy_;
  const std::vector<float>& weights_;
  std::vector<Slots> slots_;  // one a pointer
};

}  // namespace agentgym
