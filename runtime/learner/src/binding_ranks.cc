#include "binding_ranks.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "binding_failure.h"
#include "binding_properties.h"
#include "rank_hub.h"

namespace agentgym {

namespace {

/// Waits for other processes on libuv's pool, so that the main thread's heartbeat goes on.
template <typename Result>
class Waiting final : public Napi::AsyncWorker {
 public:
  Waiting(Napi::Env env, std::function<Result()> wait, std::function<Napi::Value(Napi::Env, const Result&)> write)
      : AsyncWorker(env), deferred_(Napi::Promise::Deferred::New(env)), wait_(std::move(wait)), write_(std::move(write)) {}

  /// Deletes itself when it is done.
  static Napi::Promise Start(Napi::Env env, std::function<Result()> wait,
                             std::function<Napi::Value(Napi::Env, const Result&)> write) {
    auto* waiting = new Waiting(env, std::move(wait), std::move(write));
    waiting->Queue();
    return waiting->deferred_.Promise();
  }

  void Execute() override {
    try {
      result_ = wait_();
    } catch (const LearnerFailure& failure) {
      failure_ = failure;
      SetError(failure.what());
    } catch (const std::exception& error) {
      SetError(error.what());
    }
  }

  void OnOK() override { deferred_.Resolve(write_(Env(), result_)); }

  void OnError(const Napi::Error& error) override {
    deferred_.Reject(failure_ ? ToError(Env(), *failure_).Value() : error.Value());
  }

 private:
  Napi::Promise::Deferred deferred_;
  std::function<Result()> wait_;
  std::function<Napi::Value(Napi::Env, const Result&)> write_;
  Result result_;
  std::optional<LearnerFailure> failure_;
};

class NativeRankHub final : public Napi::ObjectWrap<NativeRankHub> {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "NativeRankHub",
                       {InstanceMethod<&NativeRankHub::Descriptor>("descriptor"),
                        InstanceMethod<&NativeRankHub::JoinHosts>("joinHosts"),
                        InstanceMethod<&NativeRankHub::Abort>("abort"),
                        InstanceMethod<&NativeRankHub::Close>("close")});
  }

  /// (ranks, severalHosts)
  explicit NativeRankHub(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    Guard(info.Env(), [&] {
      hub_ = std::make_shared<RankHub>(info[0].As<Napi::Number>().Int32Value(), info[1].As<Napi::Boolean>());
    });
  }

 private:
  Napi::Value Descriptor(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), hub_->descriptor()); }

  /// ({ address, port, host, hosts, timeoutSeconds, secret?, proofs? }, greeting): a promise of everyone's greetings.
  Napi::Value JoinHosts(const Napi::CallbackInfo& info) {
    return Guard(info.Env(), [&]() -> Napi::Value {
      const auto options = info[0].As<Napi::Object>();
      HostPlace place{ReadString(options, "address"), static_cast<int>(ReadInteger(options, "port")),
                      static_cast<int>(ReadInteger(options, "host")), static_cast<int>(ReadInteger(options, "hosts")),
                      ReadNumber(options, "timeoutSeconds"), {}, {}};
      if (options.Has("secret")) {
        place.secret = ReadString(options, "secret");
        const auto proofs = options.Get("proofs").As<Napi::Array>();
        for (uint32_t i = 0; i < proofs.Length(); ++i) place.proofs.push_back(proofs.Get(i).ToString().Utf8Value());
      }
      const std::string greeting = info[1].As<Napi::String>().Utf8Value();
      using Greetings = std::vector<std::string>;
      return Waiting<Greetings>::Start(
          info.Env(), [hub = hub_, place, greeting] { return hub->JoinHosts(place, greeting); },
          [](Napi::Env env, const Greetings& greetings) -> Napi::Value {
            Napi::Array array = Napi::Array::New(env, greetings.size());
            for (uint32_t i = 0; i < greetings.size(); ++i) array.Set(i, greetings[i]);
            return array;
          });
    });
  }

  void Abort(const Napi::CallbackInfo& info) { hub_->Abort(info[0].As<Napi::String>().Utf8Value()); }

  void Close(const Napi::CallbackInfo&) { hub_.reset(); }

  std::shared_ptr<RankHub> hub_;
};

class NativeRanks final : public Napi::ObjectWrap<NativeRanks> {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "NativeRanks", {InstanceMethod<&NativeRanks::Share>("share")});
  }

  /// (descriptor, { local, rank, size, firstEnvironment, environments, allEnvironments })
  explicit NativeRanks(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    Guard(info.Env(), [&] {
      const auto place = info[1].As<Napi::Object>();
      group = std::make_shared<RankGroup>(
          info[0].As<Napi::Number>().Int32Value(),
          RankPlace{static_cast<int>(ReadInteger(place, "local")), static_cast<int>(ReadInteger(place, "rank")),
                    static_cast<int>(ReadInteger(place, "size")), ReadInteger(place, "firstEnvironment"),
                    ReadInteger(place, "environments"), ReadInteger(place, "allEnvironments")});
    });
  }

  std::shared_ptr<RankGroup> group;

 private:
  /// (bytes): a promise of everyone's, by rank.
  Napi::Value Share(const Napi::CallbackInfo& info) {
    return Guard(info.Env(), [&]() -> Napi::Value {
      const auto bytes = info[0].As<Napi::Uint8Array>();
      using Bytes = std::vector<uint8_t>;
      const Bytes own(bytes.Data(), bytes.Data() + bytes.ElementLength());
      return Waiting<std::vector<Bytes>>::Start(
          info.Env(), [ranks = group, own] { return ranks->Share(own); },
          [](Napi::Env env, const std::vector<Bytes>& shared) -> Napi::Value {
            Napi::Array array = Napi::Array::New(env, shared.size());
            for (uint32_t i = 0; i < shared.size(); ++i) {
              Napi::Uint8Array one = Napi::Uint8Array::New(env, shared[i].size());
              std::copy(shared[i].begin(), shared[i].end(), one.Data());
              array.Set(i, one);
            }
            return array;
          });
    });
  }
};

}  // namespace

void DefineRanks(Napi::Env env, Napi::Object exports) {
  exports.Set("NativeRankHub", NativeRankHub::Define(env));
  exports.Set("NativeRanks", NativeRanks::Define(env));
}

std::shared_ptr<RankGroup> ReadRanks(const Napi::Value& value) {
  if (!value.IsObject()) return nullptr;
  return Napi::ObjectWrap<NativeRanks>::Unwrap(value.As<Napi::Object>())->group;
}

}  // namespace agentgym
