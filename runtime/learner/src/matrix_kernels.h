#pragma once

#include <cstdint>

#include "aligned_floats.h"

namespace agentgym {

/// Whether this processor has the instructions that the kernels were compiled to.
bool ProcessorSuits();

/// How an element of C starts before products are added to it.
enum class Start { kZero, kBias, kAccumulate };

/// A matrix read element by element: (row, depth) lies at data[row * row_stride + depth * depth_stride], so a transpose
/// costs nothing.
struct StridedMatrix {
  const float* data;
  int64_t row_stride;
  int64_t depth_stride;
};

/// B of many products, copied into panels of as many columns as the kernel multiplies at once: it then reads them from
/// front to back, where rows a power of two apart would share few lines of the cache and many pages.
class Panels {
 public:
  Panels() = default;
  /// Zeros; `columns` is a multiple of kLanes.
  Panels(int64_t depth, int64_t columns) : depth_(depth), columns_(columns), values_(depth * columns, 0.0f) {}

  /// B = source [depth, columns], row-major; columns beyond `source_columns` stay zero.
  void Copy(const float* source, int64_t source_columns);
  /// B = sourceᵀ, where source is [source_columns, depth].
  void CopyTransposed(const float* source, int64_t source_columns);

  bool empty() const { return values_.empty(); }
  int64_t depth() const { return depth_; }
  int64_t columns() const { return columns_; }
  const float* data() const { return values_.data(); }

 private:
  int64_t depth_ = 0;
  int64_t columns_ = 0;
  AlignedFloats values_;
};

/// C[rows, columns] = start + A[rows, depth] · B[depth, columns]; `columns` is a multiple of kLanes, B and C are
/// row-major. `bias` has `columns` elements and is read for Start::kBias only. The order of additions is fixed.
void Multiply(Start start, int64_t rows, int64_t columns, int64_t depth, StridedMatrix a, const float* b,
              int64_t b_stride, const float* bias, float* c, int64_t c_stride);

/// The same with a B in panels.
void Multiply(Start start, int64_t rows, StridedMatrix a, const Panels& b, const float* bias, float* c,
              int64_t c_stride);

/// In place over `count` elements, a multiple of kLanes.
void ApplyTanh(float* values, int64_t count);
void ApplyRelu(float* values, int64_t count);

/// gradient *= derivative of the activation, given the activation's results.
void ApplyTanhDerivative(const float* results, float* gradient, int64_t count);
void ApplyReluDerivative(const float* results, float* gradient, int64_t count);

/// sums[columns] += the sum over rows; `columns` is a multiple of kLanes.
void AddRows(const float* values, int64_t rows, int64_t columns, int64_t stride, float* sums);

/// target = sum of `sources` arrays that lie `stride` apart, in their order.
void SumArrays(const float* first, int64_t arrays, int64_t stride, int64_t count, float* target);

double SumOfSquares(const float* values, int64_t count);

struct AdamFactors {
  float gradient_scale;
  float step_size;  // learning rate · √(1 - β₂ᵗ) / (1 - β₁ᵗ)
  float epsilon;    // ε · √(1 - β₂ᵗ)
};

/// Adam with both bias corrections moved into the factors (Kingma and Ba, end of section 2): one division a weight.
void AdamUpdate(const AdamFactors& factors, const float* gradient, int64_t count, float* weights, float* first,
                float* second);

/// RMSprop as TensorFlow has it (ε inside the root), with Stable-Baselines3's decay of 0.99 and ε of 1e-5.
void RmspropUpdate(float gradient_scale, float learning_rate, const float* gradient, int64_t count, float* weights,
                   float* mean_square);

}  // namespace agentgym
