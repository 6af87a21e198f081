#pragma once

#include <cstdint>
#include <string>

#include "learner_failure.h"

namespace agentgym {

/// What the processes of a run add up.
enum class SumType : uint32_t { kFloat = 0, kDouble = 1, kByte = 2 };

inline int64_t BytesOf(SumType type) { return type == SumType::kFloat ? 4 : type == SumType::kDouble ? 8 : 1; }

/// Memory that the processes of one machine share: a barrier, a slot for each process and one for the sum. The supervisor
/// makes it; a job maps the descriptor that it was started with. Behind its walls a job has no network, so this is all that
/// it knows of the others, and numbers are all that it can tell them.
class RankMemory {
 public:
  /// Bytes of a slot. More is added up in pieces.
  static constexpr int64_t kSlotBytes = 4 << 20;

  /// Makes the memory of `ranks` processes; with `relay`, a thread of the supervisor takes part in every barrier.
  static int Create(int ranks, bool relay);

  /// Fails with setup_incomplete where the descriptor is none of Create's.
  explicit RankMemory(int descriptor);
  ~RankMemory();
  RankMemory(const RankMemory&) = delete;
  RankMemory& operator=(const RankMemory&) = delete;

  int ranks() const;
  bool relay() const;
  uint8_t* slot(int rank) const;
  uint8_t* result() const;

  /// What a process adds next; Agreed fails where the processes of this machine differ in it.
  void Announce(int rank, SumType type, int64_t bytes);
  struct Piece {
    SumType type;
    int64_t bytes;
  };
  Piece Agreed() const;

  /// Waits for all. Fails with rank_lost once a process has left.
  void Wait();

  /// Every wait ends with rank_lost, now and later. The first reason stays.
  void Abort(const std::string& reason);
  bool aborted() const;

 private:
  struct Header;
  [[noreturn]] void FailAborted() const;

  Header* header_;
  int64_t size_;
};

}  // namespace agentgym
