#pragma once

#include <functional>
#include <vector>

#include "network_pass.h"
#include "recurrent_pass.h"
#include "sequence_plan.h"

namespace agentgym {

/// What one thread needs of a RecurrentNetwork.
struct RecurrentWorkspace {
  RecurrentMemory gru;
  TileMemory head;
  AlignedFloats initial;  // [sequences, state_stride()]
};

/// The part of a network with memory that comes after its hidden layers: the GRU, and the output layer.
class RecurrentNetwork {
 public:
  RecurrentNetwork(const Policy& policy, const Network& network);

  int64_t gradient_size() const { return gru_.gradient_size() + head_.gradient_size(); }
  int64_t output_stride() const { return head_.output_stride(); }
  void Pack(const float* weights);
  void Unpack(const float* gradient, float* flat) const;

  /// Gives the rows that the GRU reads, of `rows` rows of the plan from `first` on.
  using Body = std::function<const float*(int64_t first, int64_t rows)>;
  /// Sees the output of such rows; `gradient` is where d loss / d output goes, null in a forward pass.
  using Output = std::function<void(int64_t first, int64_t rows, const float* output, float* gradient)>;
  /// Gets d loss / d what the body gave.
  using BodyGradient = std::function<void(int64_t first, int64_t rows, const float* gradient)>;

  /// The states of all rows of a plan; `states` are what its sequences point into.
  void Forward(const SequencePlan& plan, const std::vector<Sequence>& sequences, const float* states, const Body& body,
               RecurrentWorkspace& memory) const;

  /// After Forward.
  void Outputs(const SequencePlan& plan, RecurrentWorkspace& memory, const Output& output) const;
  void Backward(const SequencePlan& plan, RecurrentWorkspace& memory, const Output& loss, const BodyGradient& body,
                float* gradient) const;

  /// After Forward: writes the state after the last row of each sequence, [sequences, memory].
  void FinalStates(const SequencePlan& plan, const RecurrentWorkspace& memory, float* states) const;

 private:
  int64_t units_;
  RecurrentPass gru_;
  NetworkPass head_;
};

}  // namespace agentgym
