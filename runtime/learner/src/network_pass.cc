#include "network_pass.h"

#include <algorithm>

#include "matrix_kernels.h"
#include "vector_math.h"

namespace agentgym {

NetworkPass::NetworkPass(const Policy& policy, const Network& network)
    : relu_(policy.relu),
      activate_last_(policy.memory > 0),
      feature_stride_(Padded(policy.feature_size)),
      needs_feature_gradient_(policy.text_leaves + policy.images > 0),
      has_feature_gradient_(needs_feature_gradient_ || policy.head == Head::kTwinQ) {
  std::vector<Layer> layers = network.layers;
  if (policy.memory > 0) layers.pop_back();
  AddLayers(layers);
}

NetworkPass::NetworkPass(const Layer& layer)
    : relu_(false), activate_last_(false), feature_stride_(Padded(layer.in)), needs_feature_gradient_(true),
      has_feature_gradient_(true) {
  AddLayers({layer});
}

void NetworkPass::AddLayers(const std::vector<Layer>& layers) {
  for (size_t i = 0; i < layers.size(); ++i) {
    PackedLayer packed;
    packed.layer = layers[i];
    const auto [in, out, weight, bias] = packed.layer;
    packed.in_padded = Padded(in);
    packed.out_padded = Padded(out);
    packed.transposed_gradient = in * packed.out_padded < out * packed.in_padded;
    packed.weight_gradient = gradient_size_;
    gradient_size_ += packed.transposed_gradient ? in * packed.out_padded : out * packed.in_padded;
    packed.bias_gradient = gradient_size_;
    gradient_size_ += packed.out_padded;
    if (i > 0 || has_feature_gradient_) packed.weight = Panels(out, packed.in_padded);
    packed.transposed = Panels(in, packed.out_padded);
    packed.bias.assign(packed.out_padded, 0.0f);
    layers_.push_back(std::move(packed));
  }
}

TileMemory NetworkPass::MakeMemory(int64_t tile_rows) const {
  TileMemory memory;
  int64_t widest = feature_stride_;
  for (const PackedLayer& layer : layers_) {
    memory.results.emplace_back(tile_rows * layer.out_padded, 0.0f);
    widest = std::max({widest, layer.in_padded, layer.out_padded});
  }
  memory.features.assign(tile_rows * feature_stride(), 0.0f);
  memory.gradient.assign(tile_rows * widest, 0.0f);
  memory.next_gradient.assign(tile_rows * widest, 0.0f);
  return memory;
}

void NetworkPass::Pack(const float* weights) {
  for (PackedLayer& packed : layers_) {
    const Layer& layer = packed.layer;
    const float* source = weights + layer.weight;
    if (!packed.weight.empty()) packed.weight.Copy(source, layer.in);
    packed.transposed.CopyTransposed(source, layer.out);
    std::copy_n(weights + layer.bias, layer.out, packed.bias.begin());
  }
}

const float* NetworkPass::Forward(const float* features, int64_t rows, TileMemory& memory) const {
  const float* input = features;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const PackedLayer& layer = layers_[i];
    float* result = memory.results[i].data();
    Multiply(Start::kBias, rows, {input, layer.in_padded, 1}, layer.transposed, layer.bias.data(), result,
             layer.out_padded);
    if (i + 1 < layers_.size() || activate_last_) {
      if (relu_) {
        ApplyRelu(result, rows * layer.out_padded);
      } else {
        ApplyTanh(result, rows * layer.out_padded);
      }
    }
    input = result;
  }
  return input;
}

const float* NetworkPass::Backward(const float* features, int64_t rows, TileMemory& memory, float* gradient) const {
  float* output_gradient = memory.gradient.data();
  float* input_gradient = memory.next_gradient.data();
  if (activate_last_ && !layers_.empty()) {
    ApplyDerivative(memory.results.back().data(), output_gradient, rows * layers_.back().out_padded);
  }
  for (size_t i = layers_.size(); i-- > 0;) {
    const PackedLayer& layer = layers_[i];
    const float* input = i == 0 ? features : memory.results[i - 1].data();
    if (gradient != nullptr) {
      AddWeightGradient(layer, input, rows, output_gradient, gradient);
      if (i == 0 && !needs_feature_gradient_) return nullptr;
    }
    Multiply(Start::kZero, rows, {output_gradient, layer.out_padded, 1}, layer.weight, nullptr, input_gradient,
             layer.in_padded);
    if (i > 0) ApplyDerivative(input, input_gradient, rows * layer.in_padded);
    std::swap(output_gradient, input_gradient);
  }
  return output_gradient;
}

void NetworkPass::ApplyDerivative(const float* results, float* gradient, int64_t count) const {
  if (relu_) {
    ApplyReluDerivative(results, gradient, count);
  } else {
    ApplyTanhDerivative(results, gradient, count);
  }
}

/// Of the two ways to lay the product out, the one that wastes less of the registers: [64, 4] becomes [4, 64].
void NetworkPass::AddWeightGradient(const PackedLayer& layer, const float* input, int64_t rows,
                                    const float* output_gradient, float* gradient) const {
  float* weight = gradient + layer.weight_gradient;
  if (layer.transposed_gradient) {
    Multiply(Start::kAccumulate, layer.layer.in, layer.out_padded, rows, {input, 1, layer.in_padded}, output_gradient,
             layer.out_padded, nullptr, weight, layer.out_padded);
  } else {
    Multiply(Start::kAccumulate, layer.layer.out, layer.in_padded, rows, {output_gradient, 1, layer.out_padded}, input,
             layer.in_padded, nullptr, weight, layer.in_padded);
  }
  AddRows(output_gradient, rows, layer.out_padded, layer.out_padded, gradient + layer.bias_gradient);
}

void NetworkPass::Unpack(const float* gradient, float* flat) const {
  for (const PackedLayer& packed : layers_) {
    const Layer& layer = packed.layer;
    const float* source = gradient + packed.weight_gradient;
    float* target = flat + layer.weight;
    for (int64_t o = 0; o < layer.out; ++o) {
      if (!packed.transposed_gradient) {
        std::copy_n(source + o * packed.in_padded, layer.in, target + o * layer.in);
        continue;
      }
      for (int64_t i = 0; i < layer.in; ++i) target[o * layer.in + i] = source[i * packed.out_padded + o];
    }
    std::copy_n(gradient + packed.bias_gradient, layer.out, flat + layer.bias);
  }
}

}  // namespace agentgym
