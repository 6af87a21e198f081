#include "training_state.h"

#include <cmath>
#include <cstring>
#include <string>

#include "learner_failure.h"

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

void TrainingState::MergeObservations(const Policy& policy, const float* rows, int64_t count) {
  std::vector<int64_t> columns;
  for (const ObservationLeaf& leaf : policy.observation) {
    if (leaf.kind != ObservationKind::kBox) continue;
    for (int64_t i = 0; i < leaf.size; ++i) columns.push_back(leaf.offset + i);
  }
  if (!columns.empty()) observations.Merge(rows, count, policy.observation_size, columns);
  for (int64_t i = 0; i < policy.statistics_size; ++i) {
    weights[policy.normalizer_mean + i] = static_cast<float>(observations.mean[i]);
    weights[policy.normalizer_variance + i] = static_cast<float>(observations.Variance(i));
  }
}

namespace {

constexpr uint64_t kMagic = 0x3130534c4d594741ULL;  // "AGYMLS01"

class Writer {
 public:
  template <typename Value>
  void Put(const Value& value) {
    const auto* raw = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), raw, raw + sizeof(Value));
  }

  template <typename Value>
  void PutAll(const std::vector<Value>& values) {
    Put<uint64_t>(values.size());
    const auto* raw = reinterpret_cast<const uint8_t*>(values.data());
    bytes.insert(bytes.end(), raw, raw + values.size() * sizeof(Value));
  }

  std::vector<uint8_t> bytes;
};

class Reader {
 public:
  Reader(const uint8_t* bytes, int64_t size) : at_(bytes), left_(static_cast<uint64_t>(size)) {}

  template <typename Value>
  Value Get() {
    Value value;
    Take(&value, sizeof(Value));
    return value;
  }

  /// `expected` is the length that the policy asks for; -1 takes any.
  template <typename Value>
  std::vector<Value> GetAll(int64_t expected) {
    const uint64_t length = Get<uint64_t>();
    if (expected >= 0 && length != static_cast<uint64_t>(expected)) Fail("it belongs to another policy");
    if (length > left_ / sizeof(Value)) Fail("it is cut short");
    std::vector<Value> values(length);
    Take(values.data(), length * sizeof(Value));
    for (const Value value : values) {
      if (!std::isfinite(value)) Fail("it holds a number that is not finite");
    }
    return values;
  }

  void End() const {
    if (left_ != 0) Fail("it is too long");
  }

  [[noreturn]] static void Fail(const std::string& why) {
    throw LearnerFailure("checkpoint_invalid", "the learner's saved state cannot be used: " + why);
  }

 private:
  void Take(void* target, uint64_t size) {
    if (size > left_) Fail("it is cut short");
    if (size > 0) std::memcpy(target, at_, size);
    at_ += size;
    left_ -= size;
  }

  const uint8_t* at_;
  uint64_t left_;
};

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

std::vector<uint8_t> SerializeState(const TrainingState& state) {
  Writer writer;
  writer.Put(kMagic);
  writer.Put(state.optimizer_steps);
  writer.PutAll(state.first_moment);
  writer.PutAll(state.second_moment);
  Put(writer, state.observations);
  Put(writer, state.returns);
  writer.PutAll(state.running_returns);
  return std::move(writer.bytes);
}

void DeserializeState(const uint8_t* bytes, int64_t size, TrainingState& state) {
  Reader reader(bytes, size);
  if (reader.Get<uint64_t>() != kMagic) Reader::Fail("it is of another kind");
  const int64_t steps = reader.Get<int64_t>();
  if (steps < 0) Reader::Fail("it counts less than nothing");
  const auto trainable = static_cast<int64_t>(state.first_moment.size());
  auto first = reader.GetAll<float>(trainable);
  auto second = reader.GetAll<float>(trainable);
  auto observations = Get(reader, static_cast<int64_t>(state.observations.mean.size()));
  auto returns = Get(reader, 1);
  auto running = reader.GetAll<float>(-1);
  reader.End();
  state.optimizer_steps = steps;
  // Copied, not moved: an engine holds the addresses of the moments.
  std::copy(first.begin(), first.end(), state.first_moment.begin());
  std::copy(second.begin(), second.end(), state.second_moment.begin());
  state.observations = observations;
  state.returns = returns;
  state.running_returns = running;
}

}  // namespace agentgym
