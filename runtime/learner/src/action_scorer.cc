#include "action_scorer.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace agentgym {

namespace {

constexpr float kHalfLogTwoPi = 0.91893853320467274178f;

int64_t Components(const Policy& policy) {
  int64_t components = 0;
  for (const ActionLeaf& leaf : policy.action) components += leaf.size;
  return components;
}

}  // namespace

ActionScorer::ActionScorer(const Policy& policy, const std::vector<float>& weights)
    : policy_(policy), weights_(weights), pointers_(policy, weights), log_p_(policy.distribution_size), p_(policy.distribution_size), entropies_(Components(policy)),
      slopes_(Components(policy)) {}

ActionScorer::Result ActionScorer::Score(const float* output, const float* observation, const float* action,
                                         const uint8_t* mask) {
  const float* log_std = policy_.log_std < 0 ? nullptr : &weights_[policy_.log_std];
  Result sum{0, 0};
  int64_t component = 0;
  for (const ActionLeaf& leaf : policy_.action) {
    int64_t at = leaf.distribution_offset;
    if (!leaf.Counts(action)) {
      component += leaf.size;
      continue;
    }
    if (leaf.gaussian) {
      const Result gaussian = ScoreGaussian(leaf, output, action, log_std, component);
      sum.log_probability += gaussian.log_probability;
      sum.entropy += gaussian.entropy;
      component += leaf.size;
      continue;
    }
    const uint8_t* legal = mask == nullptr ? nullptr : mask + leaf.mask_offset;
    const float* logits = output + leaf.output_offset;
    if (leaf.pointer_index >= 0) {
      logits_.resize(leaf.counts[0]);
      pointers_.Score(leaf, logits, observation, logits_.data());
      logits = logits_.data();
    }
    for (int64_t i = 0; i < leaf.size; ++i, ++component) {
      const int64_t count = leaf.counts[i];
      const auto chosen = static_cast<int64_t>(action[leaf.offset + i]);
      const Result one = ScoreCategorical(logits, count, legal, chosen, at);
      entropies_[component] = one.entropy;
      sum.log_probability += one.log_probability;
      sum.entropy += one.entropy;
      at += count;
      logits += count;
      if (legal != nullptr) legal += count;
    }
  }
  return sum;
}

ActionScorer::Result ActionScorer::ScoreGaussian(const ActionLeaf& leaf, const float* output, const float* action,
                                                 const float* log_std, int64_t component) {
  Result sum{0, 0};
  const bool squashed = !leaf.squash.empty();
  for (int64_t i = 0; i < leaf.size; ++i, ++component) {
    const int64_t at = leaf.distribution_offset + i;
    const float s = log_std[leaf.log_std_offset + i];
    const float sample = action[leaf.offset + i];
    const float log_deviation = s + std::log(std::abs(leaf.scale[i]));
    p_[at] = std::exp(-s);
    const float mean = output[leaf.output_offset + i];
    log_p_[at] = ((squashed ? sample : (sample - leaf.center[i]) / leaf.scale[i]) - mean) * p_[at];
    sum.log_probability -= 0.5f * log_p_[at] * log_p_[at] + log_deviation + kHalfLogTwoPi;
    sum.entropy += log_deviation + 0.5f + kHalfLogTwoPi;
    if (!squashed) continue;
    slopes_[component] = IntegrateLogSlope(leaf.squash[i], mean, std::exp(s));
    sum.log_probability -= LogSlope(leaf.squash[i], sample);
    sum.entropy += slopes_[component].value;
  }
  return sum;
}

/// An illegal logit has probability 0 and takes no part in the entropy.
ActionScorer::Result ActionScorer::ScoreCategorical(const float* logits, int64_t count, const uint8_t* legal,
                                                    int64_t chosen, int64_t at) {
  const auto is_legal = [legal](int64_t i) { return legal == nullptr || legal[i] != 0; };
  float largest = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < count; ++i) {
    if (is_legal(i)) largest = std::max(largest, logits[i]);
  }
  float total = 0;
  for (int64_t i = 0; i < count; ++i) {
    p_[at + i] = is_legal(i) ? std::exp(logits[i] - largest) : 0.0f;
    total += p_[at + i];
  }
  const float log_total = std::log(total);
  const float inverse = 1.0f / total;
  float entropy = 0;
  for (int64_t i = 0; i < count; ++i) {
    p_[at + i] *= inverse;
    log_p_[at + i] = is_legal(i) ? logits[i] - largest - log_total : 0.0f;
    entropy -= p_[at + i] * log_p_[at + i];
  }
  return {logits[chosen] - largest - log_total, entropy};
}

void ActionScorer::Gradient(const float* output, const float* action, float by_log_probability, float by_entropy,
                            float* output_gradient, float* heads_gradient) {
  int64_t component = 0;
  for (const ActionLeaf& leaf : policy_.action) {
    int64_t at = leaf.distribution_offset;
    if (!leaf.Counts(action)) {
      component += leaf.size;
      continue;
    }
    if (leaf.gaussian) {
      float* by_mean = output_gradient + leaf.output_offset;
      for (int64_t i = 0; i < leaf.size; ++i, ++at, ++component) {
        const float z = log_p_[at];
        by_mean[i] = by_log_probability * z * p_[at];
        heads_gradient[leaf.log_std_offset + i] += by_log_probability * (z * z - 1) + by_entropy;
        if (leaf.squash.empty()) continue;
        by_mean[i] += by_entropy * slopes_[component].by_mean;
        heads_gradient[leaf.log_std_offset + i] += by_entropy * slopes_[component].by_log_deviation;
      }
      continue;
    }
    logits_.resize(leaf.pointer_index >= 0 ? leaf.counts[0] : 0);
    float* by_logit = leaf.pointer_index >= 0 ? logits_.data() : output_gradient + leaf.output_offset;
    for (int64_t i = 0; i < leaf.size; ++i, ++component) {
      const int64_t end = at + leaf.counts[i];
      const int64_t chosen = at + static_cast<int64_t>(action[leaf.offset + i]);
      for (; at < end; ++at, ++by_logit) {
        const float indicator = at == chosen ? 1.0f : 0.0f;
        // d log p(chosen) / d logit = [chosen] - p; d entropy / d logit = -p (log p + entropy)
        *by_logit = by_log_probability * (indicator - p_[at]) -
                    by_entropy * p_[at] * (log_p_[at] + entropies_[component]);
      }
    }
    if (leaf.pointer_index < 0) continue;
    pointers_.Gradient(leaf, output + leaf.output_offset, logits_.data(), output_gradient + leaf.output_offset,
                       heads_gradient);
  }
}

void ActionScorer::WriteDistribution(const float* output, const float* observation, float* distribution) {
  for (const ActionLeaf& leaf : policy_.action) {
    const float* from = output + leaf.output_offset;
    float* to = distribution + leaf.distribution_offset;
    if (leaf.pointer_index >= 0) {
      pointers_.Score(leaf, from, observation, to);
      continue;
    }
    int64_t columns = leaf.gaussian ? leaf.size : 0;
    for (const int64_t count : leaf.counts) columns += count;
    std::copy_n(from, columns, to);
    if (!leaf.gaussian || !leaf.squash.empty()) continue;
    for (int64_t i = 0; i < leaf.size; ++i) to[i] = leaf.center[i] + leaf.scale[i] * to[i];
  }
}

}  // namespace agentgym
