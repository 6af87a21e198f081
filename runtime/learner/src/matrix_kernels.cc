// Compiled for the processor it is built on; see LEARNER_ARCHITECTURE in CMakeLists.txt.
#include "matrix_kernels.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "vector_math.h"

namespace agentgym {

namespace {

/// Accumulators of one block stay in registers: rows × vectors of them, beside a row of B and one broadcast of A.
constexpr int kBlockRows = 6;
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kBlockVectors = 4;
#else
constexpr int kBlockVectors = 2;
#endif

template <Start start, int rows, int vectors>
inline void MultiplyBlock(int64_t depth, StridedMatrix a, const float* b, int64_t b_stride, const float* bias, float* c,
                          int64_t c_stride) {
  Vector sum[rows][vectors];
#pragma GCC unroll 8
  for (int row = 0; row < rows; ++row) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      if constexpr (start == Start::kZero) sum[row][v] = Vector{};
      if constexpr (start == Start::kBias) sum[row][v] = Load(bias + v * kLanes);
      if constexpr (start == Start::kAccumulate) sum[row][v] = Load(c + row * c_stride + v * kLanes);
    }
  }
  const float* at = a.data;
  for (int64_t i = 0; i < depth; ++i) {
    Vector right[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) right[v] = Load(b + v * kLanes);
#pragma GCC unroll 8
    for (int row = 0; row < rows; ++row) {
      const Vector left = Broadcast(at[row * a.row_stride]);
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) sum[row][v] += left * right[v];
    }
    at += a.depth_stride;
    b += b_stride;
  }
#pragma GCC unroll 8
  for (int row = 0; row < rows; ++row) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) Store(c + row * c_stride + v * kLanes, sum[row][v]);
  }
}

template <Start start, int vectors>
void MultiplyColumns(int64_t rows, int64_t depth, StridedMatrix a, const float* b, int64_t b_stride, const float* bias,
                     float* c, int64_t c_stride) {
  int64_t row = 0;
  const auto left = [&] { return StridedMatrix{a.data + row * a.row_stride, a.row_stride, a.depth_stride}; };
  for (; row + kBlockRows <= rows; row += kBlockRows) {
    MultiplyBlock<start, kBlockRows, vectors>(depth, left(), b, b_stride, bias, c + row * c_stride, c_stride);
  }
  for (; row + 4 <= rows; row += 4) {
    MultiplyBlock<start, 4, vectors>(depth, left(), b, b_stride, bias, c + row * c_stride, c_stride);
  }
  for (; row + 2 <= rows; row += 2) {
    MultiplyBlock<start, 2, vectors>(depth, left(), b, b_stride, bias, c + row * c_stride, c_stride);
  }
  for (; row < rows; ++row) {
    MultiplyBlock<start, 1, vectors>(depth, left(), b, b_stride, bias, c + row * c_stride, c_stride);
  }
}

/// Calls body(first column, vectors) for each panel; `vectors` is a constant expression's value.
template <typename Body>
inline void EachPanel(int64_t columns, Body body) {
  int64_t column = 0;
  for (; column + kBlockVectors * kLanes <= columns; column += kBlockVectors * kLanes) {
    body(column, std::integral_constant<int, kBlockVectors>{});
  }
  if constexpr (kBlockVectors > 2) {
    for (; column + 2 * kLanes <= columns; column += 2 * kLanes) body(column, std::integral_constant<int, 2>{});
  }
  for (; column < columns; column += kLanes) body(column, std::integral_constant<int, 1>{});
}

/// With `b_stride` 0, B lies in panels.
template <Start start>
void MultiplyAll(int64_t rows, int64_t columns, int64_t depth, StridedMatrix a, const float* b, int64_t b_stride,
                 const float* bias, float* c, int64_t c_stride) {
  EachPanel(columns, [&](int64_t column, auto vectors) {
    const float* panel = b_stride == 0 ? b + column * depth : b + column;
    const int64_t stride = b_stride == 0 ? vectors * kLanes : b_stride;
    MultiplyColumns<start, vectors>(rows, depth, a, panel, stride, bias + column, c + column, c_stride);
  });
}

}  // namespace

bool ProcessorSuits() {
  bool suits = true;
#if defined(__x86_64__)
#if defined(__AVX2__)
  suits = suits && __builtin_cpu_supports("avx2");
#endif
#if defined(__FMA__)
  suits = suits && __builtin_cpu_supports("fma");
#endif
#if defined(__BMI2__)
  suits = suits && __builtin_cpu_supports("bmi2");
#endif
#if defined(__AVX512F__)
  suits = suits && __builtin_cpu_supports("avx512f");
#endif
#if defined(__AVX512VL__)
  suits = suits && __builtin_cpu_supports("avx512vl");
#endif
#if defined(__AVX512BW__)
  suits = suits && __builtin_cpu_supports("avx512bw");
#endif
#if defined(__AVX512DQ__)
  suits = suits && __builtin_cpu_supports("avx512dq");
#endif
#endif
  return suits;
}

void Multiply(Start start, int64_t rows, int64_t columns, int64_t depth, StridedMatrix a, const float* b,
              int64_t b_stride, const float* bias, float* c, int64_t c_stride) {
  switch (start) {
    case Start::kZero: return MultiplyAll<Start::kZero>(rows, columns, depth, a, b, b_stride, c, c, c_stride);
    case Start::kBias: return MultiplyAll<Start::kBias>(rows, columns, depth, a, b, b_stride, bias, c, c_stride);
    case Start::kAccumulate: return MultiplyAll<Start::kAccumulate>(rows, columns, depth, a, b, b_stride, c, c, c_stride);
  }
}

void Multiply(Start start, int64_t rows, StridedMatrix a, const Panels& b, const float* bias, float* c,
              int64_t c_stride) {
  Multiply(start, rows, b.columns(), b.depth(), a, b.data(), 0, bias, c, c_stride);
}

void Panels::Copy(const float* source, int64_t source_columns) {
  EachPanel(columns_, [&](int64_t column, auto vectors) {
    const int64_t width = vectors * kLanes, count = std::min(width, source_columns - column);
    float* to = &values_[column * depth_];
    for (int64_t row = 0; row < depth_; ++row, to += width) std::copy_n(source + row * source_columns + column, count, to);
  });
}

void Panels::CopyTransposed(const float* source, int64_t source_columns) {
  constexpr int64_t kSquare = 16;  // a cache line of one side and as many lines of the other
  EachPanel(columns_, [&](int64_t column, auto vectors) {
    const int64_t width = vectors * kLanes, count = std::min(width, source_columns - column);
    for (int64_t first = 0; first < count; first += kSquare) {
      const int64_t end = std::min(first + kSquare, count);
      float* to = &values_[column * depth_];
      const float* from = source + column * depth_;
      for (int64_t row = 0; row < depth_; ++row, to += width) {
        for (int64_t i = first; i < end; ++i) to[i] = from[i * depth_ + row];
      }
    }
  });
}

void ApplyTanh(float* values, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) Store(values + i, Tanh(Load(values + i)));
}

void ApplyRelu(float* values, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const Vector x = Load(values + i);
    Store(values + i, x < Vector{} ? Vector{} : x);  // so turned that NaN stays NaN
  }
}

void ApplyTanhDerivative(const float* results, float* gradient, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const Vector h = Load(results + i);
    Store(gradient + i, Load(gradient + i) * (1.0f - h * h));
  }
}

void ApplyReluDerivative(const float* results, float* gradient, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    Store(gradient + i, Load(results + i) > Vector{} ? Load(gradient + i) : Vector{});
  }
}

void AddRows(const float* values, int64_t rows, int64_t columns, int64_t stride, float* sums) {
  for (int64_t column = 0; column < columns; column += kLanes) {
    Vector sum = Load(sums + column);
    for (int64_t row = 0; row < rows; ++row) sum += Load(values + row * stride + column);
    Store(sums + column, sum);
  }
}

void SumArrays(const float* first, int64_t arrays, int64_t stride, int64_t count, float* target) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Vector sum = Load(first + i);
    for (int64_t array = 1; array < arrays; ++array) sum += Load(first + array * stride + i);
    Store(target + i, sum);
  }
  for (; i < count; ++i) {
    float sum = first[i];
    for (int64_t array = 1; array < arrays; ++array) sum += first[array * stride + i];
    target[i] = sum;
  }
}

double SumOfSquares(const float* values, int64_t count) {
  constexpr int64_t kBlock = 16 * kLanes;  // short enough for float, the rest in double
  double total = 0;
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    Vector sum[4] = {};
    for (int64_t j = 0; j < kBlock; j += 4 * kLanes) {
#pragma GCC unroll 4
      for (int part = 0; part < 4; ++part) {
        const Vector x = Load(values + i + j + part * kLanes);
        sum[part] += x * x;
      }
    }
    total += Sum((sum[0] + sum[1]) + (sum[2] + sum[3]));
  }
  for (; i < count; ++i) total += static_cast<double>(values[i]) * values[i];
  return total;
}

void AdamUpdate(const AdamFactors& adam, const float* __restrict gradient, int64_t count, float* __restrict weights,
                float* __restrict first, float* __restrict second) {
  constexpr float beta1 = 0.9f, rest1 = 0.1f, beta2 = 0.999f, rest2 = 0.001f;
  const auto [gradient_scale, step_size, epsilon] = adam;
  for (int64_t i = 0; i < count; ++i) {
    const float g = gradient[i] * gradient_scale;
    first[i] = first[i] * beta1 + g * rest1;
    second[i] = second[i] * beta2 + g * g * rest2;
    weights[i] -= step_size * first[i] / (std::sqrt(second[i]) + epsilon);
  }
}

void RmspropUpdate(float gradient_scale, float learning_rate, const float* __restrict gradient, int64_t count,
                   float* __restrict weights, float* __restrict mean_square) {
  constexpr float decay = 0.99f, rest = 0.01f, epsilon = 1e-5f;
  for (int64_t i = 0; i < count; ++i) {
    const float g = gradient[i] * gradient_scale;
    mean_square[i] = mean_square[i] * decay + g * g * rest;
    weights[i] -= learning_rate * g / std::sqrt(mean_square[i] + epsilon);
  }
}

}  // namespace agentgym
