#include "policy_learner.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

#include "learner_failure.h"
#include "libtorch_setup.h"

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
    if (const auto* ppo = std::get_if<PpoUpdate>(&update)) {
      return RunPpoUpdate(policy_, rollout, *ppo, *engine_, state_, batch_);
    }
    Engine* reference = reference_ == nullptr ? nullptr : reference_->engine.get();
    return RunGrpoUpdate(policy_, rollout, std::get<GrpoUpdate>(update), *engine_, reference, state_, batch_);
  } catch (...) {
    Restore(backup);
    throw;
  }
}

const Batch& PolicyLearner::Advantages(const std::vector<Segment>& rollout, const Update& update) {
  if (const auto* grpo = std::get_if<GrpoUpdate>(&update)) {
    PrepareGrpoBatch(policy_, rollout, *grpo, batch_);
    return batch_;
  }
  TrainingState statistics = state_;
  PreparePpoBatch(policy_, rollout, std::get<PpoUpdate>(update), *engine_, statistics, batch_);
  return batch_;
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
