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

void PolicyLearner::StartFrom(const float* weights, double observations) {
  Require(observations > 0, "observations");
  SetWeights(weights);
  if (policy_.normalize_observation) state_.AdoptObservations(policy_, observations);
  state_.adopted_critic = policy_.head == Head::kActorCritic;
}

void PolicyLearner::SetState(const uint8_t* bytes, int64_t size) {
  Reader reader(bytes, size);
  DeserializeState(reader, state_);
  if (policy_.head != Head::kActorCritic) {
    const auto target = reader.GetAll<float>(policy_.total_size);
    target_ = MakeSecondPolicy(target.data());
    replay_ = reader.AtEnd() ? nullptr : ReplayBuffer::Deserialize(reader, policy_);
  }
  reader.End();
  engine_->Upload();
}

std::vector<uint8_t> PolicyLearner::SaveState(bool with_replay) const {
  Writer writer;
  SerializeState(state_, writer);
  if (policy_.head != Head::kActorCritic) {
    writer.PutAll(target_ == nullptr ? state_.weights : target_->state.weights);
    if (with_replay && replay_ != nullptr) replay_->Serialize(writer);
  }
  return std::move(writer.bytes);
}

void PolicyLearner::SetReference(const float* weights) { reference_ = MakeSecondPolicy(weights); }

std::unique_ptr<SecondPolicy> PolicyLearner::MakeSecondPolicy(const float* weights) const {
  auto policy = std::make_unique<SecondPolicy>(policy_);
  std::copy_n(weights, policy->state.weights.size(), policy->state.weights.begin());
  policy->engine = MakeEngine(policy->state, path_, cuda_);
  return policy;
}

/// Begins as the network itself.
SecondPolicy& PolicyLearner::Target() {
  if (target_ == nullptr) target_ = MakeSecondPolicy(state_.weights.data());
  return *target_;
}

void PolicyLearner::Remember(const std::vector<Segment>& rollout, int64_t capacity, bool normalize_observation) {
  ValidateRollout(policy_, rollout);
  if (replay_ == nullptr) {
    const bool masked = policy_.mask_size > 0 && rollout[0].masks != nullptr;
    replay_ = std::make_unique<ReplayBuffer>(policy_, RolloutEnvironments(rollout), capacity, masked);
  }
  replay_->Add(rollout);
  if (!normalize_observation) return;
  for (const Segment& segment : rollout) {
    state_.MergeObservations(policy_, segment.observations, segment.steps * segment.environments);
  }
  std::copy(state_.weights.begin() + policy_.trainable_size, state_.weights.end(),
            Target().state.weights.begin() + policy_.trainable_size);
  target_->engine->Upload();
  engine_->Upload();
}

std::vector<float> PolicyLearner::Targets(const DqnUpdate& update) {
  Require(replay_ != nullptr, "the replay buffer is empty");
  std::vector<uint32_t> all(replay_->size());
  std::iota(all.begin(), all.end(), 0);
  Transitions transitions;
  replay_->Gather(all.data(), replay_->size(), update.n_step, update.gamma, transitions);
  return DqnTargets(policy_, transitions, update.double_q, *engine_, *Target().engine);
}

void PolicyLearner::Forward(const float* observations, int64_t count, float* distribution, float* values) {
  ValidateObservations(policy_, observations, count);
  engine_->Forward(observations, count, distribution, values);
  if (policy_.value_scale < 0) return;  // values of actions are in the reward's units as they are
  const float scale = state_.weights[policy_.value_scale];
  for (int64_t i = 0; i < count; ++i) values[i] *= scale;
}

void PolicyLearner::ForwardSequences(const SequenceRows& rows, int64_t count, const SequenceResults& results) {
  ValidateObservations(policy_, rows.observations, count);
  engine_->ForwardSequences(rows, results);
  const float scale = state_.weights[policy_.value_scale];
  for (int64_t i = 0; i < count; ++i) results.values[i] *= scale;
}

UpdateMetrics PolicyLearner::RunUpdate(const std::vector<Segment>& rollout, const Update& update) {
  const TrainingState backup = state_;
  try {
    if (const auto* dqn = std::get_if<DqnUpdate>(&update)) {
      Require(replay_ != nullptr, "the replay buffer is empty");
      return RunDqnUpdate(policy_, *dqn, *replay_, *engine_, state_, Target());
    }
    Require(!rollout.empty(), "a rollout has no segment");
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
  Require(!rollout.empty(), "a rollout has no segment");
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
