#include <algorithm>
#include <cmath>
#include <vector>

#include "engine.h"
#include "learner_failure.h"
#include "matrix_kernels.h"
#include "network_pass.h"
#include "policy_loss.h"
#include "thread_pool.h"
#include "vector_math.h"

namespace agentgym {

namespace {

/// A minibatch is cut into chunks by its size alone; each chunk sums its own gradient, and the chunks are added in their
/// order. So the result is the same bits whatever the number of threads.
constexpr int64_t kMostChunks = 32;
constexpr int64_t kTilesInChunk = 2;
constexpr int64_t kMostChunkMemory = int64_t{64} << 20;  // floats

/// Elementwise work below this is not worth waking a thread for.
constexpr int64_t kParallelElements = 1 << 17;

int64_t Tiles(int64_t rows) { return (rows + kTileRows - 1) / kTileRows; }

/// What one thread needs to take a tile through both networks.
struct Workspace {
  Workspace(const Policy& policy, const NetworkPass& actor, const NetworkPass& critic)
      : actor(actor.MakeMemory()), critic(critic.MakeMemory()), scorer(policy) {}

  TileMemory actor;
  TileMemory critic;
  ActionScorer scorer;
};

/// Sums over one chunk.
struct ChunkLoss {
  double policy = 0, value = 0, entropy = 0, kl = 0, clipped = 0;
};

/// A minibatch on its way through the networks.
struct Minibatch {
  const int32_t* rows;
  int64_t count;
  LossSettings settings;
  float advantage_mean;
  float advantage_factor;  // 1 / (deviation + 1e-8)
};

class FusedEngine final : public Engine {
 public:
  FusedEngine(const Policy& policy, TrainingState& state, int threads)
      : policy_(policy),
        state_(state),
        pool_(std::max(1, threads)),
        actor_(policy, policy.actor),
        critic_(policy, policy.critic),
        gradient_(policy.trainable_size, 0.0f) {
    for (int i = 0; i < pool_.threads(); ++i) workspaces_.emplace_back(policy, actor_, critic_);
    critic_start_ = actor_.gradient_size();
    log_std_start_ = critic_start_ + critic_.gradient_size();
    chunk_size_ = Padded(log_std_start_ + policy.gaussian_size);
  }

  void Upload() override { packed_ = false; }
  void Download() override {}

  void Forward(const float* observations, int64_t count, float* distribution, float* values) override {
    Pack();
    pool_.Run(Tiles(count), [&](int64_t tile, int thread) {
      const int64_t first = tile * kTileRows;
      const int64_t rows = std::min(kTileRows, count - first);
      Workspace& memory = workspaces_[thread];
      const auto row = [&](int64_t i) { return observations + (first + i) * policy_.observation_size; };
      const float* features = EncodeActor(memory, rows, row);
      if (distribution != nullptr) {
        const float* output = actor_.Forward(features, rows, memory.actor);
        for (int64_t i = 0; i < rows; ++i) {
          WriteDistribution(output + i * actor_.output_stride(), distribution + (first + i) * policy_.distribution_size);
        }
      }
      features = EncodeCritic(memory, rows, row);
      const float* output = critic_.Forward(features, rows, memory.critic);
      for (int64_t i = 0; i < rows; ++i) values[first + i] = output[i * critic_.output_stride()];
    });
  }

  void SetBatch(const Batch& batch) override { batch_ = &batch; }

  MinibatchLoss ComputeGradient(const int32_t* rows, int64_t count, const LossSettings& settings) override {
    Pack();
    const Minibatch minibatch = Describe(rows, count, settings);
    const int64_t tiles = Tiles(count);
    const int64_t chunks = std::clamp<int64_t>(std::min((tiles + kTilesInChunk - 1) / kTilesInChunk,
                                                        kMostChunkMemory / chunk_size_), 1, kMostChunks);
    chunk_gradients_.resize(kMostChunks * chunk_size_ <= kMostChunkMemory ? kMostChunks * chunk_size_ : chunks * chunk_size_);
    losses_.assign(chunks, {});
    text_gradient_.resize(2 * count * policy_.text_leaves * policy_.embedding);
    pool_.Run(chunks, [&](int64_t chunk, int thread) {
      std::fill_n(&chunk_gradients_[chunk * chunk_size_], chunk_size_, 0.0f);
      for (int64_t tile = tiles * chunk / chunks; tile < tiles * (chunk + 1) / chunks; ++tile) {
        RunTile(minibatch, tile, workspaces_[thread], &chunk_gradients_[chunk * chunk_size_], losses_[chunk]);
      }
    });
    Reduce(chunks);
    if (policy_.text_leaves > 0) ScatterText(minibatch);
    return Mean(count);
  }

  double GradientNorm() override { return std::sqrt(SumOfSquares(gradient_.data(), policy_.trainable_size)); }

  void ReadGradient(float* gradient) override { std::copy(gradient_.begin(), gradient_.end(), gradient); }

  void Step(const AdamStep& step) override {
    const double number = static_cast<double>(step.number);
    const double root = std::sqrt(1 - std::pow(kAdamBeta2, number));
    const AdamFactors factors{
        static_cast<float>(step.gradient_scale),
        static_cast<float>(step.learning_rate * root / (1 - std::pow(kAdamBeta1, number))),
        static_cast<float>(kAdamEpsilon * root),
    };
    OverElements(policy_.trainable_size, [&](int64_t first, int64_t count) {
      AdamUpdate(factors, &gradient_[first], count, &state_.weights[first], &state_.first_moment[first],
                 &state_.second_moment[first]);
    });
    packed_ = false;
  }

 private:
  /// body(first, count) over blocks of a long array, in parallel where that pays.
  template <typename Body>
  void OverElements(int64_t size, Body body) {
    const int64_t blocks = size < kParallelElements ? 1 : pool_.threads();
    const int64_t block = Padded((size + blocks - 1) / blocks);
    pool_.Run(blocks, [&](int64_t i, int) {
      if (i * block < size) body(i * block, std::min(block, size - i * block));
    });
  }

  void Pack() {
    if (packed_) return;
    actor_.Pack(state_.weights.data());
    critic_.Pack(state_.weights.data());
    inverse_deviation_.resize(policy_.statistics_size);
    for (int64_t i = 0; i < policy_.statistics_size; ++i) {
      inverse_deviation_[i] = 1.0f / std::sqrt(state_.weights[policy_.normalizer_variance + i] + kNormalizerEpsilon);
    }
    packed_ = true;
  }

  Minibatch Describe(const int32_t* rows, int64_t count, const LossSettings& settings) const {
    Minibatch minibatch{rows, count, settings, 0.0f, 1.0f};
    if (!settings.normalize_advantage || count < 2) return minibatch;
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < count; ++i) mean += batch_->advantages[rows[i]];
    mean /= static_cast<double>(count);
    for (int64_t i = 0; i < count; ++i) squares += std::pow(batch_->advantages[rows[i]] - mean, 2);
    minibatch.advantage_mean = static_cast<float>(mean);
    minibatch.advantage_factor = static_cast<float>(1.0 / (std::sqrt(squares / static_cast<double>(count - 1)) + 1e-8));
    return minibatch;
  }

  /// Writes boxes and one-hot categories of `rows` samples; text is added by each network on its own.
  template <typename Row>
  const float* EncodeActor(Workspace& memory, int64_t rows, Row row) const {
    const int64_t stride = actor_.feature_stride();
    float* features = memory.actor.features.data();
    for (int64_t i = 0; i < rows; ++i) EncodeRow(row(i), features + i * stride);
    if (policy_.text_leaves > 0) {
      for (int64_t i = 0; i < rows; ++i) EncodeText(policy_.actor, row(i), features + i * stride);
    }
    return features;
  }

  /// After EncodeActor: without text both networks see the same features.
  template <typename Row>
  const float* EncodeCritic(Workspace& memory, int64_t rows, Row row) const {
    if (policy_.text_leaves == 0) return memory.actor.features.data();
    const int64_t stride = critic_.feature_stride();
    std::copy_n(memory.actor.features.data(), rows * stride, memory.critic.features.data());
    for (int64_t i = 0; i < rows; ++i) EncodeText(policy_.critic, row(i), &memory.critic.features[i * stride]);
    return memory.critic.features.data();
  }

  void EncodeRow(const float* observation, float* features) const {
    for (const ObservationLeaf& leaf : policy_.observation) {
      const float* from = observation + leaf.offset;
      float* to = features + leaf.feature_offset;
      if (leaf.kind == ObservationKind::kBox && policy_.normalize_observation) {
        const float* mean = &state_.weights[policy_.normalizer_mean + leaf.statistics_offset];
        const float* inverse = &inverse_deviation_[leaf.statistics_offset];
        for (int64_t i = 0; i < leaf.size; ++i) {
          to[i] = std::clamp((from[i] - mean[i]) * inverse[i], -kNormalizerClip, kNormalizerClip);
        }
      } else if (leaf.kind == ObservationKind::kBox) {
        std::copy_n(from, leaf.size, to);
      } else if (leaf.kind == ObservationKind::kCategorical) {
        std::fill_n(to, leaf.feature_size, 0.0f);
        for (int64_t i = 0; i < leaf.size; ++i) {
          to[static_cast<int64_t>(from[i])] = 1.0f;
          to += leaf.counts[i];
        }
      }
    }
  }

  void EncodeText(const Network& network, const float* observation, float* features) const {
    for (const ObservationLeaf& leaf : policy_.observation) {
      if (leaf.kind != ObservationKind::kText) continue;
      float* to = features + leaf.feature_offset;
      const float* table = &state_.weights[network.embeddings[leaf.text_index]];
      std::fill_n(to, policy_.embedding, 0.0f);
      const int64_t tokens = EachToken(leaf, observation, [&](int64_t token) {
        for (int64_t i = 0; i < policy_.embedding; ++i) to[i] += table[token * policy_.embedding + i];
      });
      const float factor = 1.0f / static_cast<float>(std::max<int64_t>(tokens, 1));
      for (int64_t i = 0; i < policy_.embedding; ++i) to[i] *= factor;
    }
  }

  /// Calls body(token) for each token that is not padding; returns how many there are.
  template <typename Body>
  static int64_t EachToken(const ObservationLeaf& leaf, const float* observation, Body body) {
    int64_t tokens = 0;
    for (int64_t i = 0; i < leaf.size; ++i) {
      const auto token = static_cast<int64_t>(observation[leaf.offset + i]);
      if (token == 0) continue;
      body(token);
      ++tokens;
    }
    return tokens;
  }

  void WriteDistribution(const float* output, float* distribution) const {
    std::copy_n(output, policy_.distribution_size, distribution);
    for (const ActionLeaf& leaf : policy_.action) {
      if (!leaf.gaussian) continue;
      float* mean = distribution + leaf.distribution_offset;
      for (int64_t i = 0; i < leaf.size; ++i) mean[i] = leaf.center[i] + leaf.scale[i] * mean[i];
    }
  }

  void RunTile(const Minibatch& minibatch, int64_t tile, Workspace& memory, float* gradient, ChunkLoss& loss) {
    const int64_t first = tile * kTileRows;
    const int64_t rows = std::min(kTileRows, minibatch.count - first);
    const auto row = [&](int64_t i) {
      return &batch_->observations[minibatch.rows[first + i] * policy_.observation_size];
    };
    Prefetch(minibatch.rows + first, rows);
    const float* features = EncodeActor(memory, rows, row);
    const float* output = actor_.Forward(features, rows, memory.actor);
    ActorLoss(minibatch, first, rows, output, memory, gradient + log_std_start_, loss);
    KeepTextGradient(actor_.Backward(features, rows, memory.actor, gradient), actor_.feature_stride(), first, rows, 0);

    features = EncodeCritic(memory, rows, row);
    output = critic_.Forward(features, rows, memory.critic);
    CriticLoss(minibatch, first, rows, output, memory.critic, loss);
    KeepTextGradient(critic_.Backward(features, rows, memory.critic, gradient + critic_start_), critic_.feature_stride(),
                     first, rows, minibatch.count);
  }

  /// Shuffled samples lie all over the batch; asked for together, their cache misses overlap.
  void Prefetch(const int32_t* rows, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) {
      __builtin_prefetch(&batch_->observations[rows[i] * policy_.observation_size]);
      __builtin_prefetch(&batch_->actions[rows[i] * policy_.action_size]);
      __builtin_prefetch(&batch_->log_probabilities[rows[i]]);
      __builtin_prefetch(&batch_->advantages[rows[i]]);
      __builtin_prefetch(&batch_->returns[rows[i]]);
    }
  }

  /// Clipped surrogate and entropy bonus; leaves d loss / d output in the actor's memory.
  void ActorLoss(const Minibatch& minibatch, int64_t first, int64_t rows, const float* output, Workspace& memory,
                 float* log_std_gradient, ChunkLoss& loss) const {
    const float* log_std = policy_.log_std < 0 ? nullptr : &state_.weights[policy_.log_std];
    const float share = 1.0f / static_cast<float>(minibatch.count);
    const auto low = static_cast<float>(1 - minibatch.settings.clip_range);
    const auto high = static_cast<float>(1 + minibatch.settings.clip_range);
    const float by_entropy = -static_cast<float>(minibatch.settings.entropy_coefficient) * share;
    const int64_t stride = actor_.output_stride();
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t sample = minibatch.rows[first + i];
      const float* action = &batch_->actions[sample * policy_.action_size];
      const uint8_t* mask = batch_->masks.empty() ? nullptr : &batch_->masks[sample * policy_.mask_size];
      const auto score = memory.scorer.Score(output + i * stride, action, mask, log_std);
      const float log_ratio = score.log_probability - batch_->log_probabilities[sample];
      const float ratio = std::exp(log_ratio);
      const float advantage = (batch_->advantages[sample] - minibatch.advantage_mean) * minibatch.advantage_factor;
      const float unclipped = -advantage * ratio;
      const float clipped = -advantage * std::clamp(ratio, low, high);
      // Where the clipped loss is the larger one, it is constant; inside the range the two are one.
      const float by_log_probability = unclipped >= clipped ? unclipped * share : 0.0f;
      float* row = &memory.actor.gradient[i * stride];
      std::fill_n(row, stride, 0.0f);
      memory.scorer.Gradient(action, by_log_probability, by_entropy, row, log_std_gradient);
      loss.policy += unclipped >= clipped ? unclipped : clipped;  // NaN fails the comparison, and stays
      loss.entropy += score.entropy;
      loss.kl += (ratio - 1) - log_ratio;
      loss.clipped += std::abs(ratio - 1) > minibatch.settings.clip_range ? 1 : 0;
    }
  }

  void CriticLoss(const Minibatch& minibatch, int64_t first, int64_t rows, const float* output, TileMemory& memory,
                  ChunkLoss& loss) const {
    const float factor = static_cast<float>(minibatch.settings.value_coefficient / static_cast<double>(minibatch.count));
    const int64_t stride = critic_.output_stride();
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t sample = minibatch.rows[first + i];
      const float value = output[i * stride];
      const float error = value - batch_->returns[sample];
      float square = error * error;
      float slope = error;
      if (minibatch.settings.clip_range_value) {
        const auto range = static_cast<float>(*minibatch.settings.clip_range_value);
        const float old = batch_->values[sample];
        const float moved = value - old;
        const float near = old + std::clamp(moved, -range, range) - batch_->returns[sample];
        if (std::abs(moved) > range && near * near > square) {
          square = near * near;
          slope = 0.0f;
        }
      }
      float* row = &memory.gradient[i * stride];
      std::fill_n(row, stride, 0.0f);
      row[0] = slope * factor;
      loss.value += 0.5 * square;
    }
  }

  /// Sets aside what the embeddings' gradient is made of; `first_row` separates the two networks.
  void KeepTextGradient(const float* feature_gradient, int64_t stride, int64_t first, int64_t rows, int64_t first_row) {
    if (feature_gradient == nullptr) return;
    for (int64_t i = 0; i < rows; ++i) {
      float* to = &text_gradient_[(first_row + first + i) * policy_.text_leaves * policy_.embedding];
      for (const ObservationLeaf& leaf : policy_.observation) {
        if (leaf.kind != ObservationKind::kText) continue;
        std::copy_n(feature_gradient + i * stride + leaf.feature_offset, policy_.embedding, to);
        to += policy_.embedding;
      }
    }
  }

  /// Adds the chunks in their order, and puts the sum into the flat gradient.
  void Reduce(int64_t chunks) {
    sum_.resize(chunk_size_);
    OverElements(chunk_size_, [&](int64_t first, int64_t count) {
      SumArrays(&chunk_gradients_[first], chunks, chunk_size_, count, &sum_[first]);
    });
    actor_.Unpack(sum_.data(), gradient_.data());
    critic_.Unpack(&sum_[critic_start_], gradient_.data());
    if (policy_.log_std >= 0) std::copy_n(&sum_[log_std_start_], policy_.gaussian_size, &gradient_[policy_.log_std]);
  }

  /// Sample by sample, in order: a chunk of its own tables would cost more than all the rest.
  void ScatterText(const Minibatch& minibatch) {
    pool_.Run(2, [&](int64_t which, int) {
      const Network& network = which == 0 ? policy_.actor : policy_.critic;
      const float* from = &text_gradient_[which * minibatch.count * policy_.text_leaves * policy_.embedding];
      for (const ObservationLeaf& leaf : policy_.observation) {
        if (leaf.kind != ObservationKind::kText) continue;
        std::fill_n(&gradient_[network.embeddings[leaf.text_index]], leaf.counts[0] * policy_.embedding, 0.0f);
      }
      for (int64_t i = 0; i < minibatch.count; ++i) {
        const float* observation = &batch_->observations[minibatch.rows[i] * policy_.observation_size];
        for (const ObservationLeaf& leaf : policy_.observation) {
          if (leaf.kind != ObservationKind::kText) continue;
          AddTokens(leaf, observation, from, &gradient_[network.embeddings[leaf.text_index]]);
          from += policy_.embedding;
        }
      }
    });
  }

  void AddTokens(const ObservationLeaf& leaf, const float* observation, const float* from, float* table) const {
    const int64_t tokens = EachToken(leaf, observation, [](int64_t) {});
    const float factor = 1.0f / static_cast<float>(std::max<int64_t>(tokens, 1));
    EachToken(leaf, observation, [&](int64_t token) {
      float* row = table + token * policy_.embedding;
      for (int64_t i = 0; i < policy_.embedding; ++i) row[i] += from[i] * factor;
    });
  }

  MinibatchLoss Mean(int64_t count) const {
    ChunkLoss sum;
    for (const ChunkLoss& loss : losses_) {
      sum.policy += loss.policy;
      sum.value += loss.value;
      sum.entropy += loss.entropy;
      sum.kl += loss.kl;
      sum.clipped += loss.clipped;
    }
    const auto n = static_cast<double>(count);
    return {sum.policy / n, sum.value / n, sum.entropy / n, sum.kl / n, sum.clipped / n};
  }

  const Policy& policy_;
  TrainingState& state_;
  ThreadPool pool_;
  NetworkPass actor_;
  NetworkPass critic_;
  bool packed_ = false;
  std::vector<float> inverse_deviation_;
  std::vector<Workspace> workspaces_;
  const Batch* batch_ = nullptr;
  int64_t critic_start_ = 0;   // offsets in a chunk's gradient
  int64_t log_std_start_ = 0;
  int64_t chunk_size_ = 0;
  std::vector<float> chunk_gradients_;
  std::vector<ChunkLoss> losses_;
  std::vector<float> sum_;
  std::vector<float> text_gradient_;  // [2, count, text leaves, embedding]: actor, then critic
  std::vector<float> gradient_;
};

}  // namespace

std::unique_ptr<Engine> MakeFusedEngine(const Policy& policy, TrainingState& state, int threads) {
  return std::make_unique<FusedEngine>(policy, state, threads);
}

}  // namespace agentgym
