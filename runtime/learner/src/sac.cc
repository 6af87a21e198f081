#include "sac.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "learner_failure.h"

namespace agentgym {

namespace {

constexpr float kHalfLogTwoPi = 0.91893853320467274178f;

/// A number of the action as critics see it, from the Gaussian's sample u: tanh(u) between two bounds, so in units of the
/// bounds, and else u itself. The policy's density, and so its entropy, is that of this number.
struct CriticCoordinate {
  float value;
  float slope;         // d value / d u
  float log_slope;
  float log_slope_by_u;
};

CriticCoordinate CoordinateOf(Squash squash, float u) {
  if (squash != Squash::kTanh) return {u, 1.0f, 0.0f, 0.0f};
  const float value = std::tanh(u);
  return {value, 1.0f - value * value, LogSlope(squash, u), -2.0f * value};
}

/// Observations with their actions: rows of the critics' networks. `actions` are samples u.
std::vector<float> CriticRows(const Policy& policy, const std::vector<float>& observations,
                              const std::vector<float>& actions, int64_t size) {
  const int64_t width = policy.observation_size, columns = policy.action_size;
  std::vector<float> rows(size * (width + columns));
  for (int64_t i = 0; i < size; ++i) {
    float* row = &rows[i * (width + columns)];
    std::copy_n(&observations[i * width], width, row);
    for (int64_t j = 0; j < columns; ++j) row[width + j] = CoordinateOf(policy.squash[j], actions[i * columns + j]).value;
  }
  return rows;
}

/// Actions of the policy: samples u, and log π of each row's action.
struct DrawnActions {
  std::vector<float> samples;
  std::vector<float> log_probabilities;
};

DrawnActions DrawActions(const Policy& policy, const std::vector<float>& observations, const std::vector<float>& noise,
                         int64_t size, Engine& actor) {
  const int64_t columns = policy.action_size;
  std::vector<float> distribution(size * policy.distribution_size);
  actor.Forward(observations.data(), size, distribution.data(), nullptr);
  DrawnActions drawn{std::vector<float>(size * columns), std::vector<float>(size, 0.0f)};
  for (int64_t i = 0; i < size; ++i) {
    const float* row = &distribution[i * policy.distribution_size];
    for (int64_t j = 0; j < columns; ++j) {
      const float z = noise[i * columns + j];
      const float u = row[j] + std::exp(row[columns + j]) * z;
      drawn.samples[i * columns + j] = u;
      drawn.log_probabilities[i] -=
          0.5f * z * z + row[columns + j] + kHalfLogTwoPi + CoordinateOf(policy.squash[j], u).log_slope;
    }
  }
  return drawn;
}

std::vector<int32_t> AllRows(int64_t count) {
  std::vector<int32_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

void StepEntropyCoefficient(double gradient, double learning_rate, EntropyCoefficient& entropy) {
  const auto number = static_cast<double>(++entropy.steps);
  entropy.first_moment += (1 - kAdamBeta1) * (gradient - entropy.first_moment);
  entropy.second_moment += (1 - kAdamBeta2) * (gradient * gradient - entropy.second_moment);
  const double mean = entropy.first_moment / (1 - std::pow(kAdamBeta1, number));
  const double square = entropy.second_moment / (1 - std::pow(kAdamBeta2, number));
  entropy.logarithm -= learning_rate * mean / (std::sqrt(square) + kAdamEpsilon);
}

}  // namespace

UpdateMetrics RunSacUpdate(const Policy& policy, const SacUpdate& update, const ReplayBuffer& replay, Engine& actor,
                           TrainingState& state, SacCritics& critics) {
  Require(replay.size() > 0, "the replay buffer is empty");
  SplitMix64 random(update.seed);
  EntropyCoefficient& entropy = critics.entropy;
  if (entropy.steps == 0) entropy.logarithm = std::log(update.entropy_coefficient);
  double alpha = update.learn_entropy_coefficient ? std::exp(entropy.logarithm) : update.entropy_coefficient;
  std::vector<uint32_t> drawn(update.minibatch_size);
  Transitions transitions;
  Batch batch;
  double policy_loss = 0, value_loss = 0, entropies = 0, values = 0, norms = 0;
  for (int64_t step = 0; step < update.gradient_steps; ++step) {
    for (uint32_t& index : drawn) index = random.Below(static_cast<uint32_t>(replay.size()));
    replay.Gather(drawn.data(), update.minibatch_size, 1, update.gamma, transitions);
    batch.size = transitions.size;
    batch.returns = SacTargets(policy, transitions, alpha, actor, critics, random);
    batch.observations.swap(transitions.observations);
    batch.actions.swap(transitions.actions);

    const MinibatchLoss of_critics = ComputeCriticsGradient(policy, batch, critics);
    const double norm = critics.online.engine->GradientNorm();
    if (!std::isfinite(of_critics.value_loss) || !std::isfinite(norm)) FailDiverged("the value loss", 0, step);
    critics.online.engine->Step({Optimizer::kAdam, update.learning_rate, 1.0, ++critics.online.state.optimizer_steps});

    batch.noise = DrawNoise(batch.size * policy.action_size, random);
    const MinibatchLoss of_actor = ComputeActorGradient(policy, batch, alpha, actor, critics);
    if (!std::isfinite(of_actor.policy_loss)) FailDiverged("the policy loss", 0, step);
    actor.Step({Optimizer::kAdam, update.learning_rate, 1.0, ++state.optimizer_steps});

    if (update.learn_entropy_coefficient) {
      const double gradient = EntropyCoefficientGradient(of_actor.entropy, update.target_entropy);
      StepEntropyCoefficient(gradient, update.learning_rate, entropy);
      alpha = std::exp(entropy.logarithm);
    }
    critics.online.engine->Download();
    MoveTarget(critics.policy, critics.online.state, update.tau, critics.target);

    policy_loss += of_actor.policy_loss;
    value_loss += of_critics.value_loss;
    entropies += of_actor.entropy;
    values += of_actor.value;
    norms += norm;
  }
  actor.Download();
  if (!AllFinite(state.weights) || !AllFinite(critics.online.state.weights) || !std::isfinite(alpha)) {
    FailDiverged("a weight", 0, update.gradient_steps - 1);
  }
  const auto count = static_cast<double>(update.gradient_steps);
  UpdateMetrics metrics;
  metrics.policy_loss = policy_loss / count;
  metrics.value_loss = value_loss / count;
  metrics.entropy = entropies / count;
  metrics.value_mean = values / count;
  metrics.entropy_coefficient = alpha;
  metrics.gradient_norm = norms / count;
  metrics.epochs_run = 1;
  metrics.minibatches_run = update.gradient_steps;
  return metrics;
}

std::vector<float> SacTargets(const Policy& policy, const Transitions& batch, double entropy_coefficient, Engine& actor,
                              SacCritics& critics, SplitMix64& random) {
  const std::vector<float> noise = DrawNoise(batch.size * policy.action_size, random);
  const DrawnActions next = DrawActions(policy, batch.next_observations, noise, batch.size, actor);
  const std::vector<float> rows = CriticRows(policy, batch.next_observations, next.samples, batch.size);
  std::vector<float> one(batch.size), other(batch.size), targets(batch.size);
  critics.target.engine->Forward(rows.data(), batch.size, one.data(), other.data());
  const auto alpha = static_cast<float>(entropy_coefficient);
  for (int64_t i = 0; i < batch.size; ++i) {
    const float value = std::min(one[i], other[i]) - alpha * next.log_probabilities[i];
    targets[i] = batch.rewards[i] + (batch.discounts[i] == 0 ? 0.0f : batch.discounts[i] * value);
  }
  return targets;
}

MinibatchLoss ComputeCriticsGradient(const Policy& policy, const Batch& batch, SacCritics& critics) {
  Batch rows;
  rows.size = batch.size;
  rows.observations = CriticRows(policy, batch.observations, batch.actions, batch.size);
  rows.returns = batch.returns;
  LossSettings settings{};
  settings.value_coefficient = 1;
  settings.critic = true;
  critics.online.engine->SetBatch(rows);
  return critics.online.engine->ComputeGradient(AllRows(rows.size).data(), rows.size, settings);
}

MinibatchLoss ComputeActorGradient(const Policy& policy, Batch& batch, double entropy_coefficient, Engine& actor,
                                   SacCritics& critics) {
  const DrawnActions drawn = DrawActions(policy, batch.observations, batch.noise, batch.size, actor);
  const std::vector<float> rows = CriticRows(policy, batch.observations, drawn.samples, batch.size);
  batch.values.resize(batch.size);
  batch.action_slopes.resize(batch.size * policy.action_size);
  critics.online.engine->ActionValues(rows.data(), batch.size, batch.values.data(), batch.action_slopes.data());
  LossSettings settings{};
  settings.entropy_coefficient = entropy_coefficient;
  actor.SetBatch(batch);
  return actor.ComputeGradient(AllRows(batch.size).data(), batch.size, settings);
}

double EntropyCoefficientGradient(double entropy, double target_entropy) { return entropy - target_entropy; }

/// Box and Muller's transform, both numbers of a pair.
std::vector<float> DrawNoise(int64_t count, SplitMix64& random) {
  constexpr double kToUnit = 1.0 / 9007199254740992.0;  // 2^-53
  std::vector<float> noise(count + (count & 1));
  for (size_t i = 0; i < noise.size(); i += 2) {
    const double radius = std::sqrt(-2 * std::log(static_cast<double>((random.Next() >> 11) + 1) * kToUnit));
    const double angle = 2 * M_PI * kToUnit * static_cast<double>(random.Next() >> 11);
    noise[i] = static_cast<float>(radius * std::cos(angle));
    noise[i + 1] = static_cast<float>(radius * std::sin(angle));
  }
  noise.resize(count);
  return noise;
}

/// With u = mean + σ · noise:  log π = Σ (-½ noise² - log σ - ½ log 2π - log f'(u)), and by the chain rule
///   d J / d u = -α (log f')'(u) - dQ/da f'(u),   d J / d mean = d J / d u,   d J / d log σ = d J / d u · σ · noise - α
void AddSquashedGaussianLoss(const Policy& policy, const Minibatch& minibatch, const TileOutput& tile, LossSums& sums) {
  const int64_t columns = policy.action_size;
  const Batch& batch = *minibatch.batch;
  const float share = 1.0f / static_cast<float>(minibatch.count);
  const auto alpha = static_cast<float>(minibatch.settings.entropy_coefficient);
  for (int64_t i = 0; i < tile.rows; ++i) {
    const int64_t sample = minibatch.rows[tile.first + i];
    const float* output = tile.output + i * tile.stride;
    float* gradient = tile.gradient + i * tile.stride;
    std::fill_n(gradient, tile.stride, 0.0f);
    float log_probability = 0;
    for (int64_t j = 0; j < columns; ++j) {
      const float z = batch.noise[sample * columns + j];
      const float bend = std::tanh(output[columns + j]);
      const float log_std = kLogStdCenter + kLogStdHalfWidth * bend;
      const float deviation = std::exp(log_std);
      const CriticCoordinate action = CoordinateOf(policy.squash[j], output[j] + deviation * z);
      log_probability -= 0.5f * z * z + log_std + kHalfLogTwoPi + action.log_slope;
      const float by_u =
          -share * (alpha * action.log_slope_by_u + batch.action_slopes[sample * columns + j] * action.slope);
      gradient[j] = by_u;
      gradient[columns + j] = (by_u * deviation * z - share * alpha) * kLogStdHalfWidth * (1.0f - bend * bend);
    }
    sums.policy += alpha * log_probability - batch.values[sample];
    sums.entropy -= log_probability;
    sums.value_mean += batch.values[sample];
  }
}

void WriteGaussian(const Policy& policy, const float* output, float* distribution) {
  const int64_t columns = policy.action_size;
  std::copy_n(output, columns, distribution);
  for (int64_t j = columns; j < 2 * columns; ++j) distribution[j] = kLogStdCenter + kLogStdHalfWidth * std::tanh(output[j]);
}

void SacCritics::Restore(const Learned& learned) {
  online.state = learned.online;  // vectors of equal size: assignment keeps their memory
  target.state.weights = learned.target;
  entropy = learned.entropy;
  online.engine->Upload();
  target.engine->Upload();
}

void SacCritics::SetStatistics(const Policy& actor, const TrainingState& state) {
  if (actor.statistics_size == 0) return;
  for (SecondPolicy* networks : {&online, &target}) {
    std::vector<float>& weights = networks->state.weights;
    std::copy_n(&state.weights[actor.normalizer_mean], actor.statistics_size, &weights[policy.normalizer_mean]);
    std::copy_n(&state.weights[actor.normalizer_variance], actor.statistics_size, &weights[policy.normalizer_variance]);
    networks->engine->Upload();
  }
}

void SacCritics::Serialize(Writer& writer) const {
  writer.PutAll(online.state.weights);
  SerializeState(online.state, writer);
  writer.PutAll(target.state.weights);
  writer.PutAll(std::vector<double>{entropy.logarithm, entropy.first_moment, entropy.second_moment});
  writer.Put(entropy.steps);
}

void SacCritics::Deserialize(Reader& reader) {
  Learned learned = Save();
  learned.online.weights = reader.GetAll<float>(policy.total_size);
  DeserializeState(reader, learned.online);
  learned.target = reader.GetAll<float>(policy.total_size);
  const auto numbers = reader.GetAll<double>(3);
  learned.entropy = {numbers[0], numbers[1], numbers[2], reader.Get<int64_t>()};
  if (learned.entropy.steps < 0) Reader::Fail("it counts less than nothing");
  Restore(learned);
}

}  // namespace agentgym
