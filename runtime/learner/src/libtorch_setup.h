#pragma once

#include <cstdint>
#include <string>

#include "policy.h"
#include "training_state.h"

namespace agentgym {

/// Threads of libtorch's operations and of its BLAS, in the whole process. More than one changes last bits.
void SetLibtorchThreads(int threads);

/// Weights as parameter-layout.ts asks, drawn from `seed` alone as long as libtorch has one thread.
void InitializeWeights(const Policy& policy, uint64_t seed, TrainingState& state);

/// Multiplies two matrices and compares with plain loops: fails with setup_incomplete where BLAS is wrong.
void VerifyBlas();

/// Whether libtorch can compute on CUDA here.
bool CudaAvailable();

std::string LibtorchVersion();

}  // namespace agentgym
