#include "pointer_scorer.h"

#include <algorithm>
#include <cmath>

namespace agentgym {

PointerScorer::PointerScorer(const Policy& policy, const std::vector<float>& weights)
    : policy_(policy), weights_(weights), slots_(policy.pointers) {
  for (const ActionLeaf& leaf : policy.action) {
    if (leaf.pointer_index < 0) continue;
    const ObservationLeaf& list = policy.observation[leaf.pointer_list];
    slots_[leaf.pointer_index].rows.resize(list.size);
    slots_[leaf.pointer_index].keys.resize(list.slots * leaf.pointer_units);
  }
}

void PointerScorer::Score(const ActionLeaf& leaf, const float* query, const float* observation, float* logits) {
  const ObservationLeaf& list = policy_.observation[leaf.pointer_list];
  const int64_t columns = list.size / list.slots, units = leaf.pointer_units;
  Slots& slots = slots_[leaf.pointer_index];
  for (int64_t i = 0; i < list.size; ++i) {
    float value = observation[list.offset + i];
    if (policy_.normalize_observation) {
      const float mean = weights_[policy_.normalizer_mean + list.statistics_offset + i];
      const float variance = weights_[policy_.normalizer_variance + list.statistics_offset + i];
      value = std::clamp((value - mean) * (1.0f / std::sqrt(variance + kNormalizerEpsilon)), -kNormalizerClip,
                         kNormalizerClip);
    }
    slots.rows[i] = value;
  }
  for (int64_t slot = 0; slot < list.slots; ++slot) {
    const float* row = &slots.rows[slot * columns];
    float* key = &slots.keys[slot * units];
    float logit = 0;
    for (int64_t unit = 0; unit < units; ++unit) {
      const float* weight = &weights_[leaf.key_weight + unit * columns];
      float sum = weights_[leaf.key_bias + unit];
      for (int64_t i = 0; i < columns; ++i) sum += row[i] * weight[i];
      key[unit] = std::tanh(sum);
      logit += query[unit] * key[unit];
    }
    logits[slot] = logit;
  }
}

void PointerScorer::Gradient(const ActionLeaf& leaf, const float* query, const float* by_logits,
                             float* query_gradient, float* heads_gradient) const {
  const ObservationLeaf& list = policy_.observation[leaf.pointer_list];
  const int64_t columns = list.size / list.slots, units = leaf.pointer_units;
  const Slots& slots = slots_[leaf.pointer_index];
  std::fill_n(query_gradient, units, 0.0f);
  for (int64_t slot = 0; slot < list.slots; ++slot) {
    if (by_logits[slot] == 0) continue;  // masked
    const float* row = &slots.rows[slot * columns];
    const float* key = &slots.keys[slot * units];
    for (int64_t unit = 0; unit < units; ++unit) {
      query_gradient[unit] += by_logits[slot] * key[unit];
      const float by_sum = by_logits[slot] * query[unit] * (1 - key[unit] * key[unit]);
      float* weight = heads_gradient + (leaf.key_weight - policy_.heads) + unit * columns;
      for (int64_t i = 0; i < columns; ++i) weight[i] += by_sum * row[i];
      heads_gradient[leaf.key_bias - policy_.heads + unit] += by_sum;
    }
  }
}

}  // namespace agentgym
