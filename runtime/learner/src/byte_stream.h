#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "learner_failure.h"

namespace agentgym {

/// Little-endian numbers and arrays, one after another.
class Writer {
 public:
  template <typename Value>
  void Put(const Value& value) {
    PutRaw(&value, sizeof(Value));
  }

  template <typename Value>
  void PutAll(const std::vector<Value>& values) {
    Put<uint64_t>(values.size());
    PutRaw(values.data(), values.size() * sizeof(Value));
  }

  void PutRaw(const void* data, uint64_t size) {
    const auto* raw = static_cast<const uint8_t*>(data);
    bytes.insert(bytes.end(), raw, raw + size);
  }

  std::vector<uint8_t> bytes;
};

/// Reads what a Writer wrote; anything else fails with checkpoint_invalid.
class Reader {
 public:
  Reader(const uint8_t* bytes, int64_t size) : at_(bytes), left_(static_cast<uint64_t>(size)) {}

  template <typename Value>
  Value Get() {
    Value value;
    GetRaw(&value, sizeof(Value));
    return value;
  }

  /// `expected` is the length that the policy asks for; -1 takes any.
  template <typename Value>
  std::vector<Value> GetAll(int64_t expected) {
    const uint64_t length = Get<uint64_t>();
    if (expected >= 0 && length != static_cast<uint64_t>(expected)) Fail("it belongs to another policy");
    if (length > left_ / sizeof(Value)) Fail("it is cut short");
    std::vector<Value> values(length);
    GetRaw(values.data(), length * sizeof(Value));
    if constexpr (std::is_floating_point_v<Value>) {
      for (const Value value : values) {
        if (!std::isfinite(value)) Fail("it holds a number that is not finite");
      }
    }
    return values;
  }

  bool AtEnd() const { return left_ == 0; }

  void End() const {
    if (left_ != 0) Fail("it is too long");
  }

  [[noreturn]] static void Fail(const std::string& why) {
    throw LearnerFailure("checkpoint_invalid", "the learner's saved state cannot be used: " + why);
  }

 private:
  void GetRaw(void* target, uint64_t size) {
    if (size > left_) Fail("it is cut short");
    if (size > 0) std::memcpy(target, at_, size);
    at_ += size;
    left_ -= size;
  }

  const uint8_t* at_;
  uint64_t left_;
};

}  // namespace agentgym
