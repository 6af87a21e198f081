#pragma once

#include <memory>

#include "engine.h"
#include "host_group.h"

namespace agentgym {

/// What the addon takes from agentgym_autograd.so, which alone is linked to libtorch: loading that takes longer than all
/// else that a training needs before its first step, and on the CPU the fused engine does without it.
struct AutogradLibrary {
  const char* libtorch_version;
  /// Whether libtorch was built with CUDA, and the number of GPUs that it can compute on.
  bool (*built_with_cuda)();
  int (*cuda_devices)();
  /// Makes the device's context, for which the driver reads files. Throws libtorch's own error where it cannot.
  void (*open_device)(int device);
  /// Threads of libtorch's operations and of its BLAS, in the whole process: 1 after loading. More change last bits.
  void (*set_threads)(int threads);
  std::unique_ptr<Engine> (*make_engine)(const Policy& policy, TrainingState& state, int device);
  std::unique_ptr<Engine> (*make_float64_engine)(const Policy& policy, TrainingState& state);
  std::unique_ptr<HostGroup> (*join_hosts)(const HostPlace& place, const std::string& greeting);
};

/// Loads the library from beside the addon, once a process. Fails with setup_incomplete where it or libtorch is missing,
/// or where BLAS multiplies wrongly on this processor.
const AutogradLibrary& LoadAutogradLibrary();

}  // namespace agentgym
