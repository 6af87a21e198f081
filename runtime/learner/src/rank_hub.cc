#include "rank_hub.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "autograd_library.h"

namespace agentgym {

namespace {

constexpr std::chrono::milliseconds kBeat{1000};
constexpr double kPatienceSeconds = 30;

/// Errors of c10d have a stack of C++ after their first line.
std::string FirstLine(const std::exception& error) {
  const std::string text(error.what());
  return text.substr(0, text.find('\n'));
}

}  // namespace

struct RankHub::State {
  State(int ranks, bool relay) : descriptor(RankMemory::Create(ranks, relay)), memory(descriptor) {}
  ~State() { close(descriptor); }

  /// Takes part in the barriers of RankGroup::SumPiece, and adds up over the machines between the last two.
  void Relay() {
    try {
      for (;;) {
        memory.Wait();
        const RankMemory::Piece piece = memory.Agreed();
        memory.Wait();
        hosts->Sum(piece.type, memory.result(), piece.bytes / BytesOf(piece.type));
        memory.Wait();
      }
    } catch (const std::exception& error) {
      memory.Abort("another host of the run was lost: " + FirstLine(error));
    }
  }

  void Watch() {
    while (!memory.aborted()) {
      try {
        if (const auto lost = hosts->FindLost(kPatienceSeconds)) {
          return memory.Abort("host " + std::to_string(*lost) + " of the run did not answer for 30 s");
        }
      } catch (const std::exception& error) {
        return memory.Abort("the rendezvous of the run was lost: " + FirstLine(error));
      }
      std::this_thread::sleep_for(kBeat);
    }
  }

  int descriptor;
  RankMemory memory;
  std::unique_ptr<HostGroup> hosts;
};

RankHub::RankHub(int ranks, bool several_hosts) : state_(std::make_shared<State>(ranks, several_hosts)) {}

RankHub::~RankHub() { Abort("the run has ended"); }

int RankHub::descriptor() const { return state_->descriptor; }

std::vector<std::string> RankHub::JoinHosts(const HostPlace& place, const std::string& greeting) {
  Require(state_->memory.relay() && state_->hosts == nullptr, "hosts meet once");
  state_->hosts = LoadAutogradLibrary().join_hosts(place, greeting);
  std::thread([state = state_] { state->Relay(); }).detach();
  std::thread([state = state_] { state->Watch(); }).detach();
  return state_->hosts->greetings();
}

void RankHub::Abort(const std::string& reason) { state_->memory.Abort(reason); }

}  // namespace agentgym
