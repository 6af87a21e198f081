#include "embedding_tables.h"

#include <algorithm>

#include "observation_encoder.h"
#include "vector_math.h"

namespace agentgym {

EmbeddingTables::EmbeddingTables(const Policy& policy, const Network& network)
    : width_(policy.embedding), scaled_(policy.embedding) {
  if (network.layers.empty()) return;
  for (const ObservationLeaf& leaf : policy.observation) {
    if (leaf.kind != ObservationKind::kText) continue;
    Table table;
    table.leaf = &leaf;
    table.offset = network.embeddings[leaf.text_index];
    table.rows = leaf.counts[0];
    table.is_touched.assign(table.rows, 0);
    table.is_seen.assign(table.rows, 0);
    tables_.push_back(std::move(table));
  }
}

std::vector<EmbeddingTables::Range> EmbeddingTables::Ranges() const {
  std::vector<Range> ranges;
  for (const Table& table : tables_) ranges.push_back({table.offset, table.rows * width_});
  return ranges;
}

void EmbeddingTables::ClearGradient(float* gradient) {
  for (Table& table : tables_) {
    for (const int32_t row : table.touched) {
      std::fill_n(gradient + table.offset + row * width_, width_, 0.0f);
      table.is_touched[row] = 0;
    }
    table.touched.clear();
  }
}

void EmbeddingTables::AddGradient(const float* observation, const float* text_gradient, float* gradient) {
  // Locals, because for all that the compiler knows a store to the gradient may change a member.
  const int64_t width = width_;
  float* const scaled = scaled_.data();
  for (Table& table : tables_) {
    float* const rows = gradient + table.offset;
    uint8_t* const is_touched = table.is_touched.data();
    const float factor = MeanFactor(EachToken(*table.leaf, observation, [](int64_t) {}));
    for (int64_t i = 0; i < width; ++i) scaled[i] = text_gradient[i] * factor;
    EachToken(*table.leaf, observation, [&, width](int64_t token) {
      float* const to = rows + token * width;
      int64_t i = 0;
      for (; i + kLanes <= width; i += kLanes) Store(to + i, Load(to + i) + Load(scaled + i));
      for (; i < width; ++i) to[i] += scaled[i];
      if (is_touched[token] != 0) return;
      is_touched[token] = 1;
      table.touched.push_back(static_cast<int32_t>(token));
    });
    text_gradient += width;
  }
}

void EmbeddingTables::FindTouched(const float* gradient) {
  for (Table& table : tables_) {
    table.touched.clear();
    for (int64_t row = 0; row < table.rows; ++row) {
      const float* values = gradient + table.offset + row * width_;
      const bool zero = std::all_of(values, values + width_, [](float value) { return value == 0; });
      table.is_touched[row] = zero ? 0 : 1;
      if (!zero) table.touched.push_back(static_cast<int32_t>(row));
    }
  }
}

double EmbeddingTables::GradientSquares(const float* gradient) const {
  double total = 0;
  for (const Table& table : tables_) {
    for (const int32_t row : table.touched) {
      const float* values = gradient + table.offset + row * width_;
      Vector sum = {};
      int64_t i = 0;
      for (; i + kLanes <= width_; i += kLanes) sum += Load(values + i) * Load(values + i);
      float rest = Sum(sum);
      for (; i < width_; ++i) rest += values[i] * values[i];
      total += rest;
    }
  }
  return total;
}

void EmbeddingTables::FindSeen(const float* first_moment, const float* second_moment) {
  for (Table& table : tables_) {
    table.seen.clear();
    for (int64_t row = 0; row < table.rows; ++row) {
      const int64_t first = table.offset + row * width_;
      const auto is_zero = [](float value) { return value == 0; };
      const bool zero = std::all_of(first_moment + first, first_moment + first + width_, is_zero) &&
                        std::all_of(second_moment + first, second_moment + first + width_, is_zero);
      table.is_seen[row] = zero ? 0 : 1;
      if (!zero) table.seen.push_back(static_cast<int32_t>(row));
    }
  }
  seen_known_ = true;
}

void EmbeddingTables::Adam(const AdamFactors& factors, const float* gradient, float* weights, float* first_moment,
                           float* second_moment) {
  if (!seen_known_) FindSeen(first_moment, second_moment);
  for (Table& table : tables_) {
    for (const int32_t row : table.touched) {
      if (table.is_seen[row] != 0) continue;
      table.is_seen[row] = 1;
      table.seen.push_back(row);
    }
    for (const int32_t row : table.seen) {
      const int64_t first = table.offset + row * width_;
      AdamUpdate(factors, gradient + first, width_, weights + first, first_moment + first, second_moment + first);
    }
  }
}

}  // namespace agentgym
