#include "flat_gradient.h"

#include <cmath>
#include <numeric>

namespace agentgym {

namespace {

constexpr int64_t kBlockElements = 1 << 14;

}  // namespace

FlatGradient::FlatGradient(const Policy& policy, TrainingState& state, ThreadPool& pool)
    : policy_(policy), state_(state), pool_(pool), values_(policy.trainable_size, 0.0f) {
  for (const Network* network : {&policy.actor, &policy.critic}) tables_.emplace_back(policy, *network);
  FindDenseBlocks();
}

/// What no embedding table holds of the trainable weights, in blocks.
void FlatGradient::FindDenseBlocks() {
  std::vector<EmbeddingTables::Range> ranges;
  for (const EmbeddingTables& tables : tables_) {
    for (const EmbeddingTables::Range& range : tables.Ranges()) ranges.push_back(range);
  }
  ranges.push_back({policy_.trainable_size, 0});
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  int64_t first = 0;
  for (const EmbeddingTables::Range& range : ranges) {
    dense_size_ += range.first - first;
    for (; first < range.first; first += dense_.back().count) {
      dense_.push_back({first, std::min(kBlockElements, range.first - first)});
    }
    first = range.first + range.count;
  }
}

/// body(block, first, count) over the dense blocks, in parallel where that pays. Blocks are the same for any threads.
template <typename Body>
void FlatGradient::OverDense(Body body) {
  const auto run = [&](int64_t i, int) { body(i, dense_[i].first, dense_[i].count); };
  const auto blocks = static_cast<int64_t>(dense_.size());
  if (dense_size_ >= kParallelElements) return pool_.Run(blocks, run);
  for (int64_t i = 0; i < blocks; ++i) run(i, 0);
}

void FlatGradient::Forget() {
  for (EmbeddingTables& tables : tables_) tables.Forget();
}

void FlatGradient::Replace(const float* gradient) {
  std::copy_n(gradient, values_.size(), values_.begin());
  for (EmbeddingTables& tables : tables_) tables.FindTouched(values_.data());
}

double FlatGradient::Norm() {
  squares_.resize(dense_.size());
  OverDense([&](int64_t i, int64_t first, int64_t count) { squares_[i] = SumOfSquares(&values_[first], count); });
  double total = std::accumulate(squares_.begin(), squares_.end(), 0.0);
  for (const EmbeddingTables& tables : tables_) total += tables.GradientSquares(values_.data());
  return std::sqrt(total);
}

void FlatGradient::Step(const OptimizerStep& step) {
  if (step.optimizer == Optimizer::kRmsprop) {
    if (step.number == 1) std::fill(state_.second_moment.begin(), state_.second_moment.end(), 1.0f);
    OverElements(pool_, policy_.trainable_size, [&](int64_t first, int64_t count) {
      RmspropUpdate(static_cast<float>(step.gradient_scale), static_cast<float>(step.learning_rate), &values_[first],
                    count, &state_.weights[first], &state_.second_moment[first]);
    });
    return;
  }
  const double number = static_cast<double>(step.number);
  const double root = std::sqrt(1 - std::pow(kAdamBeta2, number));
  const AdamFactors factors{
      static_cast<float>(step.gradient_scale),
      static_cast<float>(step.learning_rate * root / (1 - std::pow(kAdamBeta1, number))),
      static_cast<float>(kAdamEpsilon * root),
  };
  OverDense([&](int64_t, int64_t first, int64_t count) {
    AdamUpdate(factors, &values_[first], count, &state_.weights[first], &state_.first_moment[first],
               &state_.second_moment[first]);
  });
  if (policy_.text_leaves == 0) return;
  pool_.Run(policy_.critic.layers.empty() ? 1 : 2, [&](int64_t i, int) {
    tables_[i].Adam(factors, values_.data(), state_.weights.data(), state_.first_moment.data(),
                    state_.second_moment.data());
  });
}

}  // namespace agentgym
