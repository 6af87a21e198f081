#include "policy_learner.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

#include "grpo_batch.h"
#include "learner_failure.h"
#include "libtorch_setup.h"
#include "optimize.h"
#include "ppo_batch.h"

namespace agentgym {

PolicyLearner::PolicyLearner(Policy policy, uint64_t seed, EnginePath path, bool cuda, int threads)
    : policy_(std::move(policy)), state_(policy_), threads_(std::max(1, threads)), cuda_(cuda), path_(path) {
  SetLibtorchThreads(1);
  static std::once_flag verified;
  std::call_once(verified, VerifyBlas);
  InitializeWeights(policy_, seed, state_);
  if (path == EnginePath::kAutograd) SetLibtorchThreads(threads_);
  engine_ = MakeEngine(state_, path, cuda);
}

std::unique_ptr<Engine> PolicyLearner::MakeEngine(TrainingState& state, EnginePath path, bool cuda) const {
  std::unique_ptr<Engine> engine;
  switch (path) {
    case EnginePath::kAutograd: engine = MakeAutogradEngine(policy_, state, cuda); break;
    case EnginePath::kFused: engine = MakeFusedEngine(policy_, state, threads_); break;
    case EnginePath::kFloat64: engine = MakeFloat64Engine(policy_, state); break;
  }
  engine->Upload();
  return engine;
}

void PolicyLearner::SetWeights(const float* weights) {
  std::copy_n(weights, state_.weights.size(), state_.weights.begin());
  engine_->Upload();
}

void PolicyLearner::SetState(const uint8_t* bytes, int64_t size) {
  DeserializeState(bytes, size, state_);
  engine_->Upload();
}

void PolicyLearner::SetReference(const float* weights) {
  auto reference = std::make_unique<Reference>(policy_);
  std::copy_n(weights, reference->state.weights.size(), reference->state.weights.begin());
  reference->engine = MakeEngine(reference->state, path_, cuda_);
  reference_ = std::move(reference);
}

void PolicyLearner::Forward(const float* observations, int64_t count, float* distribution, float* values) {
  ValidateObservations(policy_, observations, count);
  engine_->Forward(observations, count, distribution, values);
  const float scale = state_.weights[policy_.value_scale];
  for (int64_t i = 0; i < count; ++i) values[i] *= scale;
}

UpdateMetrics PolicyLearner::RunUpdate(const std::vector<Segment>& rollout, const Update& update) {
  const TrainingState backup = state_;
  try {
    return std::visit([&](const auto& one) { return Learn(rollout, one); }, update);
  } catch (...) {
    Restore(backup);
    throw;
  }
}

UpdateMetrics PolicyLearner::Learn(const std::vector<Segment>& rollout, const PpoUpdate& update) {
  ValidateRollout(policy_, rollout);
  PreparePpoBatch(policy_, rollout, update, *engine_, state_, batch_);
  UpdateMetrics metrics = Optimize(*engine_, state_, batch_, update.optimizer, update.loss);
  metrics.explained_variance = ExplainedVariance(batch_);
  if (update.normalize_observation) {
    for (const Segment& segment : rollout) {
      MergeObservations(segment.observations, segment.steps * segment.environments);
    }
    ApplyObservationStatistics();
  }
  return metrics;
}

UpdateMetrics PolicyLearner::Learn(const std::vector<Segment>& rollout, const GrpoUpdate& update) {
  const double zero_variance = PrepareGrpoBatch(policy_, rollout, update, batch_);
  if (update.loss.kl_coefficient > 0) ScoreReference();
  UpdateMetrics metrics = Optimize(*engine_, state_, batch_, update.optimizer, update.loss);
  metrics.zero_variance_groups = zero_variance;
  if (update.normalize_observation) {
    MergeObservations(batch_.observations.data(), batch_.size);
    ApplyObservationStatistics();
  }
  return metrics;
}

/// Once an update: the reference does not move.
void PolicyLearner::ScoreReference() {
  Require(reference_ != nullptr, "a KL penalty needs a reference policy");
  batch_.reference_log_probabilities.resize(batch_.size);
  reference_->engine->SetBatch(batch_);
  reference_->engine->Score(batch_.reference_log_probabilities.data());
}

const Batch& PolicyLearner::Advantages(const std::vector<Segment>& rollout, const Update& update) {
  if (const auto* grpo = std::get_if<GrpoUpdate>(&update)) {
    PrepareGrpoBatch(policy_, rollout, *grpo, batch_);
    return batch_;
  }
  ValidateRollout(policy_, rollout);
  TrainingState statistics = state_;
  PreparePpoBatch(policy_, rollout, std::get<PpoUpdate>(update), *engine_, statistics, batch_);
  return batch_;
}

void PolicyLearner::MergeObservations(const float* observations, int64_t count) {
  std::vector<int64_t> columns;
  for (const ObservationLeaf& leaf : policy_.observation) {
    if (leaf.kind != ObservationKind::kBox) continue;
    for (int64_t i = 0; i < leaf.size; ++i) columns.push_back(leaf.offset + i);
  }
  if (!columns.empty()) state_.observations.Merge(observations, count, policy_.observation_size, columns);
}

void PolicyLearner::ApplyObservationStatistics() {
  for (int64_t i = 0; i < policy_.statistics_size; ++i) {
    state_.weights[policy_.normalizer_mean + i] = static_cast<float>(state_.observations.mean[i]);
    state_.weights[policy_.normalizer_variance + i] = static_cast<float>(state_.observations.Variance(i));
  }
  engine_->Upload();
}

void PolicyLearner::Gradient(const Batch& batch, const LossSettings& settings, EnginePath path, float* gradient) {
  ValidateRows(policy_, batch.observations.data(), batch.actions.data(),
               batch.masks.empty() ? nullptr : batch.masks.data(), batch.size, 0);
  std::unique_ptr<Engine> other;
  if (path != path_) other = MakeEngine(state_, path, false);
  Engine& engine = other ? *other : *engine_;
  engine.SetBatch(batch);
  std::vector<int32_t> rows(batch.size);
  std::iota(rows.begin(), rows.end(), 0);
  engine.ComputeGradient(rows.data(), batch.size, settings);
  engine.ReadGradient(gradient);
}

/// Copies into the memory that the engine knows.
void PolicyLearner::Restore(const TrainingState& backup) {
  state_ = backup;  // vectors of equal size: assignment keeps their memory
  engine_->Upload();
}

}  // namespace agentgym
