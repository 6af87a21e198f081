#pragma once

#include <cstdint>

namespace agentgym {

/// One register of floats, as wide as the processor that this file is compiled for. The compiler's vector extensions
/// instead of intrinsics: the same source serves AVX-512, AVX2, SSE and NEON.
#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif

typedef float Vector __attribute__((vector_size(kLanes * sizeof(float))));
typedef int32_t IntegerVector __attribute__((vector_size(kLanes * sizeof(int32_t))));
typedef float UnalignedVector __attribute__((vector_size(kLanes * sizeof(float)), aligned(4), may_alias));

inline Vector Load(const float* from) { return *reinterpret_cast<const UnalignedVector*>(from); }
inline void Store(float* to, Vector value) { *reinterpret_cast<UnalignedVector*>(to) = value; }
inline Vector Broadcast(float value) { return Vector{} + value; }

/// Columns rounded up to whole registers.
constexpr int64_t Padded(int64_t columns) { return (columns + kLanes - 1) / kLanes * kLanes; }

inline float Sum(Vector value) {
  float sum = 0;
  for (int lane = 0; lane < kLanes; ++lane) sum += value[lane];
  return sum;
}

/// tanh(x) = e / (e + 2) with e = expm1(2x) = 2ⁿ (expm1(f) + 1) - 1, where 2x = n ln 2 + f and |f| ≤ ½ ln 2. expm1(f) is
/// its Taylor series to f⁷ (error below 1e-8), so small x keep their relative accuracy; error at most 2e-7 everywhere.
/// NaN stays NaN.
inline Vector Tanh(Vector x) {
  const Vector limit = Broadcast(9.1f);  // tanh rounds to 1 from here
  x = x > limit ? limit : x;
  x = x < -limit ? -limit : x;
  // Adding 1.5 · 2²³ rounds to an integer, which then lies in the low bits of the float; + 127 is the exponent's bias.
  const Vector magic = Broadcast(12582912.0f + 127.0f);
  const Vector shifted = x * 2.8853900817779268f + magic;
  const Vector n = shifted - magic;
  const Vector f = x * 2.0f - n * 0.69314718055994531f;
  Vector series = f * (1.0f / 5040) + (1.0f / 720);
  series = series * f + (1.0f / 120);
  series = series * f + (1.0f / 24);
  series = series * f + (1.0f / 6);
  series = series * f + 0.5f;
  series = series * (f * f) + f;
  const Vector power = reinterpret_cast<Vector>(reinterpret_cast<IntegerVector>(shifted) << 23);
  const Vector e = series * power + (power - 1.0f);
  return e / (e + 2.0f);
}

}  // namespace agentgym
