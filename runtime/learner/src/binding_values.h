#pragma once

#include <napi.h>

#include <vector>

#include "policy.h"
#include "policy_learner.h"
#include "rollout.h"

namespace agentgym {

/// JavaScript values to the learner's own. Shapes were checked by the TypeScript wrapper; lengths of arrays are checked
/// again here, because a wrong one would read foreign memory.

/// From `{ spec, layout }`: PolicySpec and the ParameterLayout made from it.
Policy ReadPolicy(const Napi::Object& spec, const Napi::Object& layout);

/// SAC's critics: networks like the actor's, which read the action as well. `layout` is that of criticLayout.
Policy ReadCritics(const Policy& actor, const Napi::Object& spec, const Napi::Object& layout);

std::vector<Segment> ReadRollout(const Napi::Array& rollout, const Policy& policy);

Update ReadUpdate(const Napi::Object& update);

/// Sequences one after another in `rows` rows, with initial states of both networks: into the batch's fields of that name.
void ReadSequences(const Napi::Value& sequences, const Policy& policy, int64_t rows, Batch& batch);

Batch ReadMinibatch(const Napi::Object& minibatch, const Policy& policy);

Napi::Object WriteMetrics(Napi::Env env, const UpdateMetrics& metrics);

Napi::Float32Array WriteFloats(Napi::Env env, const float* values, size_t count);

/// Start of a Float32Array with exactly `length` elements, whether over an ArrayBuffer or a SharedArrayBuffer.
const float* ReadFloats(const Napi::Value& value, int64_t length, const char* name);

}  // namespace agentgym
