#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "rank_memory.h"

namespace agentgym {

/// Where a process stands among those that train together, and what it plays.
struct RankPlace {
  int local;                  // among the processes of its machine
  int rank;                   // among all
  int size;                   // of all
  int64_t first_environment;  // what it plays of all environments
  int64_t environments;
  int64_t all_environments;
};

/// The processes that learn from one rollout together, as one of them sees them. All must call the same methods in the same
/// order. The sums are the same bits in every process: they are taken once, in the order of the ranks.
class RankGroup {
 public:
  RankGroup(int descriptor, const RankPlace& place) : memory_(descriptor), place_(place) {
    Require(place.local >= 0 && place.local < memory_.ranks() && place.rank >= 0 && place.rank < place.size, "a rank");
  }

  const RankPlace& place() const { return place_; }

  /// Replaces each value by the sum over all processes. Fails with rank_lost where one has left.
  void Sum(std::vector<float>& values) { SumBytes(values.data(), SumType::kFloat, values.size() * sizeof(float)); }
  void Sum(std::vector<double>& values) { SumBytes(values.data(), SumType::kDouble, values.size() * sizeof(double)); }
  void Sum(std::vector<uint8_t>& values) { SumBytes(values.data(), SumType::kByte, values.size()); }

  /// Everyone's bytes, by rank.
  std::vector<std::vector<uint8_t>> Share(const std::vector<uint8_t>& own);

  /// Everyone's values one after another, where this process has those from `first` on out of `all`.
  template <typename Value>
  std::vector<Value> Join(const std::vector<Value>& own, int64_t first, int64_t all) {
    std::vector<Value> joined(all, Value{});
    Require(first >= 0 && first + static_cast<int64_t>(own.size()) <= all, "a part of a joined array");
    std::copy(own.begin(), own.end(), joined.begin() + first);
    Sum(joined);
    return joined;
  }

 private:
  void SumBytes(void* values, SumType type, int64_t bytes);
  void SumPiece(uint8_t* values, SumType type, int64_t bytes);

  RankMemory memory_;
  RankPlace place_;
};

}  // namespace agentgym
