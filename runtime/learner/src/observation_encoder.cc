#include "observation_encoder.h"

#include <algorithm>
#include <cmath>

namespace agentgym {

namespace {

/// Calls body(token) for each token that is not padding; returns how many there are.
template <typename Body>
int64_t EachToken(const ObservationLeaf& leaf, const float* observation, Body body) {
  int64_t tokens = 0;
  for (int64_t i = 0; i < leaf.size; ++i) {
    const auto token = static_cast<int64_t>(observation[leaf.offset + i]);
    if (token == 0) continue;
    body(token);
    ++tokens;
  }
  return tokens;
}

float MeanFactor(int64_t tokens) { return 1.0f / static_cast<float>(std::max<int64_t>(tokens, 1)); }

}  // namespace

ObservationEncoder::ObservationEncoder(const Policy& policy, const std::vector<float>& weights)
    : policy_(policy), weights_(weights), inverse_deviation_(policy.statistics_size, 1.0f) {}

void ObservationEncoder::Prepare() {
  for (int64_t i = 0; i < policy_.statistics_size; ++i) {
    inverse_deviation_[i] = 1.0f / std::sqrt(weights_[policy_.normalizer_variance + i] + kNormalizerEpsilon);
  }
}

void ObservationEncoder::Encode(const float* observation, float* features, float* pixels) const {
  for (const ObservationLeaf& leaf : policy_.observation) {
    const float* from = observation + leaf.offset;
    float* to = features + leaf.feature_offset;
    if (leaf.image_index >= 0) {
      EncodeImage(leaf, from, pixels + leaf.pixel_offset);
    } else if (leaf.kind == ObservationKind::kBox) {
      EncodeBox(leaf, from, to);
    } else if (leaf.kind == ObservationKind::kCategorical) {
      std::fill_n(to, leaf.feature_size, 0.0f);
      for (int64_t i = 0; i < leaf.size; ++i) {
        to[static_cast<int64_t>(from[i])] = 1.0f;
        to += leaf.counts[i];
      }
    }
  }
}

void ObservationEncoder::EncodeBox(const ObservationLeaf& leaf, const float* from, float* to) const {
  if (!policy_.normalize_observation) {
    std::copy_n(from, leaf.size, to);
    return;
  }
  const float* mean = &weights_[policy_.normalizer_mean + leaf.statistics_offset];
  const float* inverse = &inverse_deviation_[leaf.statistics_offset];
  for (int64_t i = 0; i < leaf.size; ++i) {
    to[i] = std::clamp((from[i] - mean[i]) * inverse[i], -kNormalizerClip, kNormalizerClip);
  }
}

/// From channel by channel to position by position: then a patch is a few runs of neighbouring numbers.
void ObservationEncoder::EncodeImage(const ObservationLeaf& leaf, const float* from, float* to) const {
  const int64_t channels = leaf.convolutions[0].in_channels, pixels = leaf.convolutions[0].in_pixels();
  const float* mean = policy_.normalize_observation ? &weights_[policy_.normalizer_mean + leaf.statistics_offset] : nullptr;
  const float* inverse = &inverse_deviation_[leaf.statistics_offset];
  for (int64_t channel = 0; channel < channels; ++channel) {
    for (int64_t i = 0; i < pixels; ++i) {
      const int64_t at = channel * pixels + i;
      float value = from[at];
      if (mean != nullptr) value = std::clamp((value - mean[at]) * inverse[at], -kNormalizerClip, kNormalizerClip);
      to[i * channels + channel] = value;
    }
  }
}

void ObservationEncoder::EncodeText(const Network& network, const float* observation, float* features) const {
  const int64_t width = policy_.embedding;
  for (const ObservationLeaf& leaf : policy_.observation) {
    if (leaf.kind != ObservationKind::kText) continue;
    float* to = features + leaf.feature_offset;
    const float* table = &weights_[network.embeddings[leaf.text_index]];
    std::fill_n(to, width, 0.0f);
    const int64_t tokens = EachToken(leaf, observation, [&](int64_t token) {
      for (int64_t i = 0; i < width; ++i) to[i] += table[token * width + i];
    });
    const float factor = MeanFactor(tokens);
    for (int64_t i = 0; i < width; ++i) to[i] *= factor;
  }
}

void ObservationEncoder::ClearTextGradient(const Network& network, float* gradient) const {
  for (const ObservationLeaf& leaf : policy_.observation) {
    if (leaf.kind != ObservationKind::kText) continue;
    std::fill_n(gradient + network.embeddings[leaf.text_index], leaf.counts[0] * policy_.embedding, 0.0f);
  }
}

void ObservationEncoder::AddTextGradient(const Network& network, const float* observation, const float* text_gradient,
                                         float* gradient) const {
  const int64_t width = policy_.embedding;
  for (const ObservationLeaf& leaf : policy_.observation) {
    if (leaf.kind != ObservationKind::kText) continue;
    float* table = gradient + network.embeddings[leaf.text_index];
    const float factor = MeanFactor(EachToken(leaf, observation, [](int64_t) {}));
    EachToken(leaf, observation, [&](int64_t token) {
      for (int64_t i = 0; i < width; ++i) table[token * width + i] += text_gradient[i] * factor;
    });
    text_gradient += width;
  }
}

}  // namespace agentgym
