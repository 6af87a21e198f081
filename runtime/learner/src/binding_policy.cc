#include <algorithm>
#include <map>
#include <string>

#include "binding_objects.h"
#include "binding_values.h"
#include "learner_failure.h"

namespace agentgym {

namespace {

void ReadObservationLeaves(const Napi::Array& leaves, Policy& policy) {
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
    switch (leaf.kind) {
      case ObservationKind::kBox:
        leaf.feature_size = leaf.size;
        policy.statistics_size += leaf.size;
        break;
      case ObservationKind::kText:
        leaf.feature_size = policy.embedding;
        leaf.text_index = policy.text_leaves++;
        break;
      case ObservationKind::kCategorical:
        for (const int64_t count : leaf.counts) leaf.feature_size += count;
        break;
    }
    policy.feature_size += leaf.feature_size;
    policy.observation_size = std::max(policy.observation_size, leaf.offset + leaf.size);
    policy.observation.push_back(leaf);
  }
}

void ReadActionLeaves(const Napi::Array& leaves, Policy& policy) {
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
    int64_t logits = 0;
    for (const int64_t count : leaf.counts) logits += count;
    policy.action_size += leaf.size;
    policy.distribution_size += leaf.gaussian ? leaf.size : logits;
    policy.mask_size += leaf.gaussian ? 0 : logits;
    policy.gaussian_size += leaf.gaussian ? leaf.size : 0;
    policy.action.push_back(leaf);
  }
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
    if (policy.observation[i].kind != ObservationKind::kText) continue;
    const std::string leaf = ReadString(leaves.Get(i).As<Napi::Object>(), "name");
    network.embeddings.push_back(find(name + ".embedding." + leaf)->offset);
  }
  for (size_t i = 0; i <= hidden; ++i) {
    const std::string layer = name + "." + (i < hidden ? std::to_string(i) : "out");
    const Parameter* weight = find(layer + ".weight");
    network.layers.push_back({weight->shape[1], weight->shape[0], weight->offset, find(layer + ".bias")->offset});
  }
  return network;
}

}  // namespace

Policy ReadPolicy(const Napi::Object& spec, const Napi::Object& layout) {
  Policy policy;
  policy.relu = ReadString(spec, "activation") == "relu";
  policy.normalize_observation = ReadBoolean(spec, "normalizeObservation");
  policy.embedding = ReadInteger(spec, "embedding");
  const Napi::Array observation = ReadArray(spec, "observation");
  ReadObservationLeaves(observation, policy);
  ReadActionLeaves(ReadArray(spec, "action"), policy);
  ReadParameters(layout, policy);
  const size_t hidden = ReadArray(spec, "hidden").Length();
  policy.actor = FindNetwork(policy, "actor", observation, hidden);
  policy.critic = FindNetwork(policy, "critic", observation, hidden);
  for (const Parameter& parameter : policy.parameters) {
    if (parameter.name == "log_std") policy.log_std = parameter.offset;
    if (parameter.name == "normalizer.mean") policy.normalizer_mean = parameter.offset;
    if (parameter.name == "normalizer.variance") policy.normalizer_variance = parameter.offset;
    if (parameter.name == "value.scale") policy.value_scale = parameter.offset;
  }
  Require(policy.actor.layers[0].in == policy.feature_size, "feature size");
  Require(policy.actor.layers.back().out == policy.distribution_size, "distribution size");
  Require(policy.value_scale >= policy.trainable_size, "value.scale");
  return policy;
}

}  // namespace agentgym
