#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "policy.h"

namespace agentgym {

/// Log-probability and entropy of whole actions, [B] each.
struct ActionScore {
  at::Tensor log_probability;
  at::Tensor entropy;
};

/// Scores actions with operators that autograd differentiates: the reference of ActionScorer.
class AutogradActionScorer {
 public:
  AutogradActionScorer(const Policy& policy, at::TensorOptions options) : policy_(policy), options_(options) {}

  /// Of rows of the distribution, [B, distribution]; `masks` may be undefined. A leaf that does not count adds nothing.
  ActionScore Score(const at::Tensor& distribution, const at::Tensor& actions, const at::Tensor& masks,
                    const at::Tensor& weights) const;

  /// A constant of the policy as a tensor, which may share its memory.
  at::Tensor Constant(const std::vector<float>& values) const;

 private:
  void AddLeaf(const ActionLeaf& leaf, const at::Tensor& distribution, const at::Tensor& actions,
               const at::Tensor& masks, const at::Tensor& weights, ActionScore& sum) const;
  void AddGaussian(const ActionLeaf& leaf, const at::Tensor& distribution, const at::Tensor& actions,
                   const at::Tensor& weights, ActionScore& sum) const;
  void AddSquashed(const ActionLeaf& leaf, const at::Tensor& distribution, const at::Tensor& actions,
                   const at::Tensor& weights, ActionScore& sum) const;

  const Policy& policy_;
  at::TensorOptions options_;
};

}  // namespace agentgym
