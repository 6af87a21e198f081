#include "binding_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "binding_properties.h"
#include "learner_failure.h"

namespace agentgym {

namespace {

std::vector<Convolution> ReadConvolutions(const Napi::Array& layers) {
  std::vector<Convolution> convolutions;
  for (uint32_t i = 0; i < layers.Length(); ++i) {
    const auto object = layers.Get(i).As<Napi::Object>();
    const auto from = object.Get("from").As<Napi::Object>(), to = object.Get("to").As<Napi::Object>();
    convolutions.push_back({ReadInteger(from, "channels"), ReadInteger(from, "height"), ReadInteger(from, "width"),
                            ReadInteger(to, "channels"), ReadInteger(to, "height"), ReadInteger(to, "width"),
                            ReadInteger(object, "kernel"), ReadInteger(object, "stride"),
                            ReadInteger(object, "padding"), ReadBoolean(object, "residual")});
  }
  return convolutions;
}

void ReadObservationLeaves(const Napi::Array& leaves, const Napi::Array& convolutions, Policy& policy) {
  for (uint32_t i = 0; i < leaves.Length(); ++i) {
    const auto object = leaves.Get(i).As<Napi::Object>();
    const std::string kind = ReadString(object, "kind");
    ObservationLeaf leaf{};
    leaf.kind = kind == "box"    ? ObservationKind::kBox
                : kind == "text" ? ObservationKind::kText
                                 : ObservationKind::kCategorical;
    leaf.offset = ReadInteger(object, "offset");
    leaf.size = ReadInteger(object, "size");
    leaf.counts = ReadNumbers<int64_t>(object, "counts");
    leaf.feature_offset = policy.feature_size;
    leaf.statistics_offset = policy.statistics_size;
    leaf.text_index = -1;
    leaf.image_index = -1;
    leaf.slots = object.Get("slots").IsNumber() ? ReadInteger(object, "slots") : 0;
    Require(leaf.slots == 0 || leaf.size % leaf.slots == 0, "slots");
    leaf.convolutions = ReadConvolutions(convolutions.Get(i).As<Napi::Array>());
    switch (leaf.kind) {
      case ObservationKind::kBox:
        leaf.feature_size = leaf.size;
        policy.statistics_size += leaf.size;
        if (leaf.convolutions.empty()) break;
        leaf.image_index = policy.images++;
        leaf.pixel_offset = policy.pixel_size;
        policy.pixel_size += leaf.size;
        leaf.feature_size = leaf.convolutions.back().out_channels * leaf.convolutions.back().out_pixels();
        Require(leaf.convolutions[0].in_channels * leaf.convolutions[0].in_pixels() == leaf.size, "image size");
        break;
      case ObservationKind::kText:
        leaf.feature_size = policy.embedding;
        leaf.text_index = policy.text_leaves++;
        break;
      case ObservationKind::kCategorical:
        for (const int64_t count : leaf.counts) leaf.feature_size += count;
        break;
      case ObservationKind::kAction:
        break;  // no leaf of a spec is one
    }
    policy.feature_size += leaf.feature_size;
    policy.observation_size = std::max(policy.observation_size, leaf.offset + leaf.size);
    policy.observation.push_back(leaf);
  }
}

void ReadSquash(const Napi::Object& object, ActionLeaf& leaf) {
  if (!object.Get("squash").IsArray()) return;
  const Napi::Array kinds = ReadArray(object, "squash");
  for (uint32_t i = 0; i < kinds.Length(); ++i) {
    const std::string kind = kinds.Get(i).As<Napi::String>().Utf8Value();
    Require(kind == "tanh" || kind == "exp" || kind == "sinh", "squash");
    leaf.squash.push_back(kind == "tanh" ? Squash::kTanh : kind == "exp" ? Squash::kExp : Squash::kSinh);
  }
  Require(static_cast<int64_t>(leaf.squash.size()) == leaf.size, "squash");
}

/// Returns the names of the leaves that the policy chooses, in their order.
std::vector<std::string> ReadActionLeaves(const Napi::Array& leaves, Policy& policy) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < leaves.Length(); ++i) {
    const auto object = leaves.Get(i).As<Napi::Object>();
    ActionLeaf leaf{};
    leaf.gaussian = ReadString(object, "kind") == "box";
    leaf.offset = ReadInteger(object, "offset");
    leaf.size = ReadInteger(object, "size");
    leaf.counts = ReadNumbers<int64_t>(object, "counts");
    leaf.distribution_offset = ReadInteger(object, "distributionOffset");
    leaf.mask_offset = ReadInteger(object, "maskOffset");
    leaf.log_std_offset = ReadInteger(object, "logStdOffset");
    leaf.center = ReadNumbers<float>(object, "center");
    leaf.scale = ReadNumbers<float>(object, "scale");
    ReadSquash(object, leaf);
    if (object.Get("when").IsObject()) {
      leaf.when_column = ReadInteger(object.Get("when").As<Napi::Object>(), "column");
      leaf.when_choice = ReadInteger(object.Get("when").As<Napi::Object>(), "choice");
      Require(leaf.when_column < leaf.offset, "when");
    }
    int64_t logits = 0;
    for (const int64_t count : leaf.counts) logits += count;
    policy.action_size += leaf.size;
    if (object.Get("fixed").IsArray()) {  // in the rows, and nowhere else
      policy.mask_size += leaf.gaussian ? 0 : logits;
      continue;
    }
    if (object.Get("pointer").IsObject()) {
      const auto pointer = object.Get("pointer").As<Napi::Object>();
      leaf.pointer_list = ReadInteger(pointer, "leaf");
      leaf.pointer_units = ReadInteger(pointer, "units");
      leaf.pointer_index = policy.pointers++;
      const auto list = static_cast<size_t>(leaf.pointer_list);
      Require(leaf.pointer_list >= 0 && list < policy.observation.size(), "pointer");
      Require(leaf.size == 1 && policy.observation[list].slots == logits, "pointer");
    }
    leaf.output_offset = policy.output_size;
    policy.output_size += leaf.pointer_index >= 0 ? leaf.pointer_units : leaf.gaussian ? leaf.size : logits;
    policy.distribution_size += leaf.gaussian ? leaf.size : logits;
    policy.mask_size += leaf.gaussian ? 0 : logits;
    policy.gaussian_size += leaf.gaussian ? leaf.size : 0;
    policy.action.push_back(leaf);
    names.push_back(ReadString(object, "name"));
  }
  return names;
}

/// Where the actor's parameters beside its network begin, and how many there are.
void FindHeads(Policy& policy) {
  policy.heads = policy.log_std < 0 ? policy.trainable_size : policy.log_std;
  policy.heads_size = policy.gaussian_size;
  for (const ActionLeaf& leaf : policy.action) {
    if (leaf.pointer_index < 0) continue;
    const ObservationLeaf& list = policy.observation[leaf.pointer_list];
    Require(leaf.key_weight >= 0 && leaf.key_bias >= 0, "pointer");
    policy.heads = std::min(policy.heads, leaf.key_weight);
    policy.heads_size += leaf.pointer_units * (list.size / list.slots + 1);
  }
  Require(policy.heads + policy.heads_size == policy.trainable_size, "heads");
}

/// SAC's actor: its distribution row is all means, then all log standard deviations.
void DescribeSquashedGaussian(Policy& policy) {
  for (const ActionLeaf& leaf : policy.action) {
    Require(leaf.gaussian && !leaf.squash.empty() && leaf.offset == leaf.distribution_offset, "a squashed box");
    policy.squash.insert(policy.squash.end(), leaf.squash.begin(), leaf.squash.end());
  }
  policy.distribution_size = 2 * policy.action_size;
  policy.output_size = 2 * policy.action_size;
  policy.gaussian_size = 0;  // of the parameter log_std, which such a policy does not have
}

void ReadParameters(const Napi::Object& layout, Policy& policy) {
  policy.trainable_size = ReadInteger(layout, "trainableSize");
  policy.total_size = ReadInteger(layout, "totalSize");
  const Napi::Array parameters = ReadArray(layout, "parameters");
  for (uint32_t i = 0; i < parameters.Length(); ++i) {
    const auto object = parameters.Get(i).As<Napi::Object>();
    Parameter parameter{};
    parameter.name = ReadString(object, "name");
    parameter.shape = ReadNumbers<int64_t>(object, "shape");
    parameter.offset = ReadInteger(object, "offset");
    parameter.size = ReadInteger(object, "size");
    const Napi::Value init = object.Get("init");
    if (init.IsObject()) {
      parameter.initializer = Initializer::kOrthogonal;
      parameter.gain = ReadNumber(init.As<Napi::Object>(), "orthogonal");
    } else {
      const std::string name = init.As<Napi::String>().Utf8Value();
      parameter.initializer = name == "zeros"  ? Initializer::kZeros
                              : name == "ones" ? Initializer::kOnes
                              : name == "timescales" ? Initializer::kTimescales
                                                     : Initializer::kNormal;
    }
    Require(parameter.offset >= 0 && parameter.offset + parameter.size <= policy.total_size, "parameter layout");
    policy.parameters.push_back(parameter);
  }
}

/// Finds a network's arrays by the names that parameter-layout.ts gives them.
Network FindNetwork(const Policy& policy, const std::string& name, const Napi::Array& leaves, size_t hidden) {
  std::map<std::string, const Parameter*> by_name;
  for (const Parameter& parameter : policy.parameters) by_name[parameter.name] = &parameter;
  const auto find = [&](const std::string& key) {
    Require(by_name.count(key) == 1, key.c_str());
    return by_name[key];
  };
  Network network;
  for (uint32_t i = 0; i < leaves.Length(); ++i) {
    const std::string leaf = ReadString(leaves.Get(i).As<Napi::Object>(), "name");
    if (policy.observation[i].kind == ObservationKind::kText) {
      network.embeddings.push_back(find(name + ".embedding." + leaf)->offset);
    }
    if (policy.observation[i].image_index < 0) continue;
    network.images.emplace_back();
    for (size_t layer = 0; layer < policy.observation[i].convolutions.size(); ++layer) {
      const std::string key = name + ".image." + leaf + "." + std::to_string(layer);
      network.images.back().push_back({find(key + ".weight")->offset, find(key + ".bias")->offset});
    }
  }
  const auto layer = [&](const std::string& key) {
    const Parameter* weight = find(key + ".weight");
    return Layer{weight->shape[1], weight->shape[0], weight->offset, find(key + ".bias")->offset};
  };
  for (size_t i = 0; i < hidden; ++i) network.layers.push_back(layer(name + "." + std::to_string(i)));
  network.layers.push_back(layer(name + ".out"));
  if (policy.memory > 0) {
    network.gru_input = layer(name + ".gru.input");
    network.gru_state = layer(name + ".gru.state");
  }
  return network;
}

}  // namespace

Policy ReadPolicy(const Napi::Object& spec, const Napi::Object& layout) {
  Policy policy;
  policy.relu = ReadString(spec, "activation") == "relu";
  policy.normalize_observation = ReadBoolean(spec, "normalizeObservation");
  policy.embedding = ReadInteger(spec, "embedding");
  if (spec.Get("memory").IsObject()) policy.memory = ReadInteger(spec.Get("memory").As<Napi::Object>(), "units");
  const Napi::Array observation = ReadArray(spec, "observation");
  ReadObservationLeaves(observation, ReadArray(layout, "convolutions"), policy);
  const std::vector<std::string> action_names = ReadActionLeaves(ReadArray(spec, "action"), policy);
  ReadParameters(layout, policy);
  const size_t hidden = ReadArray(spec, "hidden").Length();
  const Napi::Value head = spec.Get("head");
  if (head.IsString()) {
    const std::string name = ReadString(spec, "head");
    policy.head = name == "q" ? Head::kQ : name == "dueling_q" ? Head::kDuelingQ : Head::kSquashedGaussian;
  }
  if (policy.head == Head::kSquashedGaussian) DescribeSquashedGaussian(policy);
  const bool q = policy.has_action_values();
  policy.actor = FindNetwork(policy, q ? "q" : "actor", observation, hidden);
  if (policy.head == Head::kActorCritic) policy.critic = FindNetwork(policy, "critic", observation, hidden);
  for (const Parameter& parameter : policy.parameters) {
    if (parameter.name == "log_std") policy.log_std = parameter.offset;
    for (size_t i = 0; i < policy.action.size(); ++i) {
      ActionLeaf& leaf = policy.action[i];
      const std::string key = "pointer." + action_names[i];
      if (parameter.name == key + ".weight") leaf.key_weight = parameter.offset;
      if (parameter.name == key + ".bias") leaf.key_bias = parameter.offset;
    }
    if (parameter.name == "normalizer.mean") policy.normalizer_mean = parameter.offset;
    if (parameter.name == "normalizer.variance") policy.normalizer_variance = parameter.offset;
    if (parameter.name == "value.scale") policy.value_scale = parameter.offset;
  }
  FindHeads(policy);
  const bool direct = policy.memory > 0 && hidden == 0;  // features enter the GRU
  const int64_t width = direct ? policy.actor.gru_input.in : policy.actor.layers[0].in;
  Require(width == policy.feature_size, "feature size");
  const int64_t outputs = policy.output_size + (policy.head == Head::kDuelingQ ? 1 : 0);
  Require(policy.actor.layers.back().out == outputs, "distribution size");
  Require(!q || policy.action_size == 1, "a Q-network chooses one action");
  Require(policy.head != Head::kActorCritic || policy.value_scale >= policy.trainable_size, "value.scale");
  return policy;
}

Policy ReadCritics(const Policy& actor, const Napi::Object& spec, const Napi::Object& layout) {
  Policy policy = actor;
  policy.head = Head::kTwinQ;
  policy.action.clear();
  policy.squash.clear();
  policy.parameters.clear();
  policy.action_size = 0;
  policy.distribution_size = 1;
  policy.output_size = 1;
  ObservationLeaf action{};
  action.kind = ObservationKind::kAction;
  action.offset = actor.observation_size;
  action.size = actor.action_size;
  action.feature_offset = actor.feature_size;
  action.feature_size = actor.action_size;
  action.text_index = -1;
  action.image_index = -1;
  const Napi::Array observation = ReadArray(spec, "observation");
  const size_t hidden = ReadArray(spec, "hidden").Length();
  ReadParameters(layout, policy);
  policy.actor = FindNetwork(policy, "q1", observation, hidden);
  policy.critic = FindNetwork(policy, "q2", observation, hidden);
  for (const Parameter& parameter : policy.parameters) {
    if (parameter.name == "normalizer.mean") policy.normalizer_mean = parameter.offset;
    if (parameter.name == "normalizer.variance") policy.normalizer_variance = parameter.offset;
  }
  policy.observation.push_back(action);
  policy.observation_size += action.size;
  policy.feature_size += action.size;
  Require(policy.actor.layers[0].in == policy.feature_size, "feature size of the critics");
  return policy;
}

namespace {

/// Data and length of a typed array. Straight from Node-API: node-addon-api's TypedArrayOf assumes an ArrayBuffer where
/// napi_get_typedarray_info gives the data pointer of a SharedArrayBuffer as well.
void* ReadTypedArray(const Napi::Value& value, napi_typedarray_type type, int64_t length, const char* name) {
  bool is_typed_array = false;
  napi_is_typedarray(value.Env(), value, &is_typed_array);
  Require(is_typed_array, name);
  napi_typedarray_type actual;
  size_t actual_length = 0;
  void* data = nullptr;
  const napi_status status =
      napi_get_typedarray_info(value.Env(), value, &actual, &actual_length, &data, nullptr, nullptr);
  Require(status == napi_ok && actual == type, name);
  Require(static_cast<int64_t>(actual_length) == length, name);
  return data;
}

Napi::Value NumberOrNull(Napi::Env env, std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return env.Null();
  return Napi::Number::New(env, *value);
}

}  // namespace

const float* ReadFloats(const Napi::Value& value, int64_t length, const char* name) {
  return static_cast<const float*>(ReadTypedArray(value, napi_float32_array, length, name));
}

std::vector<Segment> ReadRollout(const Napi::Array& rollout, const Policy& policy) {
  std::vector<Segment> segments;
  for (uint32_t i = 0; i < rollout.Length(); ++i) {
    const auto object = rollout.Get(i).As<Napi::Object>();
    Segment segment{};
    segment.steps = ReadInteger(object, "steps");
    segment.environments = ReadInteger(object, "environments");
    Require(segment.steps > 0 && segment.environments > 0, "a segment is empty");
    const int64_t rows = segment.steps * segment.environments;
    const auto floats = [&](const char* name, int64_t length) { return ReadFloats(object.Get(name), length, name); };
    segment.observations = floats("observations", (rows + segment.environments) * policy.observation_size);
    segment.final_observations = floats("finalObservations", rows * policy.observation_size);
    segment.actions = floats("actions", rows * policy.action_size);
    segment.log_probabilities = floats("logProbabilities", rows);
    segment.rewards = floats("rewards", rows);
    segment.flags = static_cast<const uint8_t*>(ReadTypedArray(object.Get("flags"), napi_uint8_array, rows, "flags"));
    const Napi::Value masks = object.Get("masks");
    if (!masks.IsNull()) {
      const int64_t length = rows * policy.mask_size;
      segment.masks = static_cast<const uint8_t*>(ReadTypedArray(masks, napi_uint8_array, length, "masks"));
      if (policy.mask_size == 0) segment.masks = nullptr;
    }
    const Napi::Value lengths = object.Get("lengths");
    if (!lengths.IsNull()) {
      segment.lengths =
          static_cast<const int32_t*>(ReadTypedArray(lengths, napi_int32_array, segment.environments, "lengths"));
    }
    const Napi::Value states = object.Get("states");
    if (policy.memory > 0) segment.states = ReadFloats(states, segment.environments * policy.memory, "states");
    segments.push_back(segment);
  }
  return segments;
}

void ReadSequences(const Napi::Value& value, const Policy& policy, int64_t rows, Batch& batch) {
  Require(value.IsObject(), "a policy with memory takes sequences");
  const auto object = value.As<Napi::Object>();
  const auto count = static_cast<int64_t>(object.Get("lengths").As<Napi::Int32Array>().ElementLength());
  const auto* lengths =
      static_cast<const int32_t*>(ReadTypedArray(object.Get("lengths"), napi_int32_array, count, "lengths"));
  const float* states = ReadFloats(object.Get("states"), count * 2 * policy.memory, "states");
  int64_t first = 0;
  for (int64_t i = 0; i < count; ++i) {
    Require(lengths[i] > 0, "a sequence is empty");
    batch.sequences.push_back({first, lengths[i], i});
    first += lengths[i];
    const float* critic = states + policy.memory;
    batch.actor_states.insert(batch.actor_states.end(), states, critic);
    batch.critic_states.insert(batch.critic_states.end(), critic, critic + policy.memory);
    states += 2 * policy.memory;
  }
  Require(first == rows, "sequences are not of all rows");
}

Batch ReadMinibatch(const Napi::Object& object, const Policy& policy) {
  Batch batch;
  batch.size = ReadInteger(object, "size");
  Require(batch.size > 0, "a minibatch is empty");
  const auto floats = [&](const char* name, int64_t columns) {
    const float* data = ReadFloats(object.Get(name), batch.size * columns, name);
    return std::vector<float>(data, data + batch.size * columns);
  };
  batch.observations = floats("observations", policy.observation_size);
  batch.actions = floats("actions", policy.action_size);
  batch.log_probabilities = floats("logProbabilities", 1);
  batch.advantages = floats("advantages", 1);
  batch.returns = floats("returns", 1);
  batch.values = floats("values", 1);
  if (!object.Get("referenceLogProbabilities").IsNull()) {
    batch.reference_log_probabilities = floats("referenceLogProbabilities", 1);
  }
  if (!object.Get("noise").IsUndefined()) batch.noise = floats("noise", policy.action_size);
  const Napi::Value masks = object.Get("masks");
  if (!masks.IsNull() && policy.mask_size > 0) {
    const int64_t length = batch.size * policy.mask_size;
    const auto* data = static_cast<const uint8_t*>(ReadTypedArray(masks, napi_uint8_array, length, "masks"));
    batch.masks.assign(data, data + length);
  }
  if (policy.memory > 0) ReadSequences(object.Get("sequences"), policy, batch.size, batch);
  return batch;
}

Napi::Float32Array WriteFloats(Napi::Env env, const float* values, size_t count) {
  Napi::Float32Array array = Napi::Float32Array::New(env, count);
  std::copy_n(values, count, array.Data());
  return array;
}

Napi::Object WriteMetrics(Napi::Env env, const UpdateMetrics& metrics) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("policyLoss", NumberOrNull(env, metrics.policy_loss));
  object.Set("valueLoss", NumberOrNull(env, metrics.value_loss));
  object.Set("entropy", NumberOrNull(env, metrics.entropy));
  object.Set("approximateKl", NumberOrNull(env, metrics.approximate_kl));
  object.Set("clipFraction", NumberOrNull(env, metrics.clip_fraction));
  object.Set("explainedVariance", NumberOrNull(env, metrics.explained_variance));
  object.Set("klToReference", NumberOrNull(env, metrics.kl_to_reference));
  object.Set("zeroVarianceGroups", NumberOrNull(env, metrics.zero_variance_groups));
  object.Set("valueMean", NumberOrNull(env, metrics.value_mean));
  object.Set("entropyCoefficient", NumberOrNull(env, metrics.entropy_coefficient));
  object.Set("gradientNorm", NumberOrNull(env, metrics.gradient_norm));
  object.Set("gradientSeconds", NumberOrNull(env, metrics.gradient_seconds));
  object.Set("sharedSeconds", NumberOrNull(env, metrics.shared_seconds));
  object.Set("epochsRun", static_cast<double>(metrics.epochs_run));
  object.Set("minibatchesRun", static_cast<double>(metrics.minibatches_run));
  return object;
}

}  // namespace agentgym
