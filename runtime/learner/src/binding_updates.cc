#include <limits>
#include <optional>
#include <string>

#include "binding_properties.h"
#include "binding_values.h"
#include "learner_failure.h"

namespace agentgym {

namespace {

OptimizerSettings ReadOptimizer(const Napi::Object& object) {
  OptimizerSettings optimizer{};
  optimizer.optimizer = ReadString(object, "optimizer") == "rmsprop" ? Optimizer::kRmsprop : Optimizer::kAdam;
  optimizer.epochs = ReadInteger(object, "epochs");
  optimizer.minibatch_size = ReadInteger(object, "minibatchSize");
  optimizer.learning_rate = ReadNumber(object, "learningRate");
  optimizer.max_gradient_norm = ReadNumber(object, "maxGradientNorm");
  optimizer.target_kl = ReadOptionalNumber(object, "targetKl");
  optimizer.seed = static_cast<uint32_t>(ReadInteger(object, "seed"));
  Require(optimizer.epochs > 0 && optimizer.minibatch_size > 0, "epochs and minibatchSize must be positive");
  return optimizer;
}

PpoUpdate ReadPpo(const Napi::Object& object) {
  PpoUpdate update{};
  update.gamma = ReadNumber(object, "gamma");
  update.gae_lambda = ReadNumber(object, "gaeLambda");
  update.normalize_observation = ReadBoolean(object, "normalizeObservation");
  update.normalize_reward = ReadBoolean(object, "normalizeReward");
  update.optimizer = ReadOptimizer(object);
  update.loss.clip_range = ReadOptionalNumber(object, "clipRange").value_or(std::numeric_limits<double>::infinity());
  update.loss.clip_range_value = ReadOptionalNumber(object, "clipRangeValue");
  update.loss.entropy_coefficient = ReadNumber(object, "entropyCoefficient");
  update.loss.value_coefficient = ReadNumber(object, "valueCoefficient");
  update.loss.normalize_advantage = ReadBoolean(object, "normalizeAdvantage");
  update.loss.critic = true;
  return update;
}

GrpoUpdate ReadGrpo(const Napi::Object& object) {
  GrpoUpdate update{};
  update.group_size = ReadInteger(object, "groupSize");
  update.normalize_observation = ReadBoolean(object, "normalizeObservation");
  update.optimizer = ReadOptimizer(object);
  update.loss.clip_range = ReadNumber(object, "clipRange");
  update.loss.entropy_coefficient = ReadNumber(object, "entropyCoefficient");
  update.loss.kl_coefficient = ReadNumber(object, "klCoefficient");
  return update;
}

DqnUpdate ReadDqn(const Napi::Object& object) {
  DqnUpdate update{};
  update.gamma = ReadNumber(object, "gamma");
  update.n_step = ReadInteger(object, "nStep");
  update.double_q = ReadBoolean(object, "doubleQ");
  update.gradient_steps = ReadInteger(object, "gradientSteps");
  update.minibatch_size = ReadInteger(object, "minibatchSize");
  update.target_interval = ReadInteger(object, "targetInterval");
  update.tau = ReadNumber(object, "tau");
  update.learning_rate = ReadNumber(object, "learningRate");
  update.max_gradient_norm = ReadNumber(object, "maxGradientNorm");
  update.seed = static_cast<uint32_t>(ReadInteger(object, "seed"));
  Require(update.n_step > 0 && update.gradient_steps > 0 && update.minibatch_size > 0 && update.target_interval > 0,
          "nStep, gradientSteps, minibatchSize and targetInterval must be positive");
  return update;
}

SacUpdate ReadSac(const Napi::Object& object) {
  SacUpdate update{};
  update.gamma = ReadNumber(object, "gamma");
  update.gradient_steps = ReadInteger(object, "gradientSteps");
  update.minibatch_size = ReadInteger(object, "minibatchSize");
  update.tau = ReadNumber(object, "tau");
  update.learning_rate = ReadNumber(object, "learningRate");
  update.entropy_coefficient = ReadNumber(object, "entropyCoefficient");
  update.learn_entropy_coefficient = ReadBoolean(object, "learnEntropyCoefficient");
  update.target_entropy = ReadNumber(object, "targetEntropy");
  update.seed = static_cast<uint32_t>(ReadInteger(object, "seed"));
  Require(update.gradient_steps > 0 && update.minibatch_size > 0, "gradientSteps and minibatchSize must be positive");
  return update;
}

}  // namespace

Update ReadUpdate(const Napi::Object& object) {
  const std::string algorithm = ReadString(object, "algorithm");
  if (algorithm == "grpo") return ReadGrpo(object);
  if (algorithm == "dqn") return ReadDqn(object);
  if (algorithm == "sac") return ReadSac(object);
  Require(algorithm == "ppo", "algorithm");
  return ReadPpo(object);
}

}  // namespace agentgym
