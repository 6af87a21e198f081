#pragma once

#include <cstdint>
#include <vector>

#include "rollout.h"

namespace agentgym {

/// Sequences side by side, the longest first, so that the rows of a step of time are neighbours and the sequences that go
/// on are the first of them: what libtorch calls a packed sequence.
struct SequencePlan {
  std::vector<int32_t> rows;      // step after step: where each row came from
  std::vector<int64_t> sizes;     // rows of each step of time
  std::vector<int64_t> order;     // which of the sequences comes first, second, …
};

SequencePlan PlanSequences(const std::vector<Sequence>& sequences);

/// Neighbouring sequences that go through a network together.
struct SequenceChunk {
  std::vector<Sequence> sequences;
  int64_t first_sequence;
  SequencePlan plan;
};

/// Cuts sequences into at most 32 chunks, of 32 sequences and of 4,096 rows where that is enough.
std::vector<SequenceChunk> ChunkSequences(const std::vector<Sequence>& sequences);

/// The sequences that some rows of a batch are made of; they must be whole.
std::vector<Sequence> SequencesOf(const Batch& batch, const int32_t* rows, int64_t count);

}  // namespace agentgym
