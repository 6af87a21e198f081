#include "initial_weights.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace agentgym {

namespace {

/// Normal numbers as libtorch's CPU generator draws them, so that a seed gives the weights that it gave when libtorch drew
/// them: Box-Muller over the Mersenne twister, in blocks of 16 where there are that many.
class NormalNumbers {
 public:
  explicit NormalNumbers(uint64_t seed) : twister_(static_cast<uint32_t>(seed)) {}

  template <typename Number>
  std::vector<Number> Draw(int64_t count) {
    std::vector<Number> numbers(count);
    if (count < kBlock) {
      for (Number& number : numbers) number = static_cast<Number>(One());
      return numbers;
    }
    for (Number& number : numbers) number = Uniform<Number>();
    int64_t first = 0;
    for (; first + kBlock <= count; first += kBlock) TransformBlock(&numbers[first]);
    if (first < count) {
      // The last block overlaps the one before, and is drawn again.
      Number* last = &numbers[count - kBlock];
      for (int64_t i = 0; i < kBlock; ++i) last[i] = Uniform<Number>();
      TransformBlock(last);
    }
    return numbers;
  }

 private:
  static constexpr int64_t kBlock = 16;

  /// In [0, 1), with as many bits as the number has.
  template <typename Number>
  Number Uniform() {
    if constexpr (sizeof(Number) == sizeof(float)) return static_cast<float>(twister_() & 0xffffff) * 0x1p-24f;
    const uint64_t high = twister_(), low = twister_();
    return static_cast<Number>((high << 32 | low) & ((uint64_t{1} << 53) - 1)) * 0x1p-53;
  }

  template <typename Number>
  static void TransformBlock(Number* numbers) {
    for (int64_t i = 0; i < kBlock / 2; ++i) {
      const Number radius = std::sqrt(-2 * std::log(1 - numbers[i]));
      const Number angle = 2 * std::numbers::pi_v<Number> * numbers[i + kBlock / 2];
      numbers[i] = radius * std::cos(angle);
      numbers[i + kBlock / 2] = radius * std::sin(angle);
    }
  }

  double One() {
    if (next_) return *std::exchange(next_, std::nullopt);
    const double angle = 2 * std::numbers::pi * Uniform<double>();
    const double radius = std::sqrt(-2 * std::log1p(-Uniform<double>()));
    next_ = radius * std::sin(angle);
    return radius * std::cos(angle);
  }

  std::mt19937 twister_;
  std::optional<double> next_;
};

/// In eight sums, which a compiler can keep in registers without reordering anything.
double Dot(const double* a, const double* b, int64_t count) {
  double sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int64_t lane = 0; lane < 8; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < count; ++i) sums[i % 8] += a[i] * b[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/// Makes vectors of normal numbers orthonormal, one after another (modified Gram-Schmidt): the Q of a QR decomposition
/// whose R has a positive diagonal, as torch.nn.init.orthogonal_ makes it. Float64 loses less than a float32 can hold.
void Orthonormalize(std::vector<double>& vectors, int64_t count, int64_t length) {
  for (int64_t i = 0; i < count; ++i) {
    double* vector = &vectors[i * length];
    const double scale = 1 / std::sqrt(Dot(vector, vector, length));
    for (int64_t k = 0; k < length; ++k) vector[k] *= scale;
    for (int64_t j = i + 1; j < count; ++j) {
      double* other = &vectors[j * length];
      const double along = Dot(vector, other, length);
      for (int64_t k = 0; k < length; ++k) other[k] -= along * vector[k];
    }
  }
}

/// A matrix [rows, columns] with orthonormal rows or columns, whichever there are fewer of.
void FillOrthogonal(int64_t rows, int64_t columns, double gain, NormalNumbers& random, float* weights) {
  const int64_t count = std::min(rows, columns), length = std::max(rows, columns);
  const std::vector<double> drawn = random.Draw<double>(count * length);  // [length, count]
  std::vector<double> vectors(count * length);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < length; ++k) vectors[i * length + k] = drawn[k * count + i];
  }
  Orthonormalize(vectors, count, length);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      const double value = rows < columns ? vectors[row * length + column] : vectors[column * length + row];
      weights[row * columns + column] = static_cast<float>(value * gain);
    }
  }
}

/// Biases of a GRU whose units remember for 2 to 64 steps, spread evenly on a log scale (after the chrono initialization
/// of Tallec and Ollivier, 2018): an update gate of sigmoid(ln(T - 1)) = 1 - 1/T.
void FillTimescales(int64_t size, float* bias) {
  const int64_t units = size / 3;
  std::fill_n(bias, size, 0.0f);
  for (int64_t i = 0; i < units; ++i) {
    const double share = units > 1 ? static_cast<double>(i) / static_cast<double>(units - 1) : 1.0;
    bias[units + i] = static_cast<float>(std::log(2 * std::pow(32.0, share) - 1));
  }
}

}  // namespace

void InitializeWeights(const Policy& policy, uint64_t seed, TrainingState& state) {
  NormalNumbers random(seed);
  for (const Parameter& parameter : policy.parameters) {
    float* weights = state.weights.data() + parameter.offset;
    switch (parameter.initializer) {
      case Initializer::kZeros: std::fill_n(weights, parameter.size, 0.0f); break;
      case Initializer::kOnes: std::fill_n(weights, parameter.size, 1.0f); break;
      case Initializer::kNormal: {
        const std::vector<float> drawn = random.Draw<float>(parameter.size);
        std::copy(drawn.begin(), drawn.end(), weights);
        break;
      }
      case Initializer::kTimescales: FillTimescales(parameter.size, weights); break;
      case Initializer::kOrthogonal:
        // A convolution's filters are the rows.
        FillOrthogonal(parameter.shape[0], parameter.size / parameter.shape[0], parameter.gain, random, weights);
        break;
    }
  }
}

}  // namespace agentgym
