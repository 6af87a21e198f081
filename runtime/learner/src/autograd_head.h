#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <vector>

#include "policy.h"

namespace agentgym {

/// Log-probability and entropy of whole actions, [B] each.
struct ActionScore {
  at::Tensor log_probability;
  at::Tensor entropy;
};

/// Actions of a squashed Gaussian as SAC's critics see them, [B, action], and their log-probability, [B].
struct NoisyActions {
  at::Tensor actions;
  at::Tensor log_probability;
};

/// What the outputs of the networks mean, in differentiable tensors.
class AutogradHead {
 public:
  AutogradHead(const Policy& policy, const at::TensorOptions& options) : policy_(policy), options_(options) {}

  /// Network outputs to distribution rows: logits and means that are squashed later as they are, other means mapped into
  /// the environment's units, and a pointer's query by `score_slots` to the logits of its list's slots.
  using SlotScores = std::function<at::Tensor(const ActionLeaf& leaf, const at::Tensor& query)>;
  at::Tensor Distribution(const at::Tensor& output, const SlotScores& score_slots) const;

  /// Of actions as they were sampled; `masks` may be undefined.
  ActionScore Score(const at::Tensor& distribution, const at::Tensor& actions, const at::Tensor& masks,
                    const at::Tensor& weights) const;

  /// Of SAC's actor: the actions that standard normal noise [B, action] makes.
  NoisyActions Draw(const at::Tensor& distribution, const at::Tensor& noise) const;

 private:
  at::Tensor Constant(const std::vector<float>& values) const;
  void AddLeaf(const ActionLeaf& leaf, const at::Tensor& distribution, const at::Tensor& actions,
               const at::Tensor& masks, const at::Tensor& weights, ActionScore& sum) const;
  static void AddCategorical(at::Tensor logits, const at::Tensor& action, const at::Tensor& legal, ActionScore& sum);
  void AddGaussian(const ActionLeaf& leaf, const at::Tensor& distribution, const at::Tensor& actions,
                   const at::Tensor& weights, ActionScore& sum) const;
  void AddSquashed(const ActionLeaf& leaf, const at::Tensor& distribution, const at::Tensor& actions,
                   const at::Tensor& weights, ActionScore& sum) const;

  const Policy& policy_;
  at::TensorOptions options_;
};

}  // namespace agentgym
