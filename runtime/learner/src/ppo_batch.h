#pragma once

#include <optional>
#include <vector>

#include "engine.h"
#include "rollout.h"
#include "training_state.h"
#include "update.h"

namespace agentgym {

/// Fills the batch from a checked rollout, with advantages in units of the normalised return; `statistics` gets the new
/// reward statistics.
void PreparePpoBatch(const Policy& policy, const std::vector<Segment>& rollout, const PpoUpdate& update, Engine& engine,
                     TrainingState& statistics, Batch& batch);

/// 1 - Var(return - value) / Var(return): 1 is a perfect critic; nothing can be said of returns that are all equal.
std::optional<double> ExplainedVariance(const Batch& batch);

}  // namespace agentgym
