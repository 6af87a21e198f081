#pragma once

#include <optional>
#include <vector>

#include "engine.h"
#include "rank_group.h"
#include "rollout.h"

namespace agentgym {

/// The batch of one process among those of all: rows in the order in which a single process that plays every environment
/// would have them. So minibatches are the same whatever the number of processes, and each computes its share of them.
class JoinedBatch {
 public:
  /// `rollout` is what `batch` was made of. All processes take part.
  JoinedBatch(const Policy& policy, const std::vector<Segment>& rollout, const Batch& batch, RankGroup& ranks);

  int64_t size() const { return static_cast<int64_t>(own_.size()); }
  /// Of a policy with memory, by rows of all processes.
  const std::vector<Sequence>& sequences() const { return sequences_; }
  /// Of all processes.
  const std::vector<float>& advantages() const { return advantages_; }
  const std::vector<float>& returns() const { return returns_; }

  /// Those of the given rows that are this process's, as rows of its own batch and in the same order.
  const std::vector<int32_t>& OwnRows(const int32_t* rows, int64_t count);

 private:
  std::vector<int32_t> own_;  // by row of all: the row of this process's batch, or -1
  std::vector<Sequence> sequences_;
  std::vector<float> advantages_;
  std::vector<float> returns_;
  std::vector<int32_t> taken_;
};

}  // namespace agentgym
