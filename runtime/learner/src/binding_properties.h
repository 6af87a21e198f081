#pragma once

#include <napi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "learner_failure.h"

namespace agentgym {

/// Properties of JavaScript objects; one of another type than asked for is a bug of the caller.

inline int64_t ReadInteger(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  Require(value.IsNumber(), name);
  return value.As<Napi::Number>().Int64Value();
}

inline double ReadNumber(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  Require(value.IsNumber(), name);
  return value.As<Napi::Number>().DoubleValue();
}

inline std::optional<double> ReadOptionalNumber(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  if (value.IsNull() || value.IsUndefined()) return std::nullopt;
  return ReadNumber(object, name);
}

inline bool ReadBoolean(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  Require(value.IsBoolean(), name);
  return value.As<Napi::Boolean>().Value();
}

inline std::string ReadString(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  Require(value.IsString(), name);
  return value.As<Napi::String>().Utf8Value();
}

inline Napi::Array ReadArray(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  Require(value.IsArray(), name);
  return value.As<Napi::Array>();
}

template <typename Value>
std::vector<Value> ReadNumbers(const Napi::Object& object, const char* name) {
  const Napi::Array array = ReadArray(object, name);
  std::vector<Value> values;
  for (uint32_t i = 0; i < array.Length(); ++i) {
    values.push_back(static_cast<Value>(array.Get(i).As<Napi::Number>().DoubleValue()));
  }
  return values;
}

}  // namespace agentgym
