#pragma once

#include <cstdint>
#include <vector>

#include "aligned_floats.h"
#include "policy.h"

namespace agentgym {

/// Tensors of one tile's images, for one network; one a thread. A tensor is [rows, pixels, channels], position by
/// position, with channels padded to whole registers in all but the image itself.
struct ImageMemory {
  std::vector<AlignedFloats> tensors;  // outputs of the convolutions, image after image, before their activation
  std::vector<AlignedFloats> gradients;  // d loss / d tensor of one sample
  AlignedFloats active;                // max(0, x) of one sample's tensor
  AlignedFloats patches;               // [out pixels, patch] of one sample
  AlignedFloats patch_gradients;       // [out pixels, padded patch]
};

/// Forward and backward pass of a network's convolutions over a tile, each as a matrix product of patches and filters.
/// The order of additions is fixed, as in NetworkPass.
class ConvolutionPass {
 public:
  ConvolutionPass(const Policy& policy, const Network& network);

  /// Elements of the convolutions' gradient in the layout of the kernels; a multiple of whole registers.
  int64_t gradient_size() const { return gradient_size_; }

  ImageMemory MakeMemory() const;

  /// Copies the weights; to be called again whenever they changed.
  void Pack(const float* weights);

  /// From pixels [rows, policy.pixel_size], which end with a register of slack, to the images' columns of the feature rows.
  void Forward(const float* pixels, int64_t rows, ImageMemory& memory, float* features, int64_t feature_stride) const;

  /// After Forward of the same rows: from d loss / d features; adds to `gradient`.
  void Backward(const float* pixels, int64_t rows, ImageMemory& memory, const float* feature_gradient,
                int64_t feature_stride, float* gradient) const;

  /// From the kernels' layout to the flat gradient's.
  void Unpack(const float* gradient, float* flat) const;

 private:
  struct PackedConvolution {
    Convolution shape;
    ConvolutionWeights place;
    int64_t in_stride;        // floats from one position to the next
    int64_t out_stride;
    int64_t patch_padded;
    int64_t weight_gradient;  // [patch, out_stride] in the kernels' layout
    int64_t bias_gradient;    // [out_stride]
    AlignedFloats weight;      // [out channels, patch_padded]; empty for the first of an image
    AlignedFloats transposed;  // [patch, out_stride]
    AlignedFloats bias;        // [out_stride]
  };

  struct Image {
    const ObservationLeaf* leaf;
    size_t first_tensor;      // of the memory's tensors
    std::vector<PackedConvolution> convolutions;
  };

  void ForwardSample(const Image& image, const float* pixels, int64_t row, ImageMemory& memory, float* features) const;
  void BackwardSample(const Image& image, const float* pixels, int64_t row, ImageMemory& memory,
                      const float* feature_gradient, float* gradient) const;
  /// What convolution i of an image reads, for one sample: the image, or the tensor before it after its activation.
  const float* Input(const Image& image, size_t i, const float* pixels, int64_t row, ImageMemory& memory) const;

  int64_t pixel_size_;
  int64_t gradient_size_ = 0;
  std::vector<Image> images_;
};

}  // namespace agentgym
