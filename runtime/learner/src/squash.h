#pragma once

#include <cmath>
#include <cstdint>

namespace agentgym {

/// How a Gaussian's sample u becomes an action, center + scale * f(u): runtime/src/policy/squash.ts says why. The learner sees
/// u, so all that it needs of f is log |f'(u)| and the mean of that, which is what f adds to the Gaussian's entropy.
enum class Squash { kTanh, kExp, kSinh };

/// log f' = log_cosh_factor * log cosh u + linear_factor * u
struct LogSlopeFactors {
  float log_cosh;
  float linear;
};

constexpr LogSlopeFactors FactorsOf(Squash squash) {
  switch (squash) {
    case Squash::kTanh: return {-2.0f, 0.0f};
    case Squash::kExp: return {0.0f, 1.0f};
    case Squash::kSinh: return {1.0f, 0.0f};
  }
  return {0.0f, 0.0f};
}

constexpr float kLnTwo = 0.69314718055994530942f;

inline float LogCosh(float u) {
  const float far = std::abs(u);
  return far + std::log1p(std::exp(-2.0f * far)) - kLnTwo;
}

inline float LogSlope(Squash squash, float u) {
  const LogSlopeFactors factors = FactorsOf(squash);
  return factors.log_cosh * (factors.log_cosh == 0.0f ? 0.0f : LogCosh(u)) + factors.linear * u;
}

/// SAC's log standard deviation, a function of the network's output, within [-5, 2] as in CleanRL's sac_continuous_action.py:
/// smooth, so that no output is without a gradient. LOG_STD_RANGE in runtime/src/policy/squash.ts.
constexpr float kLogStdCenter = -1.5f;
constexpr float kLogStdHalfWidth = 3.5f;

/// Gauss and Hermite's quadrature of a mean over a standard normal: 7 nodes, exact for polynomials up to degree 13.
constexpr int kQuadratureNodes = 7;
constexpr double kQuadratureNode[kQuadratureNodes] = {-3.750439717725742, -2.366759410734541, -1.154405394739968, 0.0,
                                                      1.154405394739968,  2.366759410734541,  3.750439717725742};
constexpr double kQuadratureWeight[kQuadratureNodes] = {0.000548268855972, 0.030757123967586, 0.240123178605013,
                                                        0.457142857142857, 0.240123178605013, 0.030757123967586,
                                                        0.000548268855972};

/// The mean of log f'(u) over u ~ N(mean, deviation²), and its derivatives.
struct MeanLogSlope {
  float value;
  float by_mean;
  float by_log_deviation;
};

inline MeanLogSlope IntegrateLogSlope(Squash squash, float mean, float deviation) {
  const LogSlopeFactors factors = FactorsOf(squash);
  MeanLogSlope result{factors.linear * mean, factors.linear, 0.0f};
  if (factors.log_cosh == 0.0f) return result;
  for (int i = 0; i < kQuadratureNodes; ++i) {
    const float offset = deviation * static_cast<float>(kQuadratureNode[i]);
    const float weight = factors.log_cosh * static_cast<float>(kQuadratureWeight[i]);
    const float slope = std::tanh(mean + offset);
    result.value += weight * LogCosh(mean + offset);
    result.by_mean += weight * slope;
    result.by_log_deviation += weight * slope * offset;
  }
  return result;
}

}  // namespace agentgym
