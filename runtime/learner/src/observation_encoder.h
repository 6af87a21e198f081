#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "policy.h"

namespace agentgym {

/// Calls body(token) for each token of a text that is not padding; returns how many there are.
template <typename Body>
int64_t EachToken(const ObservationLeaf& leaf, const float* observation, Body body) {
  int64_t tokens = 0;
  const float* const first = observation + leaf.offset;
  const int64_t size = leaf.size;  // as a local: the body's stores could change the leaf, for all that the compiler knows
  for (int64_t i = 0; i < size; ++i) {
    const auto token = static_cast<int64_t>(first[i]);
    if (token == 0) continue;
    body(token);
    ++tokens;
  }
  return tokens;
}

/// Makes a mean of a sum over tokens; of an empty text it is zero.
inline float MeanFactor(int64_t tokens) { return 1.0f / static_cast<float>(std::max<int64_t>(tokens, 1)); }

/// Raw observation rows to the networks' input rows.
class ObservationEncoder {
 public:
  /// `weights` is the flat buffer, whose statistics and embeddings are read at each call.
  ObservationEncoder(const Policy& policy, const std::vector<float>& weights);

  /// To be called whenever the normaliser's statistics changed.
  void Prepare();

  /// Writes boxes (standardised where the policy says so) and one-hot categories; leaves columns of text and images
  /// alone. Images go to `pixels` [policy.pixel_size], position by position.
  void Encode(const float* observation, float* features, float* pixels) const;

  /// Writes the mean embedding of each text's tokens, zeros for an empty one. Each network has tables of its own.
  void EncodeText(const Network& network, const float* observation, float* features) const;

 private:
  void EncodeBox(const ObservationLeaf& leaf, const float* from, float* to) const;
  void EncodeImage(const ObservationLeaf& leaf, const float* from, float* to) const;

  const Policy& policy_;
  const std::vector<float>& weights_;
  std::vector<float> inverse_deviation_;
};

}  // namespace agentgym
