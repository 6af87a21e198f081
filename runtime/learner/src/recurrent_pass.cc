#include "recurrent_pass.h"

#include <algorithm>

#include "matrix_kernels.h"
#include "vector_math.h"

namespace agentgym {

namespace {

inline Vector Sigmoid(Vector x) { return Tanh(x * 0.5f) * 0.5f + 0.5f; }

}  // namespace

RecurrentPass::RecurrentPass(const Network& network)
    : units_(network.gru_state.in), units_padded_(Padded(network.gru_state.in)) {
  input_ = MakeGates(network.gru_input);
  state_ = MakeGates(network.gru_state);
  in_stride_ = input_.in_padded;
}

RecurrentPass::PackedGates RecurrentPass::MakeGates(const Layer& layer) {
  const int64_t columns = 3 * units_padded_;
  PackedGates gates;
  gates.layer = layer;
  gates.in_padded = Padded(layer.in);
  gates.weight_gradient = gradient_size_;
  gradient_size_ += layer.in * columns;
  gates.bias_gradient = gradient_size_;
  gradient_size_ += columns;
  gates.weight.assign(columns * gates.in_padded, 0.0f);
  gates.transposed.assign(layer.in * columns, 0.0f);
  gates.bias.assign(columns, 0.0f);
  return gates;
}

void RecurrentPass::Reserve(int64_t rows, RecurrentMemory& memory) const {
  const auto grow = [&](AlignedFloats& values, int64_t columns) {
    if (static_cast<int64_t>(values.size()) < rows * columns) values.assign(rows * columns, 0.0f);
  };
  for (auto* values : {&memory.before, &memory.states, &memory.state_gradient}) grow(*values, units_padded_);
  for (auto* values : {&memory.by_input, &memory.by_state, &memory.gates}) grow(*values, 3 * units_padded_);
  for (auto* values : {&memory.inputs, &memory.input_gradient}) grow(*values, in_stride_);
}

void RecurrentPass::PackGates(PackedGates& gates, const float* weights) const {
  const int64_t columns = 3 * units_padded_, in = gates.layer.in;
  for (int64_t gate = 0; gate < 3; ++gate) {
    for (int64_t unit = 0; unit < units_; ++unit) {
      const int64_t to = gate * units_padded_ + unit, from = gate * units_ + unit;
      const float* source = weights + gates.layer.weight + from * in;
      std::copy_n(source, in, &gates.weight[to * gates.in_padded]);
      for (int64_t i = 0; i < in; ++i) gates.transposed[i * columns + to] = source[i];
      gates.bias[to] = weights[gates.layer.bias + from];
    }
  }
}

void RecurrentPass::Pack(const float* weights) {
  PackGates(input_, weights);
  PackGates(state_, weights);
}

void RecurrentPass::Forward(const std::vector<int64_t>& sizes, const float* initial, RecurrentMemory& memory) const {
  const int64_t up = units_padded_, columns = 3 * up;
  int64_t total = 0;
  for (const int64_t size : sizes) total += size;
  Multiply(Start::kBias, total, columns, input_.layer.in, {memory.inputs.data(), in_stride_, 1}, input_.transposed.data(),
           columns, input_.bias.data(), memory.by_input.data(), columns);
  const float* last = initial;
  int64_t first = 0;
  for (const int64_t rows : sizes) {
    float* before = &memory.before[first * up];
    float* by_state = &memory.by_state[first * columns];
    std::copy_n(last, rows * up, before);
    Multiply(Start::kBias, rows, columns, units_, {before, up, 1}, state_.transposed.data(), columns, state_.bias.data(),
             by_state, columns);
    for (int64_t row = 0; row < rows; ++row) {
      const float* x = &memory.by_input[(first + row) * columns];
      const float* h = by_state + row * columns;
      float* gates = &memory.gates[(first + row) * columns];
      for (int64_t i = 0; i < up; i += kLanes) {
        const Vector reset = Sigmoid(Load(x + i) + Load(h + i));
        const Vector keep = Sigmoid(Load(x + up + i) + Load(h + up + i));
        const Vector fresh = Tanh(Load(x + 2 * up + i) + reset * Load(h + 2 * up + i));
        Store(gates + i, reset);
        Store(gates + up + i, keep);
        Store(gates + 2 * up + i, fresh);
        Store(&memory.states[(first + row) * up + i], fresh + keep * (Load(before + row * up + i) - fresh));
      }
    }
    last = &memory.states[first * up];
    first += rows;
  }
}

void RecurrentPass::Backward(const std::vector<int64_t>& sizes, RecurrentMemory& memory, float* gradient) const {
  const int64_t up = units_padded_, columns = 3 * up;
  int64_t total = 0;
  for (const int64_t size : sizes) total += size;
  int64_t first = total;
  for (size_t step = sizes.size(); step-- > 0;) {
    const int64_t rows = sizes[step];
    first -= rows;
    for (int64_t row = first; row < first + rows; ++row) {
      const float* gates = &memory.gates[row * columns];
      float* by_input = &memory.by_input[row * columns];
      float* by_state = &memory.by_state[row * columns];
      float* slope = &memory.state_gradient[row * up];
      for (int64_t i = 0; i < up; i += kLanes) {
        const Vector d = Load(slope + i), before = Load(&memory.before[row * up + i]);
        const Vector reset = Load(gates + i), keep = Load(gates + up + i), fresh = Load(gates + 2 * up + i);
        const Vector by_fresh = d * (1.0f - keep) * (1.0f - fresh * fresh);
        const Vector by_reset = by_fresh * Load(by_state + 2 * up + i) * reset * (1.0f - reset);
        const Vector by_keep = d * (before - fresh) * keep * (1.0f - keep);
        Store(by_input + i, by_reset);
        Store(by_input + up + i, by_keep);
        Store(by_input + 2 * up + i, by_fresh);
        Store(by_state + i, by_reset);
        Store(by_state + up + i, by_keep);
        Store(by_state + 2 * up + i, by_fresh * reset);
        Store(slope + i, d * keep);  // what reaches the state before directly
      }
    }
    if (step == 0) break;
    // The states before are the first rows of the step before.
    float* slope = &memory.state_gradient[first * up];
    float* earlier = &memory.state_gradient[(first - sizes[step - 1]) * up];
    Multiply(Start::kAccumulate, rows, up, columns, {&memory.by_state[first * columns], columns, 1}, state_.weight.data(),
             up, nullptr, slope, up);
    for (int64_t i = 0; i < rows * up; ++i) earlier[i] += slope[i];
  }
  AddGradient(input_, memory.inputs.data(), total, memory.by_input.data(), gradient);
  AddGradient(state_, memory.before.data(), total, memory.by_state.data(), gradient);
  Multiply(Start::kZero, total, in_stride_, columns, {memory.by_input.data(), columns, 1}, input_.weight.data(),
           in_stride_, nullptr, memory.input_gradient.data(), in_stride_);
}

void RecurrentPass::AddGradient(const PackedGates& gates, const float* input, int64_t rows, const float* by,
                                float* gradient) const {
  const int64_t columns = 3 * units_padded_;
  constexpr int64_t kRows = 64;  // of both sides, that stay in the cache
  for (int64_t first = 0; first < rows; first += kRows) {
    const int64_t count = std::min(kRows, rows - first);
    Multiply(Start::kAccumulate, gates.layer.in, columns, count, {input + first * gates.in_padded, 1, gates.in_padded},
             by + first * columns, columns, nullptr, gradient + gates.weight_gradient, columns);
  }
  AddRows(by, rows, columns, columns, gradient + gates.bias_gradient);
}

void RecurrentPass::UnpackGates(const PackedGates& gates, const float* gradient, float* flat) const {
  const int64_t columns = 3 * units_padded_, in = gates.layer.in;
  for (int64_t gate = 0; gate < 3; ++gate) {
    for (int64_t unit = 0; unit < units_; ++unit) {
      const int64_t from = gate * units_padded_ + unit, to = gate * units_ + unit;
      for (int64_t i = 0; i < in; ++i) {
        flat[gates.layer.weight + to * in + i] = gradient[gates.weight_gradient + i * columns + from];
      }
      flat[gates.layer.bias + to] = gradient[gates.bias_gradient + from];
    }
  }
}

void RecurrentPass::Unpack(const float* gradient, float* flat) const {
  UnpackGates(input_, gradient, flat);
  UnpackGates(state_, gradient, flat);
}

}  // namespace agentgym
