#pragma once

#include <napi.h>

#include <memory>

#include "rank_group.h"

namespace agentgym {

/// Puts the classes NativeRankHub (a supervisor's) and NativeRanks (a job's) among the addon's exports.
void DefineRanks(Napi::Env env, Napi::Object exports);

/// Of a NativeRanks; null of anything else.
std::shared_ptr<RankGroup> ReadRanks(const Napi::Value& value);

}  // namespace agentgym
