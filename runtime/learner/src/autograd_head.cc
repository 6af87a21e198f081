#include "autograd_head.h"

#include <cmath>
#include <limits>

namespace agentgym {

namespace {

using at::Tensor;

constexpr double kHalfLogTwoPi = 0.91893853320467274178;

}  // namespace

Tensor AutogradHead::Distribution(const Tensor& output, const SlotScores& score_slots) const {
  if (policy_.head == Head::kQ || policy_.head == Head::kTwinQ) return output;
  if (policy_.head == Head::kSquashedGaussian) {
    const int64_t columns = policy_.action_size;
    const Tensor log_std = kLogStdCenter + kLogStdHalfWidth * output.narrow(1, columns, columns).tanh();
    return at::cat({output.narrow(1, 0, columns), log_std}, 1);
  }
  if (policy_.head == Head::kDuelingQ) {
    const Tensor advantages = output.narrow(1, 0, policy_.distribution_size);
    return output.narrow(1, policy_.distribution_size, 1) + advantages - advantages.mean(1, true);
  }
  std::vector<Tensor> parts;
  for (const ActionLeaf& leaf : policy_.action) {
    int64_t columns = leaf.size;
    if (!leaf.gaussian) {
      columns = 0;
      for (const int64_t count : leaf.counts) columns += count;
    }
    if (leaf.pointer_index >= 0) {
      parts.push_back(score_slots(leaf, output.narrow(1, leaf.output_offset, leaf.pointer_units)));
      continue;
    }
    Tensor part = output.narrow(1, leaf.output_offset, columns);
    if (leaf.gaussian && leaf.squash.empty()) part = part * Constant(leaf.scale) + Constant(leaf.center);
    parts.push_back(part);
  }
  return parts.size() == 1 ? parts[0] : at::cat(parts, 1);
}

Tensor AutogradHead::Constant(const std::vector<float>& values) const {
  const auto size = static_cast<int64_t>(values.size());
  return at::from_blob(const_cast<float*>(values.data()), {size}, at::kFloat).to(options_);
}

ActionScore AutogradHead::Score(const Tensor& distribution, const Tensor& actions, const Tensor& masks,
                                const Tensor& weights) const {
  const int64_t rows = actions.size(0);
  ActionScore sum{at::zeros({rows}, options_), at::zeros({rows}, options_)};
  for (const ActionLeaf& leaf : policy_.action) {
    if (leaf.when_column < 0) {
      AddLeaf(leaf, distribution, actions, masks, weights, sum);
      continue;
    }
    ActionScore own{at::zeros({rows}, options_), at::zeros({rows}, options_)};
    AddLeaf(leaf, distribution, actions, masks, weights, own);
    const Tensor counts = actions.select(1, leaf.when_column) == static_cast<double>(leaf.when_choice);
    const Tensor nothing = at::zeros({rows}, options_);
    sum.log_probability = sum.log_probability + at::where(counts, own.log_probability, nothing);
    sum.entropy = sum.entropy + at::where(counts, own.entropy, nothing);
  }
  return sum;
}

void AutogradHead::AddLeaf(const ActionLeaf& leaf, const Tensor& distribution, const Tensor& actions,
                           const Tensor& masks, const Tensor& weights, ActionScore& sum) const {
  if (leaf.gaussian) {
    AddGaussian(leaf, distribution, actions, weights, sum);
    return;
  }
  int64_t logit = leaf.distribution_offset, mask = leaf.mask_offset;
  for (int64_t i = 0; i < leaf.size; ++i) {
    const Tensor legal = masks.defined() ? masks.narrow(1, mask, leaf.counts[i]) : Tensor();
    AddCategorical(distribution.narrow(1, logit, leaf.counts[i]), actions.select(1, leaf.offset + i), legal, sum);
    logit += leaf.counts[i];
    mask += leaf.counts[i];
  }
}

/// Illegal logits are -infinity; their terms of the entropy, 0 · -infinity, are left out by hand.
void AutogradHead::AddCategorical(Tensor logits, const Tensor& action, const Tensor& legal, ActionScore& sum) {
  if (legal.defined()) logits = logits.masked_fill(legal.logical_not(), -std::numeric_limits<float>::infinity());
  const Tensor log_p = at::log_softmax(logits, 1);
  const Tensor chosen = log_p.gather(1, action.to(at::kLong).unsqueeze(1)).squeeze(1);
  const Tensor finite = legal.defined() ? log_p.masked_fill(legal.logical_not(), 0.0) : log_p;
  sum.log_probability = sum.log_probability + chosen;
  sum.entropy = sum.entropy - (log_p.exp() * finite).sum(1);
}

void AutogradHead::AddGaussian(const ActionLeaf& leaf, const Tensor& distribution, const Tensor& actions,
                               const Tensor& weights, ActionScore& sum) const {
  if (!leaf.squash.empty()) {
    AddSquashed(leaf, distribution, actions, weights, sum);
    return;
  }
  const Tensor mean = distribution.narrow(1, leaf.distribution_offset, leaf.size);
  const Tensor scale = Constant(leaf.scale);
  const Tensor log_std = weights.narrow(0, policy_.log_std + leaf.log_std_offset, leaf.size) + scale.log();
  const Tensor z = (actions.narrow(1, leaf.offset, leaf.size) - mean) / log_std.exp();
  sum.log_probability = sum.log_probability + (-0.5 * z.square() - log_std - kHalfLogTwoPi).sum(1);
  sum.entropy = sum.entropy + (log_std + (0.5 + kHalfLogTwoPi)).sum();
}

/// `actions` holds u; probabilities are those of center + scale * f(u).
void AutogradHead::AddSquashed(const ActionLeaf& leaf, const Tensor& distribution, const Tensor& actions,
                               const Tensor& weights, ActionScore& sum) const {
  std::vector<float> log_cosh, linear;
  for (const Squash squash : leaf.squash) {
    log_cosh.push_back(FactorsOf(squash).log_cosh);
    linear.push_back(FactorsOf(squash).linear);
  }
  // Clones: the graph of the gradient outlives these vectors, whose memory a constant shares.
  const Tensor by_log_cosh = Constant(log_cosh).clone(), by_u = Constant(linear).clone();
  const auto log_slope = [&](const Tensor& u) {
    const Tensor far = u.abs();
    return by_log_cosh * (far + (-2 * far).exp().log1p() - M_LN2) + by_u * u;
  };
  const Tensor mean = distribution.narrow(1, leaf.distribution_offset, leaf.size);
  const Tensor log_std = weights.narrow(0, policy_.log_std + leaf.log_std_offset, leaf.size);
  const Tensor log_scale = Constant(leaf.scale).abs().log();
  const Tensor u = actions.narrow(1, leaf.offset, leaf.size);
  const Tensor z = (u - mean) / log_std.exp();
  const Tensor log_density = -0.5 * z.square() - log_std - kHalfLogTwoPi;
  sum.log_probability = sum.log_probability + (log_density - log_scale - log_slope(u)).sum(1);
  Tensor mean_log_slope = at::zeros_like(mean);
  for (int i = 0; i < kQuadratureNodes; ++i) {
    mean_log_slope = mean_log_slope + kQuadratureWeight[i] * log_slope(mean + log_std.exp() * kQuadratureNode[i]);
  }
  sum.entropy = sum.entropy + (log_std + log_scale + (0.5 + kHalfLogTwoPi) + mean_log_slope).sum(1);
}

NoisyActions AutogradHead::Draw(const Tensor& distribution, const Tensor& noise) const {
  const int64_t columns = policy_.action_size;
  const Tensor log_std = distribution.narrow(1, columns, columns);
  const Tensor u = distribution.narrow(1, 0, columns) + log_std.exp() * noise;
  std::vector<float> flags;
  for (const Squash squash : policy_.squash) flags.push_back(squash == Squash::kTanh ? 1.0f : 0.0f);
  const Tensor bounded = Constant(flags).clone();
  const Tensor far = u.abs();
  const Tensor log_slope = bounded * (-2 * (far + (-2 * far).exp().log1p() - M_LN2));
  const Tensor log_density = -0.5 * noise.square() - log_std - kHalfLogTwoPi;
  return {bounded * u.tanh() + (1 - bounded) * u, (log_density - log_slope).sum(1)};
}

}  // namespace agentgym
