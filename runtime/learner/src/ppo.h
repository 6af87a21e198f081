#pragma once

#include <vector>

#include "engine.h"
#include "rollout.h"
#include "surrogate_update.h"
#include "training_state.h"

namespace agentgym {

/// PpoUpdate in runtime/src/learner/learner-types.ts.
struct PpoUpdate {
  double gamma;
  double gae_lambda;
  bool normalize_observation;
  bool normalize_reward;
  OptimizerSettings optimizer;
  LossSettings loss;
};

/// PPO (Schulman et al., 2017) in the details of CleanRL's ppo.py: one update from a rollout. `engine` computes with `state`.
///
/// What is normalized when:
/// - Observations: by the statistics that the rollout was sampled with, so that the first minibatch has ratio 1; the
///   rollout's own observations are merged after the update. Before the first rollout of a run there are none, so that one
///   is merged first, and its actions are scored again under the policy that it then is: merged afterwards, the
///   statistics would replace what the update has just learned by another function.
/// - Rewards: this rollout's returns are merged first, then its rewards are divided by the new deviation. One scale holds
///   throughout an update, for rewards, targets and the critic; it is the `value.scale` of the weights that come out.
///
/// With `ranks`, `rollout` has the environments of one process of several, and statistics are those of all.
UpdateMetrics RunPpoUpdate(const Policy& policy, const std::vector<Segment>& rollout, const PpoUpdate& update,
                           Engine& engine, TrainingState& state, Batch& batch, RankGroup* ranks);

/// Fills `batch` from a rollout, with advantages in units of the normalized return; `statistics` gets the new reward
/// statistics. Fails with a typed error where training could not survive a sample.
void PreparePpoBatch(const Policy& policy, const std::vector<Segment>& rollout, const PpoUpdate& update, Engine& engine,
                     TrainingState& statistics, Batch& batch, RankGroup* ranks);

}  // namespace agentgym
