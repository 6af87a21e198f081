#pragma once

#include <cstdint>
#include <vector>

#include "policy.h"

namespace agentgym {

/// Raw observation rows to the networks' input rows, and the way back for the gradient of token embeddings.
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

  void ClearTextGradient(const Network& network, float* gradient) const;

  /// Adds one sample's part to the tables' gradient; `text_gradient` is d loss / d mean embedding, a text after the other.
  void AddTextGradient(const Network& network, const float* observation, const float* text_gradient,
                       float* gradient) const;

 private:
  void EncodeBox(const ObservationLeaf& leaf, const float* from, float* to) const;
  void EncodeImage(const ObservationLeaf& leaf, const float* from, float* to) const;

  const Policy& policy_;
  const std::vector<float>& weights_;
  std::vector<float> inverse_deviation_;
};

}  // namespace agentgym
