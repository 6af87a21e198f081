#include "recurrent_network.h"

#include <algorithm>

namespace agentgym {

namespace {

template <typename Visit>
void EachTile(int64_t rows, Visit visit) {
  for (int64_t first = 0; first < rows; first += kTileRows) visit(first, std::min(kTileRows, rows - first));
}

}  // namespace

RecurrentNetwork::RecurrentNetwork(const Policy& policy, const Network& network)
    : units_(policy.memory), gru_(network), head_(network.layers.back()) {}

void RecurrentNetwork::Pack(const float* weights) {
  gru_.Pack(weights);
  head_.Pack(weights);
}

void RecurrentNetwork::Unpack(const float* gradient, float* flat) const {
  gru_.Unpack(gradient, flat);
  head_.Unpack(gradient + gru_.gradient_size(), flat);
}

void RecurrentNetwork::Forward(const SequencePlan& plan, const std::vector<Sequence>& sequences, const float* states,
                               const Body& body, RecurrentWorkspace& memory) const {
  const auto rows = static_cast<int64_t>(plan.rows.size());
  const int64_t stride = gru_.state_stride();
  if (memory.head.results.empty()) memory.head = head_.MakeMemory();
  gru_.Reserve(rows, memory.gru);
  EachTile(rows, [&](int64_t first, int64_t count) {
    std::copy_n(body(first, count), count * gru_.in_stride(), &memory.gru.inputs[first * gru_.in_stride()]);
  });
  memory.initial.assign(sequences.size() * stride, 0.0f);
  for (size_t i = 0; i < sequences.size(); ++i) {
    const int64_t state = sequences[plan.order[i]].state;
    if (state >= 0) std::copy_n(states + state * units_, units_, &memory.initial[i * stride]);
  }
  gru_.Forward(plan.sizes, memory.initial.data(), memory.gru);
}

void RecurrentNetwork::Outputs(const SequencePlan& plan, RecurrentWorkspace& memory, const Output& output) const {
  EachTile(static_cast<int64_t>(plan.rows.size()), [&](int64_t first, int64_t rows) {
    output(first, rows, head_.Forward(&memory.gru.states[first * gru_.state_stride()], rows, memory.head), nullptr);
  });
}

void RecurrentNetwork::Backward(const SequencePlan& plan, RecurrentWorkspace& memory, const Output& loss,
                                const BodyGradient& body, float* gradient) const {
  const auto all = static_cast<int64_t>(plan.rows.size());
  const int64_t stride = gru_.state_stride();
  EachTile(all, [&](int64_t first, int64_t rows) {
    const float* states = &memory.gru.states[first * stride];
    loss(first, rows, head_.Forward(states, rows, memory.head), memory.head.gradient.data());
    const float* slope = head_.Backward(states, rows, memory.head, gradient + gru_.gradient_size());
    std::copy_n(slope, rows * stride, &memory.gru.state_gradient[first * stride]);
  });
  gru_.Backward(plan.sizes, memory.gru, gradient);
  EachTile(all, [&](int64_t first, int64_t rows) {
    body(first, rows, &memory.gru.input_gradient[first * gru_.in_stride()]);
  });
}

void RecurrentNetwork::FinalStates(const SequencePlan& plan, const RecurrentWorkspace& memory, float* states) const {
  int64_t first = 0;
  for (size_t step = 0; step < plan.sizes.size(); ++step) {
    const int64_t next = step + 1 < plan.sizes.size() ? plan.sizes[step + 1] : 0;
    for (int64_t i = next; i < plan.sizes[step]; ++i) {
      std::copy_n(&memory.gru.states[(first + i) * gru_.state_stride()], units_, states + plan.order[i] * units_);
    }
    first += plan.sizes[step];
  }
}

}  // namespace agentgym
