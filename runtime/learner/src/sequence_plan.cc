#include "sequence_plan.h"

#include <algorithm>
#include <numeric>

#include "learner_failure.h"

namespace agentgym {

SequencePlan PlanSequences(const std::vector<Sequence>& sequences) {
  SequencePlan plan;
  plan.order.resize(sequences.size());
  std::iota(plan.order.begin(), plan.order.end(), 0);
  std::stable_sort(plan.order.begin(), plan.order.end(),
                   [&](int64_t a, int64_t b) { return sequences[a].length > sequences[b].length; });
  for (int64_t step = 0;; ++step) {
    int64_t size = 0;
    for (const int64_t i : plan.order) {
      if (sequences[i].length <= step) break;
      plan.rows.push_back(static_cast<int32_t>(sequences[i].first + step));
      ++size;
    }
    if (size == 0) break;
    plan.sizes.push_back(size);
  }
  return plan;
}

std::vector<SequenceChunk> ChunkSequences(const std::vector<Sequence>& sequences) {
  constexpr int64_t kMostChunks = 32, kSequences = 32, kRows = 4096;
  const auto count = static_cast<int64_t>(sequences.size());
  int64_t rows = 0;
  for (const Sequence& sequence : sequences) rows += sequence.length;
  const int64_t most_sequences = std::max(kSequences, (count + kMostChunks - 1) / kMostChunks);
  const int64_t most_rows = std::max(kRows, 2 * rows / kMostChunks);
  std::vector<SequenceChunk> chunks;
  int64_t rows_in_chunk = 0;
  for (int64_t i = 0; i < count; ++i) {
    const bool full = !chunks.empty() && (static_cast<int64_t>(chunks.back().sequences.size()) >= most_sequences ||
                                          rows_in_chunk >= most_rows);
    if (chunks.empty() || full) {
      chunks.push_back({{}, i, {}});
      rows_in_chunk = 0;
    }
    chunks.back().sequences.push_back(sequences[i]);
    rows_in_chunk += sequences[i].length;
  }
  for (SequenceChunk& chunk : chunks) chunk.plan = PlanSequences(chunk.sequences);
  return chunks;
}

std::vector<Sequence> SequencesOf(const Batch& batch, const int32_t* rows, int64_t count) {
  std::vector<Sequence> sequences;
  for (int64_t i = 0; i < count;) {
    const auto found = std::lower_bound(batch.sequences.begin(), batch.sequences.end(), rows[i],
                                        [](const Sequence& one, int64_t row) { return one.first < row; });
    Require(found != batch.sequences.end() && found->first == rows[i] && i + found->length <= count,
            "a minibatch holds a part of a sequence");
    sequences.push_back(*found);
    i += found->length;
  }
  return sequences;
}

}  // namespace agentgym
