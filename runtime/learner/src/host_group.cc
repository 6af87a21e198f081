#include "host_group.h"

#include "learner_failure.h"

#ifdef AGENTGYM_C10D

#include <ATen/ATen.h>
#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace agentgym {

namespace {

using Milliseconds = std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// A machine that is cut off is found by FindLost. This only ends what nothing else ends.
constexpr Milliseconds kSumTimeout{30 * 60 * 1000};

Milliseconds FromSeconds(double seconds) { return Milliseconds(static_cast<int64_t>(seconds * 1000)); }

std::vector<uint8_t> BytesOfText(const std::string& text) { return {text.begin(), text.end()}; }

/// The address by which this machine reaches the meeting point, and so the one by which the others reach it.
std::string OwnAddress(const HostPlace& place) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_DGRAM;
  if (getaddrinfo(place.address.c_str(), std::to_string(place.port).c_str(), &hints, &found) != 0) {
    throw LearnerFailure("rank_lost", "the rendezvous host " + place.address + " is not known");
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> release(found, freeaddrinfo);
  sockaddr_storage own{};
  socklen_t size = sizeof(own);
  char text[NI_MAXHOST] = "";
  const int descriptor = socket(found->ai_family, SOCK_DGRAM, 0);
  const bool known = descriptor >= 0 && connect(descriptor, found->ai_addr, found->ai_addrlen) == 0 &&
                     getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
                     getnameinfo(reinterpret_cast<sockaddr*>(&own), size, text, sizeof(text), nullptr, 0, NI_NUMERICHOST) == 0;
  if (descriptor >= 0) close(descriptor);
  if (!known) throw LearnerFailure("rank_lost", "no network leads to the rendezvous host " + place.address);
  return text;
}

c10::intrusive_ptr<c10d::TCPStore> OpenStore(const HostPlace& place, bool server) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(place.port);
  options.isServer = server;
  options.waitWorkers = false;
  options.timeout = FromSeconds(place.timeout_seconds);
  return c10::make_intrusive<c10d::TCPStore>(place.address, options);
}

class GlooHosts final : public HostGroup {
 public:
  GlooHosts(const HostPlace& place, const std::string& greeting)
      : place_(place), store_(OpenStore(place, place.host == 0)), beats_(OpenStore(place, false)) {
    store_->set(Key("greeting", place.host), BytesOfText(greeting));
    for (int host = 0; host < place.hosts; ++host) {
      const std::vector<uint8_t> said = store_->get(Key("greeting", host));
      greetings_.emplace_back(said.begin(), said.end());
    }
    auto options = c10d::ProcessGroupGloo::Options::create(kSumTimeout);
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(OwnAddress(place)));
    const auto addresses = c10::make_intrusive<c10d::PrefixStore>(Key("gloo", 0), store_);
    group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(addresses, place.host, place.hosts, options);
    if (!place.proofs.empty()) CheckProofs();
    heard_.assign(place.hosts, {0, Clock::now()});
  }

  const std::vector<std::string>& greetings() const override { return greetings_; }

  void Sum(SumType type, void* values, int64_t count) override {
    const auto kind = type == SumType::kFloat ? at::kFloat : type == SumType::kDouble ? at::kDouble : at::kByte;
    std::vector<at::Tensor> tensors{at::from_blob(values, {count}, kind)};
    group_->allreduce(tensors)->wait();
  }

  std::optional<int> FindLost(double patience_seconds) override {
    beats_->add(Key("beat", place_.host), 1);
    for (int host = 0; host < place_.hosts; ++host) {
      const int64_t beats = beats_->add(Key("beat", host), 0);
      auto& [known, since] = heard_[host];
      if (beats != known) {
        known = beats;
        since = Clock::now();
      }
      if (std::chrono::duration<double>(Clock::now() - since).count() > patience_seconds) return host;
    }
    return std::nullopt;
  }

 private:
  /// The store answers whoever reaches it, and lists no keys: with a secret, only who knows it finds any.
  std::string Key(const char* name, int host) const { return place_.secret + name + "/" + std::to_string(host); }

  /// Gloo takes the first connection that comes: it must be from a machine of the run.
  void CheckProofs() {
    const int64_t bytes = static_cast<int64_t>(place_.proofs[0].size());
    std::vector<at::Tensor> own{at::empty({bytes}, at::kByte)};
    std::memcpy(own[0].data_ptr(), place_.proofs[place_.host].data(), bytes);
    std::vector<std::vector<at::Tensor>> shown(1);
    for (int host = 0; host < place_.hosts; ++host) shown[0].push_back(at::zeros({bytes}, at::kByte));
    group_->allgather(shown, own)->wait();
    for (int host = 0; host < place_.hosts; ++host) {
      if (std::memcmp(shown[0][host].data_ptr(), place_.proofs[host].data(), bytes) != 0) {
        throw LearnerFailure("rank_lost", "host " + std::to_string(host) + " does not know the secret of the run");
      }
    }
  }

  HostPlace place_;
  c10::intrusive_ptr<c10d::TCPStore> store_;
  c10::intrusive_ptr<c10d::TCPStore> beats_;  // a connection of its own: the other may wait in an operation
  std::vector<std::string> greetings_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
  std::vector<std::pair<int64_t, Clock::time_point>> heard_;
};

}  // namespace

std::unique_ptr<HostGroup> JoinHosts(const HostPlace& place, const std::string& greeting) {
  try {
    return std::make_unique<GlooHosts>(place, greeting);
  } catch (const LearnerFailure&) {
    throw;
  } catch (const std::exception& error) {
    const std::string reason(error.what());
    throw LearnerFailure("rank_lost", "the hosts did not meet at " + place.address + ":" + std::to_string(place.port) +
                                          ": " + reason.substr(0, reason.find('\n')));
  }
}

}  // namespace agentgym

#else

namespace agentgym {

std::unique_ptr<HostGroup> JoinHosts(const HostPlace&, const std::string&) {
  throw LearnerFailure("setup_incomplete",
                       "training over several hosts needs Gloo, whose headers were missing when the learner was built "
                       "(Debian: apt-get install libgloo-dev, then sh runtime/learner/build.sh)");
}

}  // namespace agentgym

#endif
