#pragma once

#include <vector>

#include "engine.h"
#include "rollout.h"
#include "surrogate_update.h"
#include "training_state.h"

namespace agentgym {

/// GrpoUpdate in runtime/src/learner/learner-types.ts.
struct GrpoUpdate {
  int64_t group_size;
  bool normalize_observation;
  OptimizerSettings optimizer;
  LossSettings loss;
};

/// GRPO (Shao et al., 2024): PPO's clipped objective and optimizer, with advantages from groups of episodes and no critic.
/// `reference` scores the batch once an update; null where the loss has no KL penalty.
UpdateMetrics RunGrpoUpdate(const Policy& policy, const std::vector<Segment>& rollout, const GrpoUpdate& update,
                            Engine& engine, Engine* reference, TrainingState& state, Batch& batch,
                            RankGroup* ranks);

/// Fills `batch` from a rollout of whole episodes, one an environment: each step has its episode's advantage. Samples are in
/// the order environment, step, so they do not depend on how the environments are split into segments. Fails with a typed
/// error where training could not survive a sample. Returns the share of groups without variance.
double PrepareGrpoBatch(const Policy& policy, const std::vector<Segment>& rollout, const GrpoUpdate& update,
                        Batch& batch);

}  // namespace agentgym
