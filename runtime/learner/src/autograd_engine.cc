#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>

#include "autograd_head.h"
#include "engine.h"
#include "learner_failure.h"
#include "sequence_plan.h"

namespace agentgym {

namespace {

using at::Tensor;

at::Device DeviceOf(int device) {
  return device == kCpu ? at::Device(at::kCPU) : at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(device));
}

Tensor Wrap(const float* data, at::IntArrayRef sizes) {
  return at::from_blob(const_cast<float*>(data), sizes, at::kFloat);
}

class AutogradEngine final : public Engine {
 public:
  AutogradEngine(const Policy& policy, TrainingState& state, int device, at::ScalarType precision)
      : policy_(policy),
        options_(at::TensorOptions().dtype(precision).device(DeviceOf(device))),
        head_(policy, options_) {
    host_weights_ = Wrap(state.weights.data(), {policy.total_size});
    host_first_ = Wrap(state.first_moment.data(), {policy.trainable_size});
    host_second_ = Wrap(state.second_moment.data(), {policy.trainable_size});
    weights_ = host_weights_.to(options_);  // float32 on the CPU shares the state's memory
    first_ = host_first_.to(options_);
    second_ = host_second_.to(options_);
    gradient_ = at::zeros({policy.trainable_size}, options_);
  }

  void Upload() override {
    if (weights_.is_alias_of(host_weights_)) return;
    weights_.copy_(host_weights_);
    first_.copy_(host_first_);
    second_.copy_(host_second_);
  }

  void Download() override {
    if (weights_.is_alias_of(host_weights_)) return;
    // Only what Step changes: statistics at the end of the buffer are the host's.
    host_weights_.narrow(0, 0, policy_.trainable_size).copy_(weights_.narrow(0, 0, policy_.trainable_size));
    host_first_.copy_(first_);
    host_second_.copy_(second_);
  }

  void Forward(const float* observations, int64_t count, float* distribution, float* values) override {
    c10::NoGradGuard no_gradient;
    for (int64_t first = 0; first < count; first += kForwardRows) {
      const int64_t rows = std::min(kForwardRows, count - first);
      const Tensor raw = Wrap(observations + first * policy_.observation_size, {rows, policy_.observation_size}).to(options_);
      const bool q = policy_.has_action_values();
      if (values != nullptr && policy_.head == Head::kSquashedGaussian) {
        std::fill_n(values + first, rows, 0.0f);
      } else if (values != nullptr && !q) {
        Wrap(values + first, {rows}).copy_(Run(policy_.critic, raw, weights_).reshape({rows}));
      }
      if (distribution == nullptr && !q) continue;
      const Tensor actor = Distribution(Run(policy_.actor, raw, weights_), raw, weights_);
      if (values != nullptr && q) Wrap(values + first, {rows}).copy_(actor.amax(1));
      if (distribution == nullptr) continue;
      Wrap(distribution + first * policy_.distribution_size, {rows, policy_.distribution_size}).copy_(actor);
    }
  }

  void ForwardSequences(const SequenceRows& rows, const SequenceResults& results) override {
    c10::NoGradGuard no_gradient;
    const SequencePlan plan = PlanSequences(rows.sequences);
    const auto size = static_cast<int64_t>(plan.rows.size());
    const Tensor index = RowIndex(plan.rows.data(), size);
    const Tensor raw = Wrap(rows.observations, {size, policy_.observation_size}).to(options_).index_select(0, index);
    const auto run = [&](const Network& network, const float* states, float* final_states) {
      const Tensor initial = InitialStates(rows.sequences, plan, states);
      Tensor finals;
      const Tensor output = RunSequences(network, raw, weights_, plan, initial, &finals);
      if (final_states != nullptr) PutRows(final_states, plan.order, finals);
      return output;
    };
    const std::vector<int64_t> places(plan.rows.begin(), plan.rows.end());
    if (results.distribution != nullptr || results.actor_states != nullptr) {
      const Tensor output = run(policy_.actor, rows.actor_states, results.actor_states);
      if (results.distribution != nullptr) PutRows(results.distribution, places, Distribution(output, raw, weights_));
    }
    if (results.values != nullptr || results.critic_states != nullptr) {
      const Tensor output = run(policy_.critic, rows.critic_states, results.critic_states);
      if (results.values != nullptr) PutRows(results.values, places, output);
    }
  }

  void SetBatch(const Batch& batch) override {
    batch_ = &batch;
    const int64_t size = batch.size;
    observations_ = Wrap(batch.observations.data(), {size, policy_.observation_size}).to(options_);
    // What an algorithm has no use for is empty.
    const auto wrap = [&](const std::vector<float>& values, at::IntArrayRef sizes) {
      return values.empty() ? Tensor() : Wrap(values.data(), sizes).to(options_);
    };
    actions_ = wrap(batch.actions, {size, policy_.action_size});
    log_probabilities_ = wrap(batch.log_probabilities, {size});
    advantages_ = wrap(batch.advantages, {size});
    returns_ = wrap(batch.returns, {size});
    values_ = wrap(batch.values, {size});
    noise_ = wrap(batch.noise, {size, policy_.action_size});
    action_slopes_ = wrap(batch.action_slopes, {size, policy_.action_size});
    reference_ = wrap(batch.reference_log_probabilities, {size});
    masks_ = Tensor();
    if (!batch.masks.empty()) {
      auto* bytes = const_cast<uint8_t*>(batch.masks.data());
      masks_ = at::from_blob(bytes, {size, policy_.mask_size}, at::kByte).to(options_.device()).to(at::kBool);
    }
  }

  void Score(float* log_probabilities) override {
    c10::NoGradGuard no_gradient;
    if (policy_.memory > 0) {
      const SequencePlan plan = PlanSequences(batch_->sequences);
      const Tensor index = RowIndex(plan.rows.data(), batch_->size);
      const auto pick = [&](const Tensor& all) { return all.index_select(0, index); };
      const Tensor initial = InitialStates(batch_->sequences, plan, batch_->actor_states.data());
      const Tensor raw = pick(observations_);
      const Tensor output = RunSequences(policy_.actor, raw, weights_, plan, initial);
      const ActionScore score =
          head_.Score(Distribution(output, raw, weights_), pick(actions_), masks_.defined() ? pick(masks_) : Tensor(), weights_);
      PutRows(log_probabilities, {plan.rows.begin(), plan.rows.end()}, score.log_probability);
      return;
    }
    const int64_t size = observations_.size(0);
    for (int64_t first = 0; first < size; first += kForwardRows) {
      const int64_t rows = std::min(kForwardRows, size - first);
      const auto part = [&](const Tensor& all) { return all.narrow(0, first, rows); };
      const Tensor raw = part(observations_);
      const Tensor distribution = Distribution(Run(policy_.actor, raw, weights_), raw, weights_);
      const ActionScore score =
          head_.Score(distribution, part(actions_), masks_.defined() ? part(masks_) : Tensor(), weights_);
      Wrap(log_probabilities + first, {rows}).copy_(score.log_probability);
    }
  }

  /// CleanRL's ppo.py, from `newlogprob` to `loss.backward()`.
  MinibatchLoss ComputeGradient(const int32_t* rows, int64_t count, const LossSettings& settings) override {
    SequencePlan plan;
    Tensor actor_states, critic_states;
    if (policy_.memory > 0) {
      const std::vector<Sequence> sequences = SequencesOf(*batch_, rows, count);
      plan = PlanSequences(sequences);
      rows = plan.rows.data();
      actor_states = InitialStates(sequences, plan, batch_->actor_states.data());
      critic_states = InitialStates(sequences, plan, batch_->critic_states.data());
    }
    const Tensor index = RowIndex(rows, count);
    const auto pick = [&](const Tensor& all) { return all.index_select(0, index); };
    Tensor weights = weights_.detach();
    weights.set_requires_grad(true);

    const Tensor raw = pick(observations_);
    const auto run = [&](const Network& network, const Tensor& states) {
      return policy_.memory > 0 ? RunSequences(network, raw, weights, plan, states) : Run(network, raw, weights);
    };
    const Tensor distribution = Distribution(run(policy_.actor, actor_states), raw, weights);
    if (policy_.has_action_values()) {
      return ComputeQGradient(distribution, pick(actions_).to(at::kLong), pick(returns_), weights);
    }
    if (policy_.head == Head::kTwinQ) {
      const Tensor other = run(policy_.critic, critic_states);
      return ComputeTwinQGradient(distribution.squeeze(1), other.squeeze(1), pick(returns_), weights);
    }
    if (policy_.head == Head::kSquashedGaussian) {
      return ComputeSquashedGaussianGradient(distribution, pick, settings.entropy_coefficient, weights);
    }
    const Tensor masks = masks_.defined() ? pick(masks_) : Tensor();
    const ActionScore score = head_.Score(distribution, pick(actions_), masks, weights);

    const Tensor log_ratio = score.log_probability - pick(log_probabilities_);
    const Tensor ratio = log_ratio.exp();
    Tensor advantages = pick(advantages_);
    if (settings.joined) {
      advantages = (advantages - settings.joined->advantage_mean) * settings.joined->advantage_factor;
    } else if (settings.normalize_advantage && count > 1) {
      advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8);
    }
    const Tensor unclipped = -advantages * ratio;
    const Tensor clipped = -advantages * ratio.clamp(1 - settings.clip_range, 1 + settings.clip_range);
    const Tensor policy_loss = at::max(unclipped, clipped).mean();
    const Tensor entropy = score.entropy.mean();
    Tensor loss = policy_loss - settings.entropy_coefficient * entropy;
    Tensor value_loss = at::zeros({}, options_), reference_kl = value_loss;
    if (settings.critic) {
      const Tensor new_values = run(policy_.critic, critic_states).reshape({count});
      value_loss = ValueLoss(new_values, pick(returns_), pick(values_), settings.clip_range_value);
      loss = loss + settings.value_coefficient * value_loss;
    }
    if (settings.kl_coefficient > 0) {
      const Tensor distance = pick(reference_) - score.log_probability;
      reference_kl = (distance.exp() - 1 - distance).mean();
      loss = loss + settings.kl_coefficient * reference_kl;
    }
    // A part of a minibatch has its share of the mean.
    const double share = settings.joined ? static_cast<double>(count) / static_cast<double>(settings.joined->count) : 1.0;
    gradient_ = torch::autograd::grad({loss * share}, {weights})[0].narrow(0, 0, policy_.trainable_size);

    c10::NoGradGuard no_gradient;
    const Tensor kl = ((ratio - 1) - log_ratio).mean();
    const Tensor clip_fraction = ((ratio - 1).abs() > settings.clip_range).to(options_).mean();
    const Tensor means = at::stack({policy_loss, value_loss, entropy, kl, clip_fraction, reference_kl});
    const Tensor numbers = (means * share).to(at::kCPU, at::kDouble);
    const double* number = numbers.data_ptr<double>();
    return {number[0], number[1], number[2], number[3], number[4], number[5]};
  }

  void ActionValues(const float* observations, int64_t count, float* values, float* slopes) override {
    const ObservationLeaf& action = policy_.observation.back();
    const Tensor rows = Wrap(observations, {count, policy_.observation_size}).to(options_);
    Tensor actions = rows.narrow(1, action.offset, action.size).clone();
    actions.set_requires_grad(true);
    const Tensor raw = at::cat({rows.narrow(1, 0, action.offset), actions}, 1);
    const Tensor smaller = at::min(Run(policy_.actor, raw, weights_), Run(policy_.critic, raw, weights_));
    Wrap(slopes, {count, action.size}).copy_(torch::autograd::grad({smaller.sum()}, {actions})[0]);
    Wrap(values, {count}).copy_(smaller.detach().squeeze(1));
  }

  double GradientNorm() override { return gradient_.norm().item<double>(); }

  void ReadGradient(float* gradient) override { Wrap(gradient, {policy_.trainable_size}).copy_(gradient_); }

  void WriteGradient(const float* gradient) override {
    gradient_ = Wrap(gradient, {policy_.trainable_size}).to(options_, false, true);
  }

  /// Adam (Kingma and Ba, 2015) in PyTorch's arrangement, or RMSprop in TensorFlow's.
  void Step(const OptimizerStep& step) override {
    c10::NoGradGuard no_gradient;
    const Tensor gradient = gradient_ * step.gradient_scale;
    if (step.optimizer == Optimizer::kRmsprop) {
      if (step.number == 1) second_.fill_(1);
      second_.mul_(kRmspropDecay).addcmul_(gradient, gradient, 1 - kRmspropDecay);
      const Tensor root = (second_ + kRmspropEpsilon).sqrt();
      weights_.narrow(0, 0, policy_.trainable_size).addcdiv_(gradient, root, -step.learning_rate);
      return;
    }
    first_.mul_(kAdamBeta1).add_(gradient, 1 - kAdamBeta1);
    second_.mul_(kAdamBeta2).addcmul_(gradient, gradient, 1 - kAdamBeta2);
    const double number = static_cast<double>(step.number);
    const double correction = 1 - std::pow(kAdamBeta1, number);
    const double root_correction = std::sqrt(1 - std::pow(kAdamBeta2, number));
    const Tensor denominator = (second_.sqrt() / root_correction).add_(kAdamEpsilon);
    weights_.narrow(0, 0, policy_.trainable_size).addcdiv_(first_, denominator, -step.learning_rate / correction);
  }

 private:
  static constexpr int64_t kForwardRows = 8192;

  /// CleanRL's dqn.py with the Huber loss of Mnih et al. and Stable-Baselines3.
  MinibatchLoss ComputeQGradient(const Tensor& q, const Tensor& actions, const Tensor& targets, const Tensor& weights) {
    const Tensor values = q.gather(1, actions).squeeze(1);
    const Tensor loss = at::smooth_l1_loss(values, targets);
    gradient_ = torch::autograd::grad({loss}, {weights})[0].narrow(0, 0, policy_.trainable_size);
    MinibatchLoss means;
    means.value_loss = loss.item<double>();
    means.value = values.mean().item<double>();
    return means;
  }

  /// CleanRL's sac_continuous_action.py, `qf_loss`, halved as in Stable-Baselines3.
  MinibatchLoss ComputeTwinQGradient(const Tensor& one, const Tensor& other, const Tensor& targets, const Tensor& weights) {
    const Tensor loss = 0.5 * ((one - targets).square() + (other - targets).square()).mean();
    gradient_ = torch::autograd::grad({loss}, {weights})[0].narrow(0, 0, policy_.trainable_size);
    MinibatchLoss means;
    means.value_loss = loss.item<double>();
    return means;
  }

  /// CleanRL's `actor_loss`. The critics are another engine's: of their value there are the slopes, whose product with the
  /// action has the same gradient.
  template <typename Pick>
  MinibatchLoss ComputeSquashedGaussianGradient(const Tensor& distribution, Pick pick, double alpha, const Tensor& weights) {
    const NoisyActions drawn = head_.Draw(distribution, pick(noise_));
    const Tensor loss =
        (alpha * drawn.log_probability - (drawn.actions * pick(action_slopes_)).sum(1)).mean();
    gradient_ = torch::autograd::grad({loss}, {weights})[0].narrow(0, 0, policy_.trainable_size);
    MinibatchLoss means;
    means.value = pick(values_).mean().template item<double>();
    means.entropy = -drawn.log_probability.mean().template item<double>();
    means.policy_loss = -alpha * means.entropy - means.value;
    return means;
  }

  /// Half the squared error of the value, clipped to a range around the old one where there is a range.
  static Tensor ValueLoss(const Tensor& new_values, const Tensor& returns, const Tensor& old_values,
                          const std::optional<double>& range) {
    Tensor squares = (new_values - returns).square();
    if (range) {
      const Tensor near = old_values + (new_values - old_values).clamp(-*range, *range);
      squares = at::max(squares, (near - returns).square());
    }
    return 0.5 * squares.mean();
  }

  static Tensor View(const Tensor& weights, int64_t offset, at::IntArrayRef sizes) {
    int64_t size = 1;
    for (const int64_t extent : sizes) size *= extent;
    return weights.narrow(0, offset, size).view(sizes);
  }

  /// The network's input row: standardised boxes, one-hot categories, mean token embeddings, in the leaves' order.
  Tensor Features(const Network& network, const Tensor& raw, const Tensor& weights) const {
    std::vector<Tensor> parts;
    for (const ObservationLeaf& leaf : policy_.observation) {
      const Tensor columns = raw.narrow(1, leaf.offset, leaf.size);
      if (leaf.kind == ObservationKind::kBox) {
        const Tensor numbers = policy_.normalize_observation ? Standardize(leaf, columns, weights) : columns;
        parts.push_back(leaf.image_index < 0 ? numbers : Convolve(leaf, network, numbers, weights));
      } else if (leaf.kind == ObservationKind::kAction) {
        parts.push_back(columns);
      } else if (leaf.kind == ObservationKind::kCategorical) {
        for (int64_t i = 0; i < leaf.size; ++i) {
          parts.push_back(at::one_hot(columns.select(1, i).to(at::kLong), leaf.counts[i]).to(options_));
        }
      } else {
        parts.push_back(MeanEmbedding(network.embeddings[leaf.text_index], leaf, columns, weights));
      }
    }
    return parts.size() == 1 ? parts[0] : at::cat(parts, 1);
  }

  /// A leaf's convolutions, flattened position by position.
  static Tensor Convolve(const ObservationLeaf& leaf, const Network& network, const Tensor& numbers,
                         const Tensor& weights) {
    const Convolution& first = leaf.convolutions[0];
    Tensor before, x = numbers.reshape({numbers.size(0), first.in_channels, first.in_height, first.in_width});
    for (size_t i = 0; i < leaf.convolutions.size(); ++i) {
      const Convolution& shape = leaf.convolutions[i];
      const ConvolutionWeights& place = network.images[leaf.image_index][i];
      const Tensor weight = View(weights, place.weight, {shape.out_channels, shape.in_channels, shape.kernel, shape.kernel});
      Tensor sum = at::conv2d(i == 0 ? x : x.relu(), weight, View(weights, place.bias, {shape.out_channels}), shape.stride,
                              shape.padding);
      if (shape.residual) sum = sum + before;
      before = x;
      x = sum;
    }
    return x.relu().permute({0, 2, 3, 1}).flatten(1);
  }

  Tensor Standardize(const ObservationLeaf& leaf, const Tensor& columns, const Tensor& weights) const {
    const Tensor mean = weights.narrow(0, policy_.normalizer_mean + leaf.statistics_offset, leaf.size).detach();
    const Tensor variance = weights.narrow(0, policy_.normalizer_variance + leaf.statistics_offset, leaf.size).detach();
    return ((columns - mean) / (variance + kNormalizerEpsilon).sqrt()).clamp(-kNormalizerClip, kNormalizerClip);
  }

  /// Mean over the tokens that are not padding; zeros for empty text.
  Tensor MeanEmbedding(int64_t table, const ObservationLeaf& leaf, const Tensor& columns, const Tensor& weights) const {
    const Tensor ids = columns.to(at::kLong);
    const Tensor rows = at::embedding(View(weights, table, {leaf.counts[0], policy_.embedding}), ids);
    const Tensor present = (ids != 0).to(options_).unsqueeze(-1);
    return (rows * present).sum(1) / present.sum(1).clamp_min(1);
  }

  Tensor Run(const Network& network, const Tensor& raw, const Tensor& weights) const {
    return Linear(network.layers.back(), RunHidden(network, raw, weights), weights);
  }

  static Tensor Linear(const Layer& layer, const Tensor& x, const Tensor& weights) {
    return at::linear(x, View(weights, layer.weight, {layer.out, layer.in}), View(weights, layer.bias, {layer.out}));
  }

  /// Features and hidden layers.
  Tensor RunHidden(const Network& network, const Tensor& raw, const Tensor& weights) const {
    Tensor x = Features(network, raw, weights);
    for (size_t i = 0; i + 1 < network.layers.size(); ++i) {
      x = Linear(network.layers[i], x, weights);
      x = policy_.relu ? x.relu() : x.tanh();
    }
    return x;
  }

  /// A whole network over the rows of a plan, with initial states [sequences, memory] in the plan's order; `finals` gets
  /// the states after the last row of each. The GRU is that of torch.nn.GRU (Cho et al., 2014):
  ///   r = σ(W_ir x + b_ir + W_hr h + b_hr), z likewise, n = tanh(W_in x + b_in + r (W_hn h + b_hn)), h' = n + z (h - n)
  Tensor RunSequences(const Network& network, const Tensor& raw, const Tensor& weights, const SequencePlan& plan,
                      Tensor state, Tensor* finals = nullptr) const {
    const Tensor by_input = Linear(network.gru_input, RunHidden(network, raw, weights), weights);
    const int64_t units = policy_.memory;
    std::vector<Tensor> states, ended;
    int64_t first = 0;
    for (size_t step = 0; step < plan.sizes.size(); ++step) {
      const int64_t rows = plan.sizes[step];
      if (rows < state.size(0)) ended.push_back(state.narrow(0, rows, state.size(0) - rows));
      state = state.narrow(0, 0, rows);
      const Tensor input = by_input.narrow(0, first, rows);
      const Tensor hidden = Linear(network.gru_state, state, weights);
      const Tensor gates = (input.narrow(1, 0, 2 * units) + hidden.narrow(1, 0, 2 * units)).sigmoid();
      const Tensor reset = gates.narrow(1, 0, units), keep = gates.narrow(1, units, units);
      const Tensor fresh = (input.narrow(1, 2 * units, units) + reset * hidden.narrow(1, 2 * units, units)).tanh();
      state = fresh + keep * (state - fresh);
      states.push_back(state);
      first += rows;
    }
    ended.push_back(state);
    std::reverse(ended.begin(), ended.end());
    if (finals != nullptr) *finals = at::cat(ended, 0);
    return Linear(network.layers.back(), at::cat(states, 0), weights);
  }

  Tensor RowIndex(const int32_t* rows, int64_t count) const {
    return at::from_blob(const_cast<int32_t*>(rows), {count}, at::kInt).to(options_.device()).to(at::kLong);
  }

  Tensor InitialStates(const std::vector<Sequence>& sequences, const SequencePlan& plan, const float* states) const {
    Tensor initial = at::zeros({static_cast<int64_t>(sequences.size()), policy_.memory}, at::kFloat);
    for (size_t i = 0; i < sequences.size(); ++i) {
      const int64_t state = sequences[plan.order[i]].state;
      if (state < 0) continue;
      std::copy_n(states + state * policy_.memory, policy_.memory, initial.data_ptr<float>() + i * policy_.memory);
    }
    return initial.to(options_);
  }

  /// Row i of `rows` becomes row places[i] of the target.
  static void PutRows(float* target, const std::vector<int64_t>& places, const Tensor& rows) {
    const Tensor host = rows.to(at::kCPU, at::kFloat).contiguous();
    const int64_t width = host.numel() / std::max<int64_t>(host.size(0), 1);
    for (size_t i = 0; i < places.size(); ++i) {
      std::copy_n(host.data_ptr<float>() + i * width, width, target + places[i] * width);
    }
  }

  /// Logits of the slots of a list, [B, slots]; see pointer_scorer.h.
  Tensor ScoreSlots(const ActionLeaf& leaf, const Tensor& query, const Tensor& raw, const Tensor& weights) const {
    const ObservationLeaf& list = policy_.observation[leaf.pointer_list];
    const int64_t columns = list.size / list.slots, units = leaf.pointer_units;
    Tensor rows = raw.narrow(1, list.offset, list.size);
    if (policy_.normalize_observation) rows = Standardize(list, rows, weights);
    const Layer keys{columns, units, leaf.key_weight, leaf.key_bias};
    return (Linear(keys, rows.reshape({-1, list.slots, columns}), weights).tanh() * query.unsqueeze(1)).sum(2);
  }

  Tensor Distribution(const Tensor& output, const Tensor& raw, const Tensor& weights) const {
    return head_.Distribution(
        output, [&](const ActionLeaf& leaf, const Tensor& query) { return ScoreSlots(leaf, query, raw, weights); });
  }

  const Policy& policy_;
  at::TensorOptions options_;
  AutogradHead head_;
  const Batch* batch_ = nullptr;
  Tensor host_weights_, host_first_, host_second_;
  Tensor weights_, first_, second_, gradient_;
  Tensor observations_, actions_, log_probabilities_, advantages_, returns_, values_, reference_, masks_, noise_,
      action_slopes_;
};

}  // namespace

std::unique_ptr<Engine> MakeAutogradEngine(const Policy& policy, TrainingState& state, int device) {
  return std::make_unique<AutogradEngine>(policy, state, device, at::kFloat);
}

std::unique_ptr<Engine> MakeFloat64Engine(const Policy& policy, TrainingState& state) {
  return std::make_unique<AutogradEngine>(policy, state, kCpu, at::kDouble);
}

}  // namespace agentgym
