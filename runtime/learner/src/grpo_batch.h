#pragma once

#include <vector>

#include "rollout.h"
#include "update.h"

namespace agentgym {

/// Fills the batch from a rollout of whole episodes, one an environment: each step has its episode's advantage. Samples
/// stand in the order environment, step, so they do not depend on how the environments are split into segments. Fails
/// with a typed error where training could not survive a sample. Returns the share of groups without variance.
double PrepareGrpoBatch(const Policy& policy, const std::vector<Segment>& rollout, const GrpoUpdate& update,
                        Batch& batch);

}  // namespace agentgym
