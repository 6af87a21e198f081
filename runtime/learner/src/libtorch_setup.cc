#include "autograd_library.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <dlfcn.h>
#include <torch/version.h>

#include <array>
#include <cmath>

#include "learner_failure.h"

namespace agentgym {

namespace {

using at::Tensor;

template <typename Number>
double LargestProductError(const Tensor& a, const Tensor& b) {
  const Tensor c = a.mm(b);
  const auto left = a.accessor<Number, 2>(), right = b.accessor<Number, 2>(), product = c.accessor<Number, 2>();
  double largest = 0;
  for (int64_t i = 0; i < c.size(0); ++i) {
    for (int64_t j = 0; j < c.size(1); ++j) {
      double sum = 0;
      for (int64_t k = 0; k < a.size(1); ++k) sum += static_cast<double>(left[i][k]) * right[k][j];
      const double error = std::abs(sum - product[i][j]);
      largest = error <= largest ? largest : error;  // so turned that NaN is the largest
    }
  }
  return largest;
}

/// Of libtorch and of its BLAS, in the whole process. More than one changes last bits.
void SetThreads(int threads) {
  at::set_num_threads(threads);
  // Debian's libtorch leaves BLAS at one thread a core, whatever ATen was told.
  using SetBlasThreads = void (*)(int);
  if (auto set = reinterpret_cast<SetBlasThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set(threads);
}

/// Multiplies two matrices and compares with plain loops: fails with setup_incomplete where BLAS is wrong.
void VerifyBlas() {
  c10::NoGradGuard no_gradient;
  const at::Generator random = at::make_generator<at::CPUGeneratorImpl>(1);
  for (const auto& [rows, depth, columns] : {std::array<int64_t, 3>{64, 64, 64}, {37, 129, 70}}) {
    const Tensor a = at::randn({rows, depth}, random, at::kDouble), b = at::randn({depth, columns}, random, at::kDouble);
    if (LargestProductError<double>(a, b) < 1e-10 && LargestProductError<float>(a.to(at::kFloat), b.to(at::kFloat)) < 1e-3) {
      continue;
    }
    throw LearnerFailure("setup_incomplete",
                         "the BLAS under libtorch multiplies matrices wrongly on this processor, as some releases of "
                         "OpenBLAS do; another kernel may be right: set OPENBLAS_CORETYPE=Haswell, or update OpenBLAS");
  }
}

// libtorch_cuda registers itself when it is loaded, even where there is no GPU.
bool BuiltWithCuda() { return c10::impl::hasDeviceGuardImpl(c10::DeviceType::CUDA); }

int CudaDevices() {
  return BuiltWithCuda() && at::hasCUDA() ? c10::impl::getDeviceGuardImpl(c10::DeviceType::CUDA)->deviceCount() : 0;
}

void OpenDevice(int device) {
  at::zeros({1}, at::TensorOptions().device(at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(device)))).add_(1).cpu();
}

}  // namespace

}  // namespace agentgym

extern "C" __attribute__((visibility("default"))) const agentgym::AutogradLibrary* agentgym_autograd() {
  static const agentgym::AutogradLibrary library = [] {
    using namespace agentgym;
    SetThreads(1);
    VerifyBlas();
    return AutogradLibrary{TORCH_VERSION, BuiltWithCuda,      CudaDevices,       OpenDevice,
                           SetThreads,    MakeAutogradEngine, MakeFloat64Engine, JoinHosts};
  }();
  return &library;
}
