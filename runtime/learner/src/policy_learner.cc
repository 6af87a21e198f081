#include "policy_learner.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "autograd_library.h"
#include "initial_weights.h"
#include "learner_failure.h"

namespace agentgym {

PolicyLearner::PolicyLearner(Policy policy, std::optional<Policy> critics, uint64_t seed, EnginePath path, int device,
                             int threads, std::shared_ptr<RankGroup> ranks)
    : policy_(std::move(policy)),
      state_(policy_),
      threads_(std::max(1, threads)),
      device_(device),
      path_(path),
      ranks_(std::move(ranks)) {
  Require(ranks_ == nullptr || policy_.head == Head::kActorCritic, "several processes learn by PPO, A2C or GRPO");
  InitializeWeights(policy_, seed, state_);
  if (path == EnginePath::kAutograd) LoadAutogradLibrary().set_threads(threads_);
  engine_ = MakeEngine(policy_, state_, path, device);
  if (!critics) return;
  critics_ = std::make_unique<SacCritics>(std::move(*critics));
  InitializeWeights(critics_->policy, ~seed, critics_->online.state);
  critics_->target.state.weights = critics_->online.state.weights;
  for (SecondPolicy* networks : {&critics_->online, &critics_->target}) {
    networks->engine = MakeEngine(critics_->policy, networks->state, path, device);
  }
}

std::unique_ptr<Engine> PolicyLearner::MakeEngine(const Policy& policy, TrainingState& state, EnginePath path,
                                                  int device) const {
  std::unique_ptr<Engine> engine;
  switch (path) {
    case EnginePath::kAutograd: engine = LoadAutogradLibrary().make_engine(policy, state, device); break;
    case EnginePath::kFused: engine = MakeFusedEngine(policy, state, threads_); break;
    case EnginePath::kFloat64: engine = LoadAutogradLibrary().make_float64_engine(policy, state); break;
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
  if (critics_ != nullptr) critics_->SetStatistics(policy_, state_);
}

void PolicyLearner::SetState(const uint8_t* bytes, int64_t size) {
  Reader reader(bytes, size);
  DeserializeState(reader, state_);
  TakeOwnEnvironments(state_.running_returns);
  TakeOwnEnvironments(state_.critic_states);
  if (policy_.has_action_values()) {
    const auto target = reader.GetAll<float>(policy_.total_size);
    target_ = MakeSecondPolicy(target.data());
  }
  if (critics_ != nullptr) critics_->Deserialize(reader);
  if (policy_.head != Head::kActorCritic) {
    replay_ = reader.AtEnd() ? nullptr : ReplayBuffer::Deserialize(reader, policy_);
  }
  reader.End();
  engine_->Upload();
}

std::vector<uint8_t> PolicyLearner::SaveState(bool with_replay) const {
  Writer writer;
  if (ranks_ == nullptr) {
    SerializeState(state_, writer);
  } else {
    TrainingState all = state_;
    all.running_returns = JoinByEnvironment(state_.running_returns);
    all.critic_states = JoinByEnvironment(state_.critic_states);
    SerializeState(all, writer);
  }
  if (policy_.has_action_values()) writer.PutAll(target_ == nullptr ? state_.weights : target_->state.weights);
  if (critics_ != nullptr) critics_->Serialize(writer);
  if (with_replay && replay_ != nullptr) replay_->Serialize(writer);
  return std::move(writer.bytes);
}

/// What this process has of its environments, among all. Zeros are what an episode begins with.
std::vector<float> PolicyLearner::JoinByEnvironment(const std::vector<float>& own) const {
  const RankPlace& place = ranks_->place();
  const int64_t width = static_cast<int64_t>(own.size()) / place.environments;
  try {
    return ranks_->Join(own, place.first_environment * width, place.all_environments * width);
  } catch (const LearnerFailure&) {
    std::vector<float> all(place.all_environments * width, 0.0f);
    std::copy(own.begin(), own.end(), all.begin() + place.first_environment * width);
    return all;
  }
}

void PolicyLearner::TakeOwnEnvironments(std::vector<float>& all) const {
  if (ranks_ == nullptr) return;
  const RankPlace& place = ranks_->place();
  const int64_t width = static_cast<int64_t>(all.size()) / place.all_environments;
  const auto first = all.begin() + place.first_environment * width;
  all = std::vector<float>(first, first + place.environments * width);
}

void PolicyLearner::SetReference(const float* weights) { reference_ = MakeSecondPolicy(weights); }

std::unique_ptr<SecondPolicy> PolicyLearner::MakeSecondPolicy(const float* weights) const {
  auto policy = std::make_unique<SecondPolicy>(policy_);
  std::copy_n(weights, policy->state.weights.size(), policy->state.weights.begin());
  policy->engine = MakeEngine(policy_, policy->state, path_, device_);
  return policy;
}

/// Begins as the network itself.
SecondPolicy& PolicyLearner::Target() {
  if (target_ == nullptr) target_ = MakeSecondPolicy(state_.weights.data());
  return *target_;
}

void PolicyLearner::Remember(const std::vector<Segment>& segments, int64_t capacity, bool normalize_observation) {
  const std::vector<Segment>& rollout = merger_.Merge(policy_, segments);
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
  engine_->Upload();
  if (critics_ != nullptr) {
    critics_->SetStatistics(policy_, state_);
    return;
  }
  std::copy(state_.weights.begin() + policy_.trainable_size, state_.weights.end(),
            Target().state.weights.begin() + policy_.trainable_size);
  target_->engine->Upload();
}

std::vector<float> PolicyLearner::Targets(const Update& update) {
  Require(replay_ != nullptr, "the replay buffer is empty");
  std::vector<uint32_t> all(replay_->size());
  std::iota(all.begin(), all.end(), 0);
  Transitions transitions;
  if (const auto* sac = std::get_if<SacUpdate>(&update)) {
    replay_->Gather(all.data(), replay_->size(), 1, sac->gamma, transitions);
    SplitMix64 random(sac->seed);
    return SacTargets(policy_, transitions, sac->entropy_coefficient, *engine_, *critics_, random);
  }
  Require(std::holds_alternative<DqnUpdate>(update), "only DQN and SAC have targets");
  const auto& dqn = std::get<DqnUpdate>(update);
  replay_->Gather(all.data(), replay_->size(), dqn.n_step, dqn.gamma, transitions);
  return DqnTargets(policy_, transitions, dqn.double_q, *engine_, *Target().engine);
}

const std::vector<float>& PolicyLearner::CriticWeights() const {
  Require(critics_ != nullptr, "the policy has no critics of its own");
  return critics_->online.state.weights;
}

void PolicyLearner::SetCriticWeights(const float* weights) {
  Require(critics_ != nullptr, "the policy has no critics of its own");
  for (SecondPolicy* networks : {&critics_->online, &critics_->target}) {
    std::copy_n(weights, critics_->policy.total_size, networks->state.weights.begin());
    networks->engine->Upload();
  }
}

double PolicyLearner::SacGradients(Batch& batch, const SacUpdate& update, EnginePath path, float* actor_gradient,
                                   float* critics_gradient) {
  Require(critics_ != nullptr, "the policy has no critics of its own");
  ValidateRows(policy_, batch.observations.data(), batch.actions.data(), nullptr, batch.size, 0);
  std::unique_ptr<Engine> actor = MakeEngine(policy_, state_, path, kCpu);
  std::unique_ptr<Engine> critics = MakeEngine(critics_->policy, critics_->online.state, path, kCpu);
  std::swap(critics, critics_->online.engine);
  ComputeCriticsGradient(policy_, batch, *critics_);
  critics_->online.engine->ReadGradient(critics_gradient);
  const MinibatchLoss loss = ComputeActorGradient(policy_, batch, update.entropy_coefficient, *actor, *critics_);
  actor->ReadGradient(actor_gradient);
  std::swap(critics, critics_->online.engine);
  return EntropyCoefficientGradient(loss.entropy, update.target_entropy);
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

UpdateMetrics PolicyLearner::RunUpdate(const std::vector<Segment>& segments, const Update& update) {
  const TrainingState backup = state_;
  std::optional<SacCritics::Learned> learned;
  if (critics_ != nullptr) learned = critics_->Save();
  try {
    if (const auto* sac = std::get_if<SacUpdate>(&update)) {
      Require(replay_ != nullptr && critics_ != nullptr, "the replay buffer is empty");
      return RunSacUpdate(policy_, *sac, *replay_, *engine_, state_, *critics_);
    }
    if (const auto* dqn = std::get_if<DqnUpdate>(&update)) {
      Require(replay_ != nullptr, "the replay buffer is empty");
      return RunDqnUpdate(policy_, *dqn, *replay_, *engine_, state_, Target());
    }
    const std::vector<Segment>& rollout = merger_.Merge(policy_, segments);
    Require(!rollout.empty(), "a rollout has no segment");
    if (const auto* ppo = std::get_if<PpoUpdate>(&update)) {
      return RunPpoUpdate(policy_, rollout, *ppo, *engine_, state_, batch_, ranks_.get());
    }
    Engine* reference = reference_ == nullptr ? nullptr : reference_->engine.get();
    return RunGrpoUpdate(policy_, rollout, std::get<GrpoUpdate>(update), *engine_, reference, state_, batch_,
                         ranks_.get());
  } catch (...) {
    Restore(backup);
    if (learned) critics_->Restore(*learned);
    throw;
  }
}

const Batch& PolicyLearner::Advantages(const std::vector<Segment>& segments, const Update& update) {
  const std::vector<Segment>& rollout = merger_.Merge(policy_, segments);
  Require(!rollout.empty(), "a rollout has no segment");
  if (const auto* grpo = std::get_if<GrpoUpdate>(&update)) {
    PrepareGrpoBatch(policy_, rollout, *grpo, batch_);
    return batch_;
  }
  TrainingState statistics = state_;
  PreparePpoBatch(policy_, rollout, std::get<PpoUpdate>(update), *engine_, statistics, batch_, ranks_.get());
  return batch_;
}

void PolicyLearner::Gradient(const Batch& batch, const LossSettings& settings, EnginePath path, float* gradient) {
  ValidateRows(policy_, batch.observations.data(), batch.actions.data(),
               batch.masks.empty() ? nullptr : batch.masks.data(), batch.size, 0);
  std::unique_ptr<Engine> other;
  if (path != path_) other = MakeEngine(policy_, state_, path, kCpu);
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
