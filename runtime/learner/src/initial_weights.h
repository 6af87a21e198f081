#pragma once

#include <cstdint>

#include "policy.h"
#include "training_state.h"

namespace agentgym {

/// Weights as parameter-layout.ts asks, drawn from the low 32 bits of `seed` alone.
void InitializeWeights(const Policy& policy, uint64_t seed, TrainingState& state);

}  // namespace agentgym
