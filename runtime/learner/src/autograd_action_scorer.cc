#include "autograd_action_scorer.h"

#include <cmath>
#include <limits>

namespace agentgym {

namespace {

using at::Tensor;

constexpr double kHalfLogTwoPi = 0.91893853320467274178;

/// Illegal logits are -infinity; their terms of the entropy, 0 · -infinity, are left out by hand.
void AddCategorical(Tensor logits, const Tensor& action, const Tensor& legal, ActionScore& sum) {
  if (legal.defined()) logits = logits.masked_fill(legal.logical_not(), -std::numeric_limits<float>::infinity());
  const Tensor log_p = at::log_softmax(logits, 1);
  const Tensor chosen = log_p.gather(1, action.to(at::kLong).unsqueeze(1)).squeeze(1);
  const Tensor finite = legal.defined() ? log_p.masked_fill(legal.logical_not(), 0.0) : log_p;
  sum.log_probability = sum.log_probability + chosen;
  sum.entropy = sum.entropy - (log_p.exp() * finite).sum(1);
}

}  // namespace

Tensor AutogradActionScorer::Constant(const std::vector<float>& values) const {
  const auto size = static_cast<int64_t>(values.size());
  return at::from_blob(const_cast<float*>(values.data()), {size}, at::kFloat).to(options_);
}

ActionScore AutogradActionScorer::Score(const Tensor& distribution, const Tensor& actions, const Tensor& masks,
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

void AutogradActionScorer::AddLeaf(const ActionLeaf& leaf, const Tensor& distribution, const Tensor& actions,
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

void AutogradActionScorer::AddGaussian(const ActionLeaf& leaf, const Tensor& distribution, const Tensor& actions,
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
void AutogradActionScorer::AddSquashed(const ActionLeaf& leaf, const Tensor& distribution, const Tensor& actions,
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

}  // namespace agentgym
