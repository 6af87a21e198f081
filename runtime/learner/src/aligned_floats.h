#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace agentgym {

/// Memory that begins on a cache line, so that no register's worth of it straddles two.
template <typename Value>
struct CacheLineAllocator {
  using value_type = Value;
  static constexpr std::align_val_t kAlignment{64};

  CacheLineAllocator() = default;
  template <typename Other>
  CacheLineAllocator(const CacheLineAllocator<Other>&) {}

  Value* allocate(size_t count) { return static_cast<Value*>(::operator new(count * sizeof(Value), kAlignment)); }
  void deallocate(Value* values, size_t) { ::operator delete(values, kAlignment); }

  template <typename Other>
  bool operator==(const CacheLineAllocator<Other>&) const {
    return true;
  }
};

/// What the kernels read and write.
using AlignedFloats = std::vector<float, CacheLineAllocator<float>>;

}  // namespace agentgym
