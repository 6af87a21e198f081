#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "embedding_tables.h"
#include "engine.h"
#include "thread_pool.h"
#include "vector_math.h"

namespace agentgym {

/// Elementwise work below this is not worth waking a thread for; above it is cut into blocks.
constexpr int64_t kParallelElements = 1 << 17;

/// body(first, count) over blocks of a long array, in parallel where that pays. Blocks depend on the number of threads.
template <typename Body>
void OverElements(ThreadPool& pool, int64_t size, Body body) {
  const int64_t blocks = size < kParallelElements ? 1 : pool.threads();
  const int64_t block = Padded((size + blocks - 1) / blocks);
  pool.Run(blocks, [&](int64_t i, int) {
    if (i * block < size) body(i * block, std::min(block, size - i * block));
  });
}

/// The gradient in the order of the flat weight buffer, its norm, and the step that it makes. What token embeddings have of
/// it is kept by their tables.
class FlatGradient {
 public:
  FlatGradient(const Policy& policy, TrainingState& state, ThreadPool& pool);

  float* data() { return values_.data(); }
  const std::vector<float>& values() const { return values_; }

  /// Of the actor's (0) or the critic's (1) token embeddings.
  EmbeddingTables& tables(int64_t network) { return tables_[network]; }

  /// To be called when the optimizer's moments were changed from outside.
  void Forget();

  /// Takes a gradient from elsewhere.
  void Replace(const float* gradient);

  double Norm();
  void Step(const OptimizerStep& step);

 private:
  void FindDenseBlocks();

  template <typename Body>
  void OverDense(Body body);

  const Policy& policy_;
  TrainingState& state_;
  ThreadPool& pool_;
  std::vector<float> values_;
  std::vector<EmbeddingTables> tables_;        // of actor and critic
  std::vector<EmbeddingTables::Range> dense_;  // blocks of all other trainable weights
  int64_t dense_size_ = 0;
  std::vector<double> squares_;  // of each block
};

}  // namespace agentgym
