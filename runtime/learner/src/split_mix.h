#pragma once

#include <cstdint>

namespace agentgym {

/// SplitMix64 (Steele, Lea and Flood, 2014): one 64-bit word of state, so a seed is the whole history.
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  /// Uniform in [0, bound), without bias (Lemire, 2019).
  uint32_t Below(uint32_t bound) {
    uint64_t product = (Next() >> 32) * bound;
    if (static_cast<uint32_t>(product) < bound) {
      const uint32_t threshold = -bound % bound;
      while (static_cast<uint32_t>(product) < threshold) product = (Next() >> 32) * bound;
    }
    return static_cast<uint32_t>(product >> 32);
  }

 private:
  uint64_t state_;
};

}  // namespace agentgym
