#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace agentgym {

/// Mean and variance of a stream of rows, in double precision: a mean of 10,000 must not swallow a small signal.
struct RunningStatistics {
  explicit RunningStatistics(int64_t columns = 0) : mean(columns, 0.0), squares(columns, 0.0) {}

  /// Merges `count` rows of `stride` floats; statistic i is about column `columns[i]`. Batches are merged by Chan, Golub
  /// and LeVeque's formula (1979).
  void Merge(const float* rows, int64_t count, int64_t stride, const std::vector<int64_t>& columns);

  /// Population variance, as VecNormalize has it; 1 before the first row.
  double Variance(int64_t i) const { return count > 0 ? squares[i] / count : 1.0; }

  double count = 0;
  std::vector<double> mean;
  std::vector<double> squares;  // sums of squared deviations from the mean
};

}  // namespace agentgym
