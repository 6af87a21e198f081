#include "convolution_pass.h"

#include <algorithm>

#include "matrix_kernels.h"
#include "network_pass.h"
#include "vector_math.h"

namespace agentgym {

namespace {

/// Calls body(position in the patch matrix, input position) for each run of `kernel` neighbouring input positions that a
/// patch covers, or for each single one where the run leaves the image; -1 is a position outside.
template <typename Body>
void EachRun(const Convolution& shape, Body body) {
  const int64_t run = shape.kernel * shape.in_channels;
  int64_t at = 0;
  for (int64_t row = 0; row < shape.out_height; ++row) {
    for (int64_t column = 0; column < shape.out_width; ++column) {
      const int64_t left = column * shape.stride - shape.padding;
      const bool inside = left >= 0 && left + shape.kernel <= shape.in_width;
      for (int64_t i = 0; i < shape.kernel; ++i, at += run) {
        const int64_t y = row * shape.stride - shape.padding + i;
        const bool row_inside = y >= 0 && y < shape.in_height;
        if (inside && row_inside) {
          body(at, y * shape.in_width + left, shape.kernel);
          continue;
        }
        for (int64_t j = 0; j < shape.kernel; ++j) {
          const int64_t x = left + j;
          const bool pixel_inside = row_inside && x >= 0 && x < shape.in_width;
          body(at + j * shape.in_channels, pixel_inside ? y * shape.in_width + x : int64_t{-1}, 1);
        }
      }
    }
  }
}

/// In whole registers: what is copied beyond `count` is overwritten by the runs that follow, or lies in the slack that
/// every array read and written here ends with.
inline void CopyRun(const float* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; i += kLanes) Store(to + i, Load(from + i));
}

void CopyPatches(const Convolution& shape, int64_t in_stride, const float* input, float* patches) {
  const int64_t channels = shape.in_channels;
  EachRun(shape, [&](int64_t at, int64_t position, int64_t count) {
    float* to = patches + at;
    if (position < 0) {
      for (int64_t i = 0; i < channels; i += kLanes) Store(to + i, Vector{});
      return;
    }
    const float* from = input + position * in_stride;
    if (in_stride == channels) {
      CopyRun(from, count * channels, to);
      return;
    }
    for (int64_t pixel = 0; pixel < count; ++pixel) CopyRun(from + pixel * in_stride, channels, to + pixel * channels);
  });
}

/// The reverse of CopyPatches: adds each patch's gradient to the positions that it covers. `row_stride` is from one
/// patch to the next.
void AddPatches(const Convolution& shape, int64_t in_stride, const float* patches, int64_t row_stride, float* input) {
  const int64_t channels = shape.in_channels, patch = shape.patch();
  EachRun(shape, [&](int64_t at, int64_t position, int64_t count) {
    if (position < 0) return;
    const float* from = patches + at / patch * row_stride + at % patch;
    float* to = input + position * in_stride;
    for (int64_t pixel = 0; pixel < count; ++pixel, to += in_stride, from += channels) {
      for (int64_t i = 0; i < channels; ++i) to[i] += from[i];
    }
  });
}

}  // namespace

ConvolutionPass::ConvolutionPass(const Policy& policy, const Network& network) : pixel_size_(policy.pixel_size) {
  if (network.layers.empty()) return;
  size_t tensors = 0;
  for (const ObservationLeaf& leaf : policy.observation) {
    if (leaf.image_index < 0) continue;
    Image image{&leaf, tensors, {}};
    tensors += leaf.convolutions.size();
    for (size_t i = 0; i < leaf.convolutions.size(); ++i) {
      PackedConvolution packed;
      packed.shape = leaf.convolutions[i];
      packed.place = network.images[leaf.image_index][i];
      packed.in_stride = i == 0 ? packed.shape.in_channels : Padded(packed.shape.in_channels);
      packed.out_stride = Padded(packed.shape.out_channels);
      packed.patch_padded = Padded(packed.shape.patch());
      packed.weight_gradient = gradient_size_;
      gradient_size_ += packed.shape.patch() * packed.out_stride;
      packed.bias_gradient = gradient_size_;
      gradient_size_ += packed.out_stride;
      if (i > 0) packed.weight.assign(packed.shape.out_channels * packed.patch_padded, 0.0f);
      packed.transposed.assign(packed.shape.patch() * packed.out_stride, 0.0f);
      packed.bias.assign(packed.out_stride, 0.0f);
      image.convolutions.push_back(std::move(packed));
    }
    images_.push_back(std::move(image));
  }
}

ImageMemory ConvolutionPass::MakeMemory() const {
  ImageMemory memory;
  size_t patches = 0, patch_gradients = 0, active = 0;
  for (const Image& image : images_) {
    for (const PackedConvolution& packed : image.convolutions) {
      const Convolution& shape = packed.shape;
      const int64_t size = shape.out_pixels() * packed.out_stride;
      memory.tensors.emplace_back(kTileRows * size, 0.0f);
      memory.gradients.emplace_back(size, 0.0f);
      active = std::max(active, static_cast<size_t>(std::max(size, shape.in_pixels() * packed.in_stride)));
      patches = std::max(patches, static_cast<size_t>(shape.out_pixels() * shape.patch()));
      patch_gradients = std::max(patch_gradients, static_cast<size_t>(shape.out_pixels() * packed.patch_padded));
    }
  }
  memory.active.assign(active + kLanes, 0.0f);
  memory.patches.assign(patches + kLanes, 0.0f);
  memory.patch_gradients.assign(patch_gradients, 0.0f);
  return memory;
}

void ConvolutionPass::Pack(const float* weights) {
  for (Image& image : images_) {
    for (PackedConvolution& packed : image.convolutions) {
      const Convolution& shape = packed.shape;
      const int64_t positions = shape.kernel * shape.kernel;
      const float* source = weights + packed.place.weight;
      for (int64_t filter = 0; filter < shape.out_channels; ++filter) {
        for (int64_t channel = 0; channel < shape.in_channels; ++channel) {
          for (int64_t i = 0; i < positions; ++i) {
            const float weight = *source++;
            const int64_t at = i * shape.in_channels + channel;
            packed.transposed[at * packed.out_stride + filter] = weight;
            if (!packed.weight.empty()) packed.weight[filter * packed.patch_padded + at] = weight;
          }
        }
      }
      std::copy_n(weights + packed.place.bias, shape.out_channels, packed.bias.begin());
    }
  }
}

void ConvolutionPass::Forward(const float* pixels, int64_t rows, ImageMemory& memory, float* features,
                              int64_t feature_stride) const {
  for (const Image& image : images_) {
    for (int64_t row = 0; row < rows; ++row) {
      ForwardSample(image, pixels + row * pixel_size_ + image.leaf->pixel_offset, row, memory,
                    features + row * feature_stride + image.leaf->feature_offset);
    }
  }
}

const float* ConvolutionPass::Input(const Image& image, size_t i, const float* pixels, int64_t row,
                                    ImageMemory& memory) const {
  if (i == 0) return pixels;
  const PackedConvolution& before = image.convolutions[i - 1];
  const int64_t size = before.shape.out_pixels() * before.out_stride;
  std::copy_n(&memory.tensors[image.first_tensor + i - 1][row * size], size, memory.active.begin());
  ApplyRelu(memory.active.data(), size);
  return memory.active.data();
}

void ConvolutionPass::ForwardSample(const Image& image, const float* pixels, int64_t row, ImageMemory& memory,
                                    float* features) const {
  for (size_t i = 0; i < image.convolutions.size(); ++i) {
    const PackedConvolution& packed = image.convolutions[i];
    const Convolution& shape = packed.shape;
    const int64_t size = shape.out_pixels() * packed.out_stride;
    float* result = &memory.tensors[image.first_tensor + i][row * size];
    CopyPatches(shape, packed.in_stride, Input(image, i, pixels, row, memory), memory.patches.data());
    Multiply(Start::kBias, shape.out_pixels(), packed.out_stride, shape.patch(), {memory.patches.data(), shape.patch(), 1},
             packed.transposed.data(), packed.out_stride, packed.bias.data(), result, packed.out_stride);
    if (shape.residual) {
      const float* skipped = &memory.tensors[image.first_tensor + i - 2][row * size];
      for (int64_t j = 0; j < size; ++j) result[j] += skipped[j];
    }
  }
  const PackedConvolution& last = image.convolutions.back();
  const int64_t channels = last.shape.out_channels;
  const float* result =
      &memory.tensors[image.first_tensor + image.convolutions.size() - 1][row * last.shape.out_pixels() * last.out_stride];
  for (int64_t pixel = 0; pixel < last.shape.out_pixels(); ++pixel, features += channels, result += last.out_stride) {
    for (int64_t i = 0; i < channels; ++i) features[i] = result[i] < 0 ? 0.0f : result[i];  // NaN stays NaN
  }
}

void ConvolutionPass::Backward(const float* pixels, int64_t rows, ImageMemory& memory, const float* feature_gradient,
                               int64_t feature_stride, float* gradient) const {
  for (const Image& image : images_) {
    for (int64_t row = 0; row < rows; ++row) {
      BackwardSample(image, pixels + row * pixel_size_ + image.leaf->pixel_offset, row, memory,
                     feature_gradient + row * feature_stride + image.leaf->feature_offset, gradient);
    }
  }
}

void ConvolutionPass::BackwardSample(const Image& image, const float* pixels, int64_t row, ImageMemory& memory,
                                     const float* feature_gradient, float* gradient) const {
  const size_t count = image.convolutions.size();
  const auto tensor = [&](size_t i) {
    const PackedConvolution& packed = image.convolutions[i];
    return &memory.tensors[image.first_tensor + i][row * packed.shape.out_pixels() * packed.out_stride];
  };
  const auto slope = [&](size_t i) { return memory.gradients[image.first_tensor + i].data(); };
  for (size_t i = 0; i + 1 < count; ++i) std::fill_n(slope(i), memory.gradients[image.first_tensor + i].size(), 0.0f);
  const PackedConvolution& last = image.convolutions.back();
  const int64_t channels = last.shape.out_channels;
  for (int64_t pixel = 0; pixel < last.shape.out_pixels(); ++pixel) {
    const float* result = tensor(count - 1) + pixel * last.out_stride;
    float* to = slope(count - 1) + pixel * last.out_stride;
    for (int64_t i = 0; i < channels; ++i) to[i] = result[i] > 0 ? feature_gradient[pixel * channels + i] : 0.0f;
  }
  for (size_t i = count; i-- > 0;) {
    const PackedConvolution& packed = image.convolutions[i];
    const Convolution& shape = packed.shape;
    const int64_t positions = shape.out_pixels(), patch = shape.patch();
    CopyPatches(shape, packed.in_stride, Input(image, i, pixels, row, memory), memory.patches.data());
    Multiply(Start::kAccumulate, patch, packed.out_stride, positions, {memory.patches.data(), 1, patch}, slope(i),
             packed.out_stride, nullptr, gradient + packed.weight_gradient, packed.out_stride);
    AddRows(slope(i), positions, packed.out_stride, packed.out_stride, gradient + packed.bias_gradient);
    if (i == 0) break;
    if (shape.residual) {
      for (int64_t j = 0; j < positions * packed.out_stride; ++j) slope(i - 2)[j] += slope(i)[j];
    }
    Multiply(Start::kZero, positions, packed.patch_padded, shape.out_channels, {slope(i), packed.out_stride, 1},
             packed.weight.data(), packed.patch_padded, nullptr, memory.patch_gradients.data(), packed.patch_padded);
    const int64_t inputs = shape.in_pixels() * packed.in_stride;
    std::fill_n(memory.active.begin(), inputs, 0.0f);
    AddPatches(shape, packed.in_stride, memory.patch_gradients.data(), packed.patch_padded, memory.active.data());
    ApplyReluDerivative(tensor(i - 1), memory.active.data(), inputs);
    for (int64_t j = 0; j < inputs; ++j) slope(i - 1)[j] += memory.active[j];
  }
}

void ConvolutionPass::Unpack(const float* gradient, float* flat) const {
  for (const Image& image : images_) {
    for (const PackedConvolution& packed : image.convolutions) {
      const Convolution& shape = packed.shape;
      const int64_t positions = shape.kernel * shape.kernel;
      float* target = flat + packed.place.weight;
      for (int64_t filter = 0; filter < shape.out_channels; ++filter) {
        for (int64_t channel = 0; channel < shape.in_channels; ++channel) {
          for (int64_t i = 0; i < positions; ++i) {
            const int64_t at = i * shape.in_channels + channel;
            *target++ = gradient[packed.weight_gradient + at * packed.out_stride + filter];
          }
        }
      }
      std::copy_n(gradient + packed.bias_gradient, shape.out_channels, flat + packed.place.bias);
    }
  }
}

}  // namespace agentgym
