#include <malloc.h>
#include <napi.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "autograd_library.h"
#include "binding_failure.h"
#include "binding_ranks.h"
#include "binding_values.h"
#include "learner_failure.h"
#include "matrix_kernels.h"
#include "policy_learner.h"

namespace agentgym {

namespace {

EnginePath ReadPath(const Napi::Value& value) {
  const std::string path = value.As<Napi::String>().Utf8Value();
  if (path == "fused") return EnginePath::kFused;
  if (path == "float64") return EnginePath::kFloat64;
  Require(path == "autograd", "path");
  return EnginePath::kAutograd;
}

/// Runs one update on libuv's pool, so that the main thread's heartbeat goes on. Holds the rollout's arrays meanwhile.
class UpdateWorker final : public Napi::AsyncWorker {
 public:
  UpdateWorker(Napi::Env env, std::shared_ptr<PolicyLearner> learner, std::shared_ptr<bool> busy,
               const Napi::Array& rollout, agentgym::Update update)
      : AsyncWorker(env),
        deferred_(Napi::Promise::Deferred::New(env)),
        learner_(std::move(learner)),
        busy_(std::move(busy)),
        arrays_(Napi::Persistent(rollout.As<Napi::Object>())),
        rollout_(ReadRollout(rollout, learner_->policy())),
        update_(std::move(update)) {
    *busy_ = true;
  }

  Napi::Promise Promise() const { return deferred_.Promise(); }

  void Execute() override {
    try {
      metrics_ = learner_->RunUpdate(rollout_, update_);
    } catch (const LearnerFailure& failure) {
      failure_ = failure;
      SetError(failure.what());
    } catch (const std::exception& error) {
      SetError(error.what());
    }
  }

  void OnOK() override {
    *busy_ = false;
    deferred_.Resolve(WriteMetrics(Env(), metrics_));
  }

  void OnError(const Napi::Error& error) override {
    *busy_ = false;
    deferred_.Reject(failure_ ? ToError(Env(), *failure_).Value() : error.Value());
  }

 private:
  Napi::Promise::Deferred deferred_;
  std::shared_ptr<PolicyLearner> learner_;
  std::shared_ptr<bool> busy_;
  Napi::ObjectReference arrays_;
  std::vector<Segment> rollout_;
  agentgym::Update update_;
  UpdateMetrics metrics_;
  std::optional<LearnerFailure> failure_;
};

class NativeLearner final : public Napi::ObjectWrap<NativeLearner> {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "NativeLearner",
                       {InstanceMethod<&NativeLearner::Weights>("weights"),
                        InstanceMethod<&NativeLearner::SetWeights>("setWeights"),
                        InstanceMethod<&NativeLearner::SetReference>("setReference"),
                        InstanceMethod<&NativeLearner::Forward>("forward"),
                        InstanceMethod<&NativeLearner::ForwardSequences>("forwardSequences"),
                        InstanceMethod<&NativeLearner::Update>("update"),
                        InstanceMethod<&NativeLearner::Remember>("remember"),
                        InstanceMethod<&NativeLearner::Remembered>("remembered"),
                        InstanceMethod<&NativeLearner::Targets>("targets"),
                        InstanceMethod<&NativeLearner::Advantages>("advantages"),
                        InstanceMethod<&NativeLearner::Gradient>("gradient"),
                        InstanceMethod<&NativeLearner::SacGradients>("sacGradients"),
                        InstanceMethod<&NativeLearner::CriticWeights>("criticWeights"),
                        InstanceMethod<&NativeLearner::SetCriticWeights>("setCriticWeights"),
                        InstanceMethod<&NativeLearner::State>("state"),
                        InstanceMethod<&NativeLearner::SetState>("setState"),
                        InstanceMethod<&NativeLearner::StartFrom>("startFrom"),
                        InstanceMethod<&NativeLearner::Dispose>("dispose")});
  }

  /// (spec, layout, { seed, path, device, threads, fixed, critics, ranks }); `device` is the number of a GPU, or -1 for the
  /// CPU; `critics` is the layout of SAC's, or null; `ranks` a NativeRanks, or null
  explicit NativeLearner(const Napi::CallbackInfo& info) : ObjectWrap(info), busy_(std::make_shared<bool>(false)) {
    Guard(info.Env(), [&] {
      const auto options = info[2].As<Napi::Object>();
      const auto spec = info[0].As<Napi::Object>();
      Policy policy = ReadPolicy(spec, info[1].As<Napi::Object>());
      const float* fixed = ReadFloats(options.Get("fixed"), policy.statistics_size, "fixed");
      policy.fixed_statistics.assign(fixed, fixed + policy.statistics_size);
      std::optional<Policy> critics;
      const Napi::Value critic_layout = options.Get("critics");
      if (critic_layout.IsObject()) critics = ReadCritics(policy, spec, critic_layout.As<Napi::Object>());
      learner_ = std::make_shared<PolicyLearner>(std::move(policy), std::move(critics),
                                              static_cast<uint64_t>(options.Get("seed").As<Napi::Number>().Int64Value()),
                                              ReadPath(options.Get("path")), options.Get("device").As<Napi::Number>().Int32Value(),
                                              options.Get("threads").As<Napi::Number>().Int32Value(),
                                              ReadRanks(options.Get("ranks")));
    });
  }

 private:
  PolicyLearner& Idle() {
    Require(learner_ != nullptr, "used after dispose()");
    Require(!*busy_, "used while an update runs");
    return *learner_;
  }

  Napi::Value Weights(const Napi::CallbackInfo& info) {
    return Guard(info.Env(), [&]() -> Napi::Value {
      const std::vector<float>& weights = Idle().state().weights;
      return WriteFloats(info.Env(), weights.data(), weights.size());
    });
  }

  void SetWeights(const Napi::CallbackInfo& info) {
    Guard(info.Env(), [&] {
      PolicyLearner& learner = Idle();
      learner.SetWeights(ReadFloats(info[0], learner.policy().total_size, "weights"));
    });
  }

  void StartFrom(const Napi::CallbackInfo& info) {
    Guard(info.Env(), [&] {
      PolicyLearner& learner = Idle();
      learner.StartFrom(ReadFloats(info[0], learner.policy().total_size, "weights"),
                        info[1].As<Napi::Number>().DoubleValue());
    });
  }

  void SetReference(const Napi::CallbackInfo& info) {
    Guard(info.Env(), [&] {
      PolicyLearner& learner = Idle();
      learner.SetReference(ReadFloats(info[0], learner.policy().total_size, "weights"));
    });
  }

  Napi::Value Forward(const Napi::CallbackInfo& info) {
    return Guard(info.Env(), [&]() -> Napi::Value {
      PolicyLearner& learner = Idle();
      const int64_t count = info[1].As<Napi::Number>().Int64Value();
      const float* observations = ReadFloats(info[0], count * learner.policy().observation_size, "observations");
      Napi::Float32Array distribution = Napi::Float32Array::New(info.Env(), count * learner.policy().distribution_size);
      Napi::Float32Array values = Napi::Float32Array::New(info.Env(), count);
      learner.Forward(observations, count, distribution.Data(), values.Data());
      Napi::Object result = Napi::Object::New(info.Env());
      result.Set("distribution", distribution);
      result.Set("values", values);
      return result;
    });
  }

  /// (observations, count, sequences)
  Napi::Value ForwardSequences(const Napi::CallbackInfo& info) {
    return Guard(info.Env(), [&]() -> Napi::Value {
      PolicyLearner& learner = Idle();
      const agentgym::Policy& policy = learner.policy();
      const int64_t count = info[1].As<Napi::Number>().Int64Value();
      const float* observations = ReadFloats(info[0], count * policy.observation_size, "observations");
      Batch batch;
      ReadSequences(info[2], policy, count, batch);
      const auto sequences = static_cast<int64_t>(batch.sequences.size());
      Napi::Float32Array distribution = Napi::Float32Array::New(info.Env(), count * policy.distribution_size);
      Napi::Float32Array values = Napi::Float32Array::New(info.Env(), count);
      Napi::Float32Array states = Napi::Float32Array::New(info.Env(), sequences * 2 * policy.memory);
      std::vector<float> actor(sequences * policy.memory), critic(sequences * policy.memory);
      learner.ForwardSequences({observations, batch.sequences, batch.actor_states.data(), batch.critic_states.data()},
                               count, {distribution.Data(), values.Data(), actor.data(), critic.data()});
      for (int64_t i = 0; i < sequences; ++i) {
        float* row = states.Data() + i * 2 * policy.memory;
        std::copy_n(&actor[i * policy.memory], policy.memory, row);
        std::copy_n(&critic[i * policy.memory], policy.memory, row + policy.memory);
      }
      Napi::Object result = Napi::Object::New(info.Env());
      result.Set("distribution", distribution);
      result.Set("values", values);
      result.Set("states", states);
      return result;
    });
  }

  Napi::Value Update(const Napi::CallbackInfo& info) {
    return Guard(info.Env(), [&]() -> Napi::Value {
      Idle();
      const agentgym::Update update = ReadUpdate(info[1].As<Napi::Object>());
      auto worker = std::make_unique<UpdateWorker>(info.Env(), learner_, busy_, info[0].As<Napi::Array>(), update);
      const Napi::Promise promise = worker->Promise();
      worker.release()->Queue();  // deletes itself when it is done
      return promise;
    });
  }

  /// (rollout, { capacity, normalizeObservation })
  void Remember(const Napi::CallbackInfo& info) {
    Guard(info.Env(), [&] {
      PolicyLearner& learner = Idle();
      const auto rollout = ReadRollout(info[0].As<Napi::Array>(), learner.policy());
      Require(!rollout.empty(), "a rollout has no segment");
      const auto options = info[1].As<Napi::Object>();
      learner.Remember(rollout, options.Get("capacity").As<Napi::Number>().Int64Value(),
                       options.Get("normalizeObservation").As<Napi::Boolean>());
    });
  }

  /// { steps, bytes }
  Napi::Value Remembered(const Napi::CallbackInfo& info) {
    return Guard(info.Env(), [&]() -> Napi::Value {
      const ReplayBuffer* replay = Idle().replay();
      Napi::Object result = Napi::Object::New(info.Env());
      result.Set("steps", static_cast<double>(replay == nullptr ? 0 : replay->size()));
      result.Set("bytes", static_cast<double>(replay == nullptr ? 0 : replay->bytes()));
      return result;
    });
  }

  Napi::Value Targets(const Napi::CallbackInfo& info) {
    return Guard(info.Env(), [&]() -> Napi::Value {
      PolicyLearner& learner = Idle();
      const agentgym::Update update = ReadUpdate(info[0].As<Napi::Object>());
      const std::vector<float> targets = learner.Targets(update);
      return WriteFloats(info.Env(), targets.data(), targets.size());
    });
  }

  Napi::Value Advantages(const Napi::CallbackInfo& info) {
    return Guard(info.Env(), [&]() -> Napi::Value {
      PolicyLearner& learner = Idle();
      const auto rollout = ReadRollout(info[0].As<Napi::Array>(), learner.policy());
      const Batch& batch = learner.Advantages(rollout, ReadUpdate(info[1].As<Napi::Object>()));
      Napi::Object result = Napi::Object::New(info.Env());
      result.Set("values", WriteFloats(info.Env(), batch.values.data(), batch.size));
      result.Set("advantages", WriteFloats(info.Env(), batch.advantages.data(), batch.size));
      result.Set("returns", WriteFloats(info.Env(), batch.returns.data(), batch.size));
      return result;
    });
  }

  Napi::Value Gradient(const Napi::CallbackInfo& info) {
    return Guard(info.Env(), [&]() -> Napi::Value {
      PolicyLearner& learner = Idle();
      const Batch batch = ReadMinibatch(info[0].As<Napi::Object>(), learner.policy());
      const agentgym::Update update = ReadUpdate(info[1].As<Napi::Object>());
      const LossSettings& loss = std::visit([](const auto& one) -> const LossSettings& { return one.loss; }, update);
      Require(loss.kl_coefficient == 0 || !batch.reference_log_probabilities.empty(), "referenceLogProbabilities");
      Napi::Float32Array gradient = Napi::Float32Array::New(info.Env(), learner.policy().trainable_size);
      learner.Gradient(batch, loss, ReadPath(info[2]), gradient.Data());
      return gradient;
    });
  }

  /// (minibatch, update, path)
  Napi::Value SacGradients(const Napi::CallbackInfo& info) {
    return Guard(info.Env(), [&]() -> Napi::Value {
      PolicyLearner& learner = Idle();
      Batch batch = ReadMinibatch(info[0].As<Napi::Object>(), learner.policy());
      const agentgym::Update update = ReadUpdate(info[1].As<Napi::Object>());
      Require(std::holds_alternative<SacUpdate>(update) && !batch.noise.empty(), "an update of SAC, with noise");
      Napi::Float32Array actor = Napi::Float32Array::New(info.Env(), learner.policy().trainable_size);
      // As long as the weights; statistics have no gradient.
      Napi::Float32Array critics = Napi::Float32Array::New(info.Env(), learner.CriticWeights().size());
      const double entropy =
          learner.SacGradients(batch, std::get<SacUpdate>(update), ReadPath(info[2]), actor.Data(), critics.Data());
      Napi::Object result = Napi::Object::New(info.Env());
      result.Set("actor", actor);
      result.Set("critics", critics);
      result.Set("logEntropyCoefficient", entropy);
      return result;
    });
  }

  Napi::Value CriticWeights(const Napi::CallbackInfo& info) {
    return Guard(info.Env(), [&]() -> Napi::Value {
      const std::vector<float>& weights = Idle().CriticWeights();
      return WriteFloats(info.Env(), weights.data(), weights.size());
    });
  }

  void SetCriticWeights(const Napi::CallbackInfo& info) {
    Guard(info.Env(), [&] {
      PolicyLearner& learner = Idle();
      const auto size = static_cast<int64_t>(learner.CriticWeights().size());
      learner.SetCriticWeights(ReadFloats(info[0], size, "weights of the critics"));
    });
  }

  Napi::Value State(const Napi::CallbackInfo& info) {
    return Guard(info.Env(), [&]() -> Napi::Value {
      const std::vector<uint8_t> bytes = Idle().SaveState(info[0].As<Napi::Boolean>());
      Napi::Uint8Array array = Napi::Uint8Array::New(info.Env(), bytes.size());
      std::copy(bytes.begin(), bytes.end(), array.Data());
      return array;
    });
  }

  void SetState(const Napi::CallbackInfo& info) {
    Guard(info.Env(), [&] {
      const auto bytes = info[0].As<Napi::Uint8Array>();
      Idle().SetState(bytes.Data(), static_cast<int64_t>(bytes.ElementLength()));
    });
  }

  void Dispose(const Napi::CallbackInfo&) { learner_.reset(); }

  std::shared_ptr<PolicyLearner> learner_;
  std::shared_ptr<bool> busy_;
};

Napi::Object Initialize(Napi::Env env, Napi::Object exports) {
  if (!ProcessorSuits()) {
    throw Napi::Error::New(env, "it was built for another processor");
  }
  // Tensors above glibc's default threshold (128 kB) would be mapped, faulted in page by page and unmapped again at every
  // operation. 32 MB is the most that glibc takes; the heap's top is kept rather than given back between updates.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
  exports.Set("NativeLearner", NativeLearner::Define(env));
  DefineRanks(env, exports);
  exports.Set("loadAutograd", Napi::Function::New(env, [](const Napi::CallbackInfo& info) {
                Guard(info.Env(), [] { LoadAutogradLibrary(); });
              }));
  // What libtorch can compute on; loads its engine.
  exports.Set("cuda", Napi::Function::New(env, [](const Napi::CallbackInfo& info) -> Napi::Value {
                return Guard(info.Env(), [&]() -> Napi::Value {
                  const AutogradLibrary& library = LoadAutogradLibrary();
                  Napi::Object found = Napi::Object::New(info.Env());
                  found.Set("libtorch", library.libtorch_version);
                  found.Set("built", library.built_with_cuda());
                  found.Set("devices", library.cuda_devices());
                  return found;
                });
              }));
  exports.Set("openDevice", Napi::Function::New(env, [](const Napi::CallbackInfo& info) {
                const int device = info[0].As<Napi::Number>().Int32Value();
                Guard(info.Env(), [&] { LoadAutogradLibrary().open_device(device); });
              }));
  return exports;
}

}  // namespace

}  // namespace agentgym

Napi::Object InitializeModule(Napi::Env env, Napi::Object exports) { return agentgym::Initialize(env, exports); }

NODE_API_MODULE(agentgym_learner, InitializeModule)
