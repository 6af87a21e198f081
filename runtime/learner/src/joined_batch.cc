#include "joined_batch.h"

#include <numeric>

namespace agentgym {

namespace {

/// By row of this process's batch: its row among all. `first` and `all` count rows.
std::vector<int64_t> JoinedRows(const Policy& policy, const std::vector<Segment>& rollout, int64_t size, int64_t first,
                                int64_t all) {
  std::vector<int64_t> rows(size);
  const bool by_environment = policy.memory > 0 || rollout[0].lengths != nullptr;
  if (by_environment) {
    std::iota(rows.begin(), rows.end(), first);
    return rows;
  }
  // [steps, environments]: the processes' environments lie side by side in every step.
  const int64_t steps = rollout[0].steps, own = size / steps, environments = all / steps;
  for (int64_t i = 0; i < size; ++i) rows[i] = i / own * environments + first / steps + i % own;
  return rows;
}

/// A mark at the first row of each sequence is all that the others must know of them.
std::vector<Sequence> JoinedSequences(const Batch& batch, int64_t first, int64_t all, RankGroup& ranks) {
  std::vector<uint8_t> starts(batch.size, 0);
  for (const Sequence& sequence : batch.sequences) starts[sequence.first] = 1;
  starts = ranks.Join(starts, first, all);
  std::vector<Sequence> sequences;
  for (int64_t row = 0; row < all; ++row) {
    if (starts[row] != 0) sequences.push_back({row, 0, -1});
    ++sequences.back().length;
  }
  return sequences;
}

}  // namespace

JoinedBatch::JoinedBatch(const Policy& policy, const std::vector<Segment>& rollout, const Batch& batch, RankGroup& ranks) {
  const RankPlace& place = ranks.place();
  std::vector<double> sizes(place.size, 0.0);
  sizes[place.rank] = static_cast<double>(batch.size);
  ranks.Sum(sizes);
  const auto first = static_cast<int64_t>(std::accumulate(sizes.begin(), sizes.begin() + place.rank, 0.0));
  const auto all = static_cast<int64_t>(std::accumulate(sizes.begin(), sizes.end(), 0.0));
  Require(all <= INT32_MAX, "a rollout has more than 2^31 samples");
  const std::vector<int64_t> rows = JoinedRows(policy, rollout, batch.size, first, all);
  own_.assign(all, -1);
  advantages_.assign(all, 0.0f);
  returns_.assign(all, 0.0f);
  for (int64_t i = 0; i < batch.size; ++i) {
    own_[rows[i]] = static_cast<int32_t>(i);
    advantages_[rows[i]] = batch.advantages[i];
    returns_[rows[i]] = batch.returns[i];
  }
  ranks.Sum(advantages_);
  ranks.Sum(returns_);
  if (policy.memory > 0) sequences_ = JoinedSequences(batch, first, all, ranks);
}

const std::vector<int32_t>& JoinedBatch::OwnRows(const int32_t* rows, int64_t count) {
  taken_.clear();
  for (int64_t i = 0; i < count; ++i) {
    if (own_[rows[i]] >= 0) taken_.push_back(own_[rows[i]]);
  }
  return taken_;
}

}  // namespace agentgym
