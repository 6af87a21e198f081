#include "running_statistics.h"

namespace agentgym {

void RunningStatistics::Merge(const float* rows, int64_t rows_count, int64_t stride,
                              const std::vector<int64_t>& columns) {
  if (rows_count == 0) return;
  const size_t size = columns.size();
  std::vector<double> batch_mean(size, 0.0), batch_squares(size, 0.0);
  for (int64_t row = 0; row < rows_count; ++row) {
    for (size_t i = 0; i < size; ++i) batch_mean[i] += rows[row * stride + columns[i]];
  }
  for (double& value : batch_mean) value /= static_cast<double>(rows_count);
  for (int64_t row = 0; row < rows_count; ++row) {
    for (size_t i = 0; i < size; ++i) {
      const double deviation = rows[row * stride + columns[i]] - batch_mean[i];
      batch_squares[i] += deviation * deviation;
    }
  }
  const double total = count + static_cast<double>(rows_count);
  const double weight = static_cast<double>(rows_count) / total;
  for (size_t i = 0; i < size; ++i) {
    const double difference = batch_mean[i] - mean[i];
    mean[i] += difference * weight;
    squares[i] += batch_squares[i] + difference * difference * count * weight;
  }
  count = total;
}

}  // namespace agentgym
