#include "libtorch_setup.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
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

/// torch.nn.init.orthogonal_: Q of a normal matrix, its signs made unique by R's diagonal.
Tensor Orthogonal(int64_t rows, int64_t columns, const at::Generator& random) {
  const Tensor normal = at::randn({std::max(rows, columns), std::min(rows, columns)}, random, at::kDouble);
  auto [q, r] = at::linalg_qr(normal);
  q = q * r.diagonal().sign();
  return rows < columns ? q.t() : q;
}

/// Biases of a GRU whose units remember for 2 to 64 steps, spread evenly on a log scale (after the chrono initialization
/// of Tallec and Ollivier, 2018): an update gate of sigmoid(ln(T - 1)) = 1 - 1/T.
Tensor Timescales(int64_t size) {
  const int64_t units = size / 3;
  Tensor bias = at::zeros({size});
  auto gates = bias.accessor<float, 1>();
  for (int64_t i = 0; i < units; ++i) {
    const double share = units > 1 ? static_cast<double>(i) / static_cast<double>(units - 1) : 1.0;
    gates[units + i] = static_cast<float>(std::log(2 * std::pow(32.0, share) - 1));
  }
  return bias;
}

}  // namespace

void SetLibtorchThreads(int threads) {
  at::set_num_threads(threads);
  // Debian's libtorch leaves BLAS at one thread a core, whatever ATen was told.
  using SetThreads = void (*)(int);
  if (auto set = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set(threads);
}

void InitializeWeights(const Policy& policy, uint64_t seed, TrainingState& state) {
  c10::NoGradGuard no_gradient;
  const at::Generator random = at::make_generator<at::CPUGeneratorImpl>(seed);
  for (const Parameter& parameter : policy.parameters) {
    Tensor weight = at::from_blob(state.weights.data() + parameter.offset, parameter.shape, at::kFloat);
    switch (parameter.initializer) {
      case Initializer::kZeros: weight.zero_(); break;
      case Initializer::kOnes: weight.fill_(1.0); break;
      case Initializer::kNormal: weight.copy_(at::randn(parameter.shape, random, at::kFloat)); break;
      case Initializer::kTimescales: weight.copy_(Timescales(parameter.size)); break;
      case Initializer::kOrthogonal:
        // A convolution's filters are the rows.
        weight.copy_((Orthogonal(parameter.shape[0], parameter.size / parameter.shape[0], random) * parameter.gain)
                         .reshape(parameter.shape));
        break;
    }
  }
}

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

bool CudaAvailable() { return at::hasCUDA(); }

std::string LibtorchVersion() { return TORCH_VERSION; }

}  // namespace agentgym
