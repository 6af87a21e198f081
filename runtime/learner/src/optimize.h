#pragma once

#include "engine.h"
#include "rollout.h"
#include "training_state.h"
#include "update.h"

namespace agentgym {

/// CleanRL's loop: epochs over shuffled minibatches, gradient clipping, Adam, early stop at target KL. `state` is the
/// engine's own. Fails with training_diverged where loss, gradient or weights stop being finite; the state is then what
/// came of it, for the caller to throw away.
UpdateMetrics Optimize(Engine& engine, TrainingState& state, const Batch& batch, const OptimizerSettings& optimizer,
                       const LossSettings& loss);

}  // namespace agentgym
