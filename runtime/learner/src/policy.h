#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "squash.h"

namespace agentgym {

/// The policy spec and its parameter layout, as the C++ side needs them. All offsets into weights are elements of the
/// flat buffer that runtime/src/policy/parameter-layout.ts orders.

/// `kAction`: of SAC's critics, whose last input is the action; its numbers enter the network as they are.
enum class ObservationKind { kBox, kCategorical, kText, kAction };

/// One convolution over an image; see runtime/src/policy/convolution.ts.
struct Convolution {
  int64_t in_channels, in_height, in_width;
  int64_t out_channels, out_height, out_width;
  int64_t kernel, stride, padding;
  bool residual;  // adds the tensor that the convolution before it read

  int64_t in_pixels() const { return in_height * in_width; }
  int64_t out_pixels() const { return out_height * out_width; }
  int64_t patch() const { return kernel * kernel * in_channels; }
};

struct ObservationLeaf {
  ObservationKind kind;
  int64_t offset;             // first column of the raw observation row
  int64_t size;               // columns of the raw observation row
  std::vector<int64_t> counts;
  int64_t feature_offset;     // first column of the network's input row
  int64_t feature_size;
  int64_t statistics_offset;  // box: first element of normalizer.mean
  int64_t text_index;         // text: position among the text leaves, else -1
  int64_t image_index;        // position among the leaves with convolutions, else -1
  int64_t slots;              // of a list: rows of its columns, which are alike; else 0
  int64_t pixel_offset;       // of those: first column of the pixel row
  std::vector<Convolution> convolutions;
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
  std::vector<Squash> squash;  // one a column; empty: the sample is the action
  int64_t output_offset = 0;   // first of the actor's outputs for it; where there are no pointers, distribution_offset
  int64_t pointer_list = -1;   // a pointer: the observation leaf whose slots it chooses from; else -1
  int64_t pointer_units = 0;   // outputs: the query
  int64_t pointer_index = -1;  // position among the pointers
  int64_t key_weight = -1;     // [units, columns of a slot]
  int64_t key_bias = -1;       // [units]
  int64_t when_column = -1;    // counts only where the action row has `when_choice` here; -1: always
  int64_t when_choice = 0;

  bool Counts(const float* action) const {
    return when_column < 0 || static_cast<int64_t>(action[when_column]) == when_choice;
  }
};

struct Layer {
  int64_t in;
  int64_t out;
  int64_t weight;             // [out, in]
  int64_t bias;               // [out]
};

struct ConvolutionWeights {
  int64_t weight;             // [out, in, kernel, kernel]
  int64_t bias;               // [out]
};

struct Network {
  std::vector<Layer> layers;        // hidden layers, then the output layer
  Layer gru_input{};                // of a policy with memory, between the two: rows of the reset, update and new gates
  Layer gru_state{};
  std::vector<int64_t> embeddings;  // one table [vocabulary, embedding] a text leaf
  std::vector<std::vector<ConvolutionWeights>> images;  // one list a leaf with convolutions
};

/// What the networks are: an actor with a critic; one network whose outputs are the values of the actions (dueling has
/// one output more, the value of the state); SAC's actor, whose outputs are means and log standard deviations; or its
/// critics, two networks that value an observation with an action.
enum class Head { kActorCritic, kQ, kDuelingQ, kSquashedGaussian, kTwinQ };

enum class Initializer { kOrthogonal, kZeros, kOnes, kNormal, kTimescales };

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
  Head head = Head::kActorCritic;
  Network actor;   // of a Q-network the only one; of twin critics the first
  Network critic;  // without layers where there is none; of twin critics the second
  std::vector<Squash> squash;  // of SAC's actor: one a column of the action
  bool relu = false;
  bool normalize_observation = false;
  int64_t embedding = 0;
  int64_t memory = 0;         // units of each network's GRU; 0: there is none
  int64_t observation_size = 0;
  int64_t feature_size = 0;
  int64_t statistics_size = 0;
  int64_t text_leaves = 0;
  int64_t images = 0;
  int64_t pixel_size = 0;     // numbers of all images together
  int64_t action_size = 0;
  int64_t distribution_size = 0;
  int64_t mask_size = 0;
  int64_t output_size = 0;    // the actor's outputs: the distribution, but for pointers the query
  int64_t pointers = 0;
  int64_t gaussian_size = 0;
  int64_t heads = 0;          // log_std and the pointers' parameters, neighbours, with gradients of their own
  int64_t heads_size = 0;
  int64_t log_std = -1;
  int64_t normalizer_mean = -1;
  int64_t normalizer_variance = -1;
  std::vector<uint8_t> fixed_statistics;  // of the normalizer: 1 where they do not follow the observations
  int64_t value_scale = -1;
  int64_t trainable_size = 0;
  int64_t total_size = 0;

  /// Whether the distribution row is the values of the actions.
  bool has_action_values() const { return head == Head::kQ || head == Head::kDuelingQ; }
};

/// Stable-Baselines3's VecNormalize; NORMALIZER_EPSILON and NORMALIZER_CLIP on the TypeScript side.
constexpr float kNormalizerEpsilon = 1e-8f;
constexpr float kNormalizerClip = 10.0f;

}  // namespace agentgym
