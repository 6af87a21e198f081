#include "rank_memory.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <thread>

namespace agentgym {

namespace {

constexpr uint32_t kMagic = 0x4b4e5231;  // "1RNK"
constexpr int kMostRanks = 256;
constexpr int64_t kHeaderBytes = 8192;
constexpr int64_t kReasonBytes = 512;
/// Most waits are short; a core that waits longer is one that another process could use.
constexpr int kSpins = 50;
constexpr long kSliceNs = 50'000'000;

int64_t MemoryBytes(int ranks) { return kHeaderBytes + (ranks + 1) * RankMemory::kSlotBytes; }

/// Between processes, so none of the private kind that std::atomic's wait has.
void FutexWait(std::atomic<uint32_t>& word, uint32_t value) {
  const timespec slice{0, kSliceNs};
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT, value, &slice, nullptr, 0);
}

void FutexWake(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

}  // namespace

struct RankMemory::Header {
  uint32_t magic;
  uint32_t ranks;
  uint32_t relay;
  std::atomic<uint32_t> arrived;
  std::atomic<uint32_t> generation;
  std::atomic<uint32_t> aborted;
  char reason[kReasonBytes];
  struct {
    uint32_t type;
    uint32_t bytes;
  } announced[kMostRanks];
};

int RankMemory::Create(int ranks, bool relay) {
  static_assert(sizeof(Header) <= kHeaderBytes);
  Require(ranks > 0 && ranks <= kMostRanks, "ranks");
  const int descriptor = memfd_create("agentgym-ranks", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, MemoryBytes(ranks)) != 0) {
    throw LearnerFailure("setup_incomplete", std::string("memory for several processes cannot be made: ") + strerror(errno));
  }
  void* mapped = mmap(nullptr, kHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  Require(mapped != MAP_FAILED, "the memory of ranks cannot be mapped");
  auto* header = static_cast<Header*>(mapped);
  header->ranks = static_cast<uint32_t>(ranks);
  header->relay = relay ? 1 : 0;
  header->magic = kMagic;
  munmap(mapped, kHeaderBytes);
  return descriptor;
}

RankMemory::RankMemory(int descriptor) {
  struct stat file {};
  const bool found = fstat(descriptor, &file) == 0 && file.st_size > kHeaderBytes;
  void* mapped = found ? mmap(nullptr, file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  if (mapped == MAP_FAILED) throw LearnerFailure("setup_incomplete", "the memory of the run's processes is missing");
  header_ = static_cast<Header*>(mapped);
  size_ = file.st_size;
  Require(header_->magic == kMagic && size_ == MemoryBytes(ranks()), "the memory of ranks is of another kind");
}

RankMemory::~RankMemory() { munmap(header_, size_); }

// Every process can write the header, so what it says is never trusted as an address.
int RankMemory::ranks() const { return std::clamp(static_cast<int>(header_->ranks), 1, kMostRanks); }

bool RankMemory::relay() const { return header_->relay != 0; }

uint8_t* RankMemory::slot(int rank) const {
  Require(rank >= 0 && kHeaderBytes + (rank + 2) * kSlotBytes <= size_, "a slot beyond the memory of ranks");
  return reinterpret_cast<uint8_t*>(header_) + kHeaderBytes + (rank + 1) * kSlotBytes;
}

uint8_t* RankMemory::result() const { return reinterpret_cast<uint8_t*>(header_) + kHeaderBytes; }

void RankMemory::Announce(int rank, SumType type, int64_t bytes) {
  header_->announced[rank] = {static_cast<uint32_t>(type), static_cast<uint32_t>(bytes)};
}

RankMemory::Piece RankMemory::Agreed() const {
  const auto first = header_->announced[0];
  for (int rank = 1; rank < ranks(); ++rank) {
    const auto other = header_->announced[rank];
    Require(other.type == first.type && other.bytes == first.bytes, "ranks are at different places of the run");
  }
  Require(first.type <= 2 && first.bytes <= kSlotBytes, "a piece beyond the memory of ranks");
  return {static_cast<SumType>(first.type), first.bytes};
}

void RankMemory::Wait() {
  const uint32_t generation = header_->generation.load();
  if (aborted()) FailAborted();
  const uint32_t all = static_cast<uint32_t>(ranks()) + (relay() ? 1 : 0);
  if (header_->arrived.fetch_add(1) + 1 >= all) {
    header_->arrived.store(0);
    header_->generation.fetch_add(1);
    FutexWake(header_->generation);
    return;
  }
  for (int spin = 0; spin < kSpins; ++spin) {
    if (header_->generation.load() != generation) return;
    std::this_thread::yield();
  }
  while (header_->generation.load() == generation) {
    if (aborted()) FailAborted();
    FutexWait(header_->generation, generation);
  }
}

void RankMemory::Abort(const std::string& reason) {
  if (aborted()) return;
  std::strncpy(header_->reason, reason.c_str(), kReasonBytes - 1);
  header_->aborted.store(1);
  FutexWake(header_->generation);
}

bool RankMemory::aborted() const { return header_->aborted.load() != 0; }

void RankMemory::FailAborted() const {
  const std::string reason(header_->reason, strnlen(header_->reason, kReasonBytes));
  throw LearnerFailure("rank_lost", reason);
}

}  // namespace agentgym
