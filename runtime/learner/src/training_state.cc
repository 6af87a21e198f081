#include "training_state.h"

#include <algorithm>

namespace agentgym {

void RunningStatistics::Merge(const float* rows, int64_t rows_count, int64_t stride,
                              const std::vector<int64_t>& columns, RankGroup* ranks) {
  const size_t size = columns.size();
  std::vector<double> batch_mean(size, 0.0), batch_squares(size, 0.0);
  for (int64_t row = 0; row < rows_count; ++row) {
    for (size_t i = 0; i < size; ++i) batch_mean[i] += rows[row * stride + columns[i]];
  }
  double all_rows = static_cast<double>(rows_count);
  if (ranks != nullptr) {
    batch_mean.push_back(all_rows);
    ranks->Sum(batch_mean);
    all_rows = batch_mean.back();
    batch_mean.pop_back();
  }
  if (all_rows == 0) return;
  for (double& value : batch_mean) value /= all_rows;
  for (int64_t row = 0; row < rows_count; ++row) {
    for (size_t i = 0; i < size; ++i) {
      const double deviation = rows[row * stride + columns[i]] - batch_mean[i];
      batch_squares[i] += deviation * deviation;
    }
  }
  if (ranks != nullptr) ranks->Sum(batch_squares);
  const double total = count + all_rows;
  const double weight = all_rows / total;
  for (size_t i = 0; i < size; ++i) {
    const double difference = batch_mean[i] - mean[i];
    mean[i] += difference * weight;
    squares[i] += batch_squares[i] + difference * difference * count * weight;
  }
  count = total;
}

void RunningStatistics::Share(int64_t first, int64_t groups, int64_t columns) {
  for (int64_t column = first; column < first + columns; ++column) {
    double shared_mean = 0, shared_squares = 0;
    for (int64_t i = 0; i < groups; ++i) shared_mean += mean[column + i * columns] / static_cast<double>(groups);
    for (int64_t i = 0; i < groups; ++i) {
      const double difference = mean[column + i * columns] - shared_mean;
      shared_squares += (squares[column + i * columns] + difference * difference * count) / static_cast<double>(groups);
    }
    for (int64_t i = 0; i < groups; ++i) {
      mean[column + i * columns] = shared_mean;
      squares[column + i * columns] = shared_squares;
    }
  }
}

void TrainingState::MergeObservations(const Policy& policy, const float* rows, int64_t count, RankGroup* ranks) {
  std::vector<int64_t> columns;
  for (const ObservationLeaf& leaf : policy.observation) {
    if (leaf.kind != ObservationKind::kBox) continue;
    for (int64_t i = 0; i < leaf.size; ++i) columns.push_back(leaf.offset + i);
  }
  if (!columns.empty()) observations.Merge(rows, count, policy.observation_size, columns, ranks);
  for (const ObservationLeaf& leaf : policy.observation) {
    if (leaf.slots > 1) observations.Share(leaf.statistics_offset, leaf.slots, leaf.size / leaf.slots);
  }
  for (int64_t i = 0; i < policy.statistics_size; ++i) {
    if (policy.fixed_statistics[i] != 0) continue;
    weights[policy.normalizer_mean + i] = static_cast<float>(observations.mean[i]);
    // A column that never varied says nothing about its scale.
    const double variance = observations.Variance(i);
    weights[policy.normalizer_variance + i] = variance > 0 ? static_cast<float>(variance) : 1.0f;
  }
}

void TrainingState::AdoptObservations(const Policy& policy, double count) {
  observations.count = count;
  for (int64_t i = 0; i < policy.statistics_size; ++i) {
    observations.mean[i] = weights[policy.normalizer_mean + i];
    observations.squares[i] = weights[policy.normalizer_variance + i] * count;
  }
}

namespace {

constexpr uint64_t kMagic = 0x3130534c4d594741ULL;  // "AGYMLS01"

void Put(Writer& writer, const RunningStatistics& statistics) {
  writer.Put(statistics.count);
  writer.PutAll(statistics.mean);
  writer.PutAll(statistics.squares);
}

RunningStatistics Get(Reader& reader, int64_t columns) {
  RunningStatistics statistics(columns);
  statistics.count = reader.Get<double>();
  statistics.mean = reader.GetAll<double>(columns);
  statistics.squares = reader.GetAll<double>(columns);
  if (!(statistics.count >= 0)) Reader::Fail("it counts less than nothing");
  return statistics;
}

}  // namespace

void SerializeState(const TrainingState& state, Writer& writer) {
  writer.Put(kMagic);
  writer.Put(state.optimizer_steps);
  writer.PutAll(state.first_moment);
  writer.PutAll(state.second_moment);
  Put(writer, state.observations);
  Put(writer, state.returns);
  writer.PutAll(state.running_returns);
  if (state.remembers) writer.PutAll(state.critic_states);
}

void DeserializeState(Reader& reader, TrainingState& state) {
  if (reader.Get<uint64_t>() != kMagic) Reader::Fail("it is of another kind");
  const int64_t steps = reader.Get<int64_t>();
  if (steps < 0) Reader::Fail("it counts less than nothing");
  const auto trainable = static_cast<int64_t>(state.first_moment.size());
  auto first = reader.GetAll<float>(trainable);
  auto second = reader.GetAll<float>(trainable);
  auto observations = Get(reader, static_cast<int64_t>(state.observations.mean.size()));
  auto returns = Get(reader, 1);
  auto running = reader.GetAll<float>(-1);
  auto critic_states = state.remembers ? reader.GetAll<float>(-1) : std::vector<float>{};
  state.optimizer_steps = steps;
  // Copied, not moved: an engine holds the addresses of the moments.
  std::copy(first.begin(), first.end(), state.first_moment.begin());
  std::copy(second.begin(), second.end(), state.second_moment.begin());
  state.observations = observations;
  state.returns = returns;
  state.running_returns = running;
  state.critic_states = critic_states;
}

}  // namespace agentgym
