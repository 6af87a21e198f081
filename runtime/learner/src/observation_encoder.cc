#include "observation_encoder.h"

#include <algorithm>
#include <cmath>

#include "vector_math.h"

namespace agentgym {

namespace {

/// The mean embedding of one text's tokens.
struct TextMean {
  const ObservationLeaf& leaf;
  const float* observation;
  const float* table;  // [vocabulary, width]
  int64_t width;
  float factor;

  /// `registers` of columns, which stay there while the tokens go by.
  template <int registers>
  void Write(int64_t column, float* to) const {
    Vector sum[registers] = {};
    EachToken(leaf, observation, [&](int64_t token) {
      const float* row = table + token * width + column;
#pragma GCC unroll 4
      for (int i = 0; i < registers; ++i) sum[i] += Load(row + i * kLanes);
    });
#pragma GCC unroll 4
    for (int i = 0; i < registers; ++i) Store(to + column + i * kLanes, sum[i] * factor);
  }

  void WriteRest(int64_t column, float* to) const {
    if (column == width) return;
    std::fill(to + column, to + width, 0.0f);
    EachToken(leaf, observation, [&](int64_t token) {
      for (int64_t i = column; i < width; ++i) to[i] += table[token * width + i];
    });
    for (int64_t i = column; i < width; ++i) to[i] *= factor;
  }
};

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
    } else if (leaf.kind == ObservationKind::kAction) {
      std::copy_n(from, leaf.size, to);
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
    const float* table = &weights_[network.embeddings[leaf.text_index]];
    const TextMean mean{leaf, observation, table, width, MeanFactor(EachToken(leaf, observation, [](int64_t) {}))};
    float* to = features + leaf.feature_offset;
    int64_t column = 0;
    for (; column + 4 * kLanes <= width; column += 4 * kLanes) mean.Write<4>(column, to);
    for (; column + 2 * kLanes <= width; column += 2 * kLanes) mean.Write<2>(column, to);
    for (; column + kLanes <= width; column += kLanes) mean.Write<1>(column, to);
    mean.WriteRest(column, to);
  }
}

}  // namespace agentgym
