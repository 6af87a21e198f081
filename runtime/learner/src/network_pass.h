#pragma once

#include <cstdint>
#include <vector>

#include "aligned_floats.h"
#include "matrix_kernels.h"
#include "policy.h"

namespace agentgym {

/// Samples that pass through a network at once: their activations stay in the first-level cache.
constexpr int64_t kTileRows = 64;

/// Activations of one tile, for one network; one a thread. Rows are padded to whole registers.
struct TileMemory {
  AlignedFloats features;              // [tile's rows, padded features]
  std::vector<AlignedFloats> results;  // one a layer, after its activation
  AlignedFloats gradient;              // d loss / d result of the layer in hand
  AlignedFloats next_gradient;
};

/// Forward and backward pass of one MLP over a tile, written by hand. Weights are copied into padded arrays once a
/// minibatch: as they are for the backward pass, transposed for the forward pass, so that both read whole registers.
class NetworkPass {
 public:
  /// A whole network; of one with memory the hidden layers alone.
  NetworkPass(const Policy& policy, const Network& network);

  /// One layer without activation, whose input has a gradient.
  explicit NetworkPass(const Layer& layer);

  /// Elements of this network's gradient in the layout of the kernels.
  int64_t gradient_size() const { return gradient_size_; }
  int64_t output_stride() const { return layers_.empty() ? feature_stride_ : layers_.back().out_padded; }
  int64_t feature_stride() const { return feature_stride_; }

  TileMemory MakeMemory(int64_t tile_rows = kTileRows) const;

  /// Copies the weights; to be called again whenever they changed.
  void Pack(const float* weights);

  /// From `memory.features` of `rows` samples; returns the output rows, `output_stride()` apart.
  const float* Forward(const float* features, int64_t rows, TileMemory& memory) const;

  /// From d loss / d output in `memory.gradient`, rows `output_stride()` apart, with zeros in the padding; adds to
  /// `gradient`. Returns d loss / d features where the policy has text or images, else null. Without a `gradient`: only
  /// d loss / d features, of SAC's critics.
  const float* Backward(const float* features, int64_t rows, TileMemory& memory, float* gradient) const;

  /// From the kernels' layout to the flat gradient's.
  void Unpack(const float* gradient, float* flat) const;

 private:
  struct PackedLayer {
    Layer layer;
    int64_t in_padded;
    int64_t out_padded;
    bool transposed_gradient;  // weight gradient is [in, out_padded] rather than [out, in_padded]
    int64_t weight_gradient;   // offsets in the kernels' layout
    int64_t bias_gradient;
    Panels weight;      // [out, in_padded]; empty where no input gradient is needed
    Panels transposed;  // [in, out_padded]
    AlignedFloats bias;  // [out_padded]
  };

  void AddWeightGradient(const PackedLayer& layer, const float* input, int64_t rows, const float* output_gradient,
                         float* gradient) const;

  void ApplyDerivative(const float* results, float* gradient, int64_t count) const;
  void AddLayers(const std::vector<Layer>& layers);

  bool relu_;
  bool activate_last_;
  int64_t feature_stride_;
  bool needs_feature_gradient_;  // with the weights', for what is learned before this network
  bool has_feature_gradient_;    // at all
  int64_t gradient_size_ = 0;
  std::vector<PackedLayer> layers_;
};

}  // namespace agentgym
