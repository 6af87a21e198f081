#pragma once

#include <napi.h>

#include <exception>

#include "learner_failure.h"

namespace agentgym {

inline Napi::Error ToError(Napi::Env env, const LearnerFailure& failure) {
  Napi::Error error = Napi::Error::New(env, failure.what());
  error.Set("code", failure.code);
  Napi::Object data = Napi::Object::New(env);
  for (const auto& [key, value] : failure.data) data.Set(key, static_cast<double>(value));
  error.Set("data", data);
  return error;
}

/// C++ failures leave as JavaScript errors: expected ones carry `code`, bugs do not.
template <typename Body>
auto Guard(Napi::Env env, Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const Napi::Error&) {
    throw;
  } catch (const LearnerFailure& failure) {
    throw ToError(env, failure);
  } catch (const std::exception& error) {
    throw Napi::Error::New(env, error.what());
  }
}

}  // namespace agentgym
