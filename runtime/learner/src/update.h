#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "engine.h"

namespace agentgym {

/// What every algorithm's update does with its batch: epochs over shuffled minibatches, each one step of Adam.
struct OptimizerSettings {
  int64_t epochs;
  int64_t minibatch_size;
  double learning_rate;
  double max_gradient_norm;
  std::optional<double> target_kl;
  uint32_t seed;
};

/// PpoUpdate in runtime/src/learner/learner-types.ts.
struct PpoUpdate {
  double gamma;
  double gae_lambda;
  bool normalize_observation;
  bool normalize_reward;
  OptimizerSettings optimizer;
  LossSettings loss;
};

/// GrpoUpdate in runtime/src/learner/learner-types.ts.
struct GrpoUpdate {
  int64_t group_size;
  bool normalize_observation;
  OptimizerSettings optimizer;
  LossSettings loss;
};

using Update = std::variant<PpoUpdate, GrpoUpdate>;

inline const LossSettings& LossOf(const Update& update) {
  return std::visit([](const auto& one) -> const LossSettings& { return one.loss; }, update);
}

/// Means over the minibatches of an update; absent where nothing can be said.
struct UpdateMetrics {
  double policy_loss = 0;
  std::optional<double> value_loss;
  double entropy = 0;
  double approximate_kl = 0;
  double clip_fraction = 0;
  std::optional<double> kl_to_reference;
  double gradient_norm = 0;
  std::optional<double> explained_variance;
  std::optional<double> zero_variance_groups;  // share of the groups
  int64_t epochs_run = 0;       // begun, so one that target KL cut short counts
  int64_t minibatches_run = 0;  // optimiser steps
};

}  // namespace agentgym
