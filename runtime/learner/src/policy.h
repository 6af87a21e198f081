#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace agentgym {

/// The policy spec and its parameter layout, as the C++ side needs them. All offsets into weights are elements of the
/// flat buffer that runtime/src/policy/parameter-layout.ts orders.

enum class ObservationKind { kBox, kCategorical, kText };

struct ObservationLeaf {
  ObservationKind kind;
  int64_t offset;             // first column of the raw observation row
  int64_t size;               // columns of the raw observation row
  std::vector<int64_t> counts;
  int64_t feature_offset;     // first column of the network's input row
  int64_t feature_size;
  int64_t statistics_offset;  // box: first element of normalizer.mean
  int64_t text_index;         // text: position among the text leaves, else -1
};

struct ActionLeaf {
  bool gaussian;
  int64_t offset;
  int64_t size;
  std::vector<int64_t> counts;
  int64_t distribution_offset;
  int64_t mask_offset;
  int64_t log_std_offset;     // first element within log_std
  std::vector<float> center;
  std::vector<float> scale;
};

struct Layer {
  int64_t in;
  int64_t out;
  int64_t weight;             // [out, in]
  int64_t bias;               // [out]
};

struct Network {
  std::vector<Layer> layers;        // hidden layers, then the output layer
  std::vector<int64_t> embeddings;  // one table [vocabulary, embedding] a text leaf
};

enum class Initializer { kOrthogonal, kZeros, kOnes, kNormal };

struct Parameter {
  std::string name;
  std::vector<int64_t> shape;
  int64_t offset;
  int64_t size;
  Initializer initializer;
  double gain;
};

struct Policy {
  std::vector<ObservationLeaf> observation;
  std::vector<ActionLeaf> action;
  std::vector<Parameter> parameters;
  Network actor;
  Network critic;
  bool relu = false;
  bool normalize_observation = false;
  int64_t embedding = 0;
  int64_t observation_size = 0;
  int64_t feature_size = 0;
  int64_t statistics_size = 0;
  int64_t text_leaves = 0;
  int64_t action_size = 0;
  int64_t distribution_size = 0;
  int64_t mask_size = 0;
  int64_t gaussian_size = 0;
  int64_t log_std = -1;
  int64_t normalizer_mean = -1;
  int64_t normalizer_variance = -1;
  int64_t value_scale = -1;
  int64_t trainable_size = 0;
  int64_t total_size = 0;
};

/// Stable-Baselines3's VecNormalize; NORMALIZER_EPSILON and NORMALIZER_CLIP on the TypeScript side.
constexpr float kNormalizerEpsilon = 1e-8f;
constexpr float kNormalizerClip = 10.0f;

}  // namespace agentgym
