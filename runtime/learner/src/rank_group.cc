#include "rank_group.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace agentgym {

namespace {

/// Adds up this process's part of all slots, rank after rank, into the same part of the result.
template <typename Value>
void SumSlots(const RankMemory& memory, int64_t first, int64_t count) {
  auto* result = reinterpret_cast<Value*>(memory.result()) + first;
  std::copy_n(reinterpret_cast<const Value*>(memory.slot(0)) + first, count, result);
  for (int rank = 1; rank < memory.ranks(); ++rank) {
    const auto* other = reinterpret_cast<const Value*>(memory.slot(rank)) + first;
    for (int64_t i = 0; i < count; ++i) result[i] += other[i];
  }
}

}  // namespace

void RankGroup::SumBytes(void* values, SumType type, int64_t bytes) {
  auto* rest = static_cast<uint8_t*>(values);
  for (int64_t left = bytes; left > 0;) {
    const int64_t piece = std::min(left, RankMemory::kSlotBytes);
    SumPiece(rest, type, piece);
    rest += piece;
    left -= piece;
  }
}

/// Nobody reads slots after the second barrier, nor the result after the first of the next piece: two are enough.
void RankGroup::SumPiece(uint8_t* values, SumType type, int64_t bytes) {
  std::memcpy(memory_.slot(place_.local), values, bytes);
  memory_.Announce(place_.local, type, bytes);
  memory_.Wait();
  Require(memory_.Agreed().bytes == bytes && memory_.Agreed().type == type, "ranks are at different places of the run");
  const int64_t count = bytes / BytesOf(type);
  const int64_t first = count * place_.local / memory_.ranks();
  const int64_t own = count * (place_.local + 1) / memory_.ranks() - first;
  if (type == SumType::kFloat) SumSlots<float>(memory_, first, own);
  if (type == SumType::kDouble) SumSlots<double>(memory_, first, own);
  if (type == SumType::kByte) SumSlots<uint8_t>(memory_, first, own);
  memory_.Wait();
  if (memory_.relay()) memory_.Wait();
  std::memcpy(values, memory_.result(), bytes);
}

std::vector<std::vector<uint8_t>> RankGroup::Share(const std::vector<uint8_t>& own) {
  std::vector<double> lengths(place_.size, 0.0);
  lengths[place_.rank] = static_cast<double>(own.size());
  Sum(lengths);
  const auto before = std::accumulate(lengths.begin(), lengths.begin() + place_.rank, 0.0);
  const auto all = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  const std::vector<uint8_t> joined = Join(own, static_cast<int64_t>(before), static_cast<int64_t>(all));
  std::vector<std::vector<uint8_t>> shared;
  auto from = joined.begin();
  for (const double length : lengths) {
    shared.emplace_back(from, from + static_cast<int64_t>(length));
    from += static_cast<int64_t>(length);
  }
  return shared;
}

}  // namespace agentgym
