#pragma once

#include <cstdint>
#include <vector>

#include "aligned_floats.h"
#include "policy.h"

namespace agentgym {

/// Activations of a GRU over the rows of a SequencePlan; one a thread. Rows are padded to whole registers.
struct RecurrentMemory {
  AlignedFloats inputs;         // [rows, in_stride], what the GRU reads
  AlignedFloats before;           // [rows, units], states before each row
  AlignedFloats states;           // [rows, units]
  AlignedFloats by_input;         // [rows, 3 units]; in the backward pass d loss / d of it
  AlignedFloats by_state;         // [rows, 3 units]; likewise
  AlignedFloats gates;            // [rows, 3 units]: reset, update, new
  AlignedFloats state_gradient;   // [rows, units], d loss / d states
  AlignedFloats input_gradient;   // [rows, in_stride]
};

/// Forward and backward pass of a network's GRU over sequences side by side, written by hand. What does not wait for the
/// step before is multiplied for all rows at once.
class RecurrentPass {
 public:
  explicit RecurrentPass(const Network& network);

  int64_t gradient_size() const { return gradient_size_; }
  int64_t in_stride() const { return in_stride_; }
  int64_t state_stride() const { return units_padded_; }

  void Reserve(int64_t rows, RecurrentMemory& memory) const;
  void Pack(const float* weights);

  /// From `memory.inputs` and initial states [sequences, state_stride()] to `memory.states`; `sizes` are the plan's.
  void Forward(const std::vector<int64_t>& sizes, const float* initial, RecurrentMemory& memory) const;

  /// After Forward: from `memory.state_gradient`, which it overwrites, to `memory.input_gradient`; adds to `gradient`.
  void Backward(const std::vector<int64_t>& sizes, RecurrentMemory& memory, float* gradient) const;

  void Unpack(const float* gradient, float* flat) const;

 private:
  struct PackedGates {
    Layer layer;
    int64_t in_padded;
    int64_t weight_gradient;        // [in, 3 units] in the kernels' layout
    int64_t bias_gradient;
    AlignedFloats weight;           // [3 units, in_padded]
    AlignedFloats transposed;       // [in, 3 units]
    AlignedFloats bias;
  };

  PackedGates MakeGates(const Layer& layer);
  void PackGates(PackedGates& gates, const float* weights) const;
  void UnpackGates(const PackedGates& gates, const float* gradient, float* flat) const;
  void AddGradient(const PackedGates& gates, const float* input, int64_t rows, const float* by, float* gradient) const;

  int64_t units_;
  int64_t units_padded_;
  int64_t in_stride_ = 0;
  int64_t gradient_size_ = 0;
  PackedGates input_;
  PackedGates state_;
};

}  // namespace agentgym
