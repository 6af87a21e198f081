#include <algorithm>
#include <cmath>
#include <vector>

#include "action_scorer.h"
#include "convolution_pass.h"
#include "dqn.h"
#include "engine.h"
#include "flat_gradient.h"
#include "fused_tiles.h"
#include "matrix_kernels.h"
#include "network_pass.h"
#include "observation_encoder.h"
#include "recurrent_network.h"
#include "sac.h"
#include "sequence_plan.h"
#include "surrogate_update.h"
#include "thread_pool.h"
#include "vector_math.h"

namespace agentgym {

namespace {

class FusedEngine final : public Engine {
 public:
  FusedEngine(const Policy& policy, TrainingState& state, int threads)
      : policy_(policy),
        state_(state),
        tile_rows_(IsLarge(policy) && policy.images + policy.memory == 0 ? 2 * kTileRows : kTileRows),
        most_chunks_(IsLarge(policy) ? kMostChunks / 2 : kMostChunks),
        pool_(threads),
        encoder_(policy, state.weights),
        actor_(policy, policy.actor),
        critic_(policy, policy.critic),
        has_critic_(!policy.critic.layers.empty()),
        actor_images_(policy, policy.actor),
        critic_images_(policy, policy.critic),
        gradient_(policy, state, pool_) {
    for (int i = 0; i < pool_.threads(); ++i) workspaces_.emplace_back(policy, actor_, critic_, actor_images_, tile_rows_, state.weights);
    actor_images_start_ = actor_.gradient_size();
    critic_start_ = actor_images_start_ + actor_images_.gradient_size();
    critic_images_start_ = critic_start_ + critic_.gradient_size();
    heads_start_ = critic_images_start_ + critic_images_.gradient_size();
    if (policy.memory > 0) {
      for (const Network* network : {&policy.actor, &policy.critic}) {
        recurrent_.emplace_back(policy, *network);
        recurrent_start_.push_back(heads_start_);
        heads_start_ += recurrent_.back().gradient_size();
      }
    }
    chunk_size_ = Padded(heads_start_ + policy.heads_size);
  }

  void Upload() override {
    packed_ = false;
    gradient_.Forget();
  }
  void Download() override {}

  void Forward(const float* observations, int64_t count, float* distribution, float* values) override {
    Pack();
    pool_.Run(Tiles(count, tile_rows_), [&](int64_t tile, int thread) {
      const int64_t first = tile * tile_rows_;
      const int64_t rows = std::min(tile_rows_, count - first);
      Workspace& memory = workspaces_[thread];
      const auto row = [&](int64_t i) { return observations + (first + i) * policy_.observation_size; };
      EncodeShared(memory, rows, row);
      if (distribution != nullptr) {
        const float* output = actor_.Forward(EncodeActor(memory, rows, row), rows, memory.actor);
        for (int64_t i = 0; i < rows; ++i) {
          WriteDistribution(memory.scorer, output + i * actor_.output_stride(), row(i),
                            distribution + (first + i) * policy_.distribution_size);
        }
      }
      if (values == nullptr) return;
      if (policy_.head == Head::kSquashedGaussian) {
        std::fill_n(values + first, rows, 0.0f);
        return;
      }
      if (!has_critic_) {
        WriteLargest(actor_.Forward(EncodeActor(memory, rows, row), rows, memory.actor), rows, values + first);
        return;
      }
      const float* output = critic_.Forward(EncodeCritic(memory, rows, row), rows, memory.critic);
      for (int64_t i = 0; i < rows; ++i) values[first + i] = output[i * critic_.output_stride()];
    });
  }

  void ForwardSequences(const SequenceRows& rows, const SequenceResults& results) override {
    Pack();
    const std::vector<SequenceChunk> chunks = ChunkSequences(rows.sequences);
    pool_.Run(static_cast<int64_t>(chunks.size()), [&](int64_t i, int thread) {
      const SequenceChunk& chunk = chunks[i];
      if (results.distribution != nullptr || results.actor_states != nullptr) {
        ForwardChunk(0, chunk, rows.observations, rows.actor_states, workspaces_[thread], results.actor_states,
                     [&](int64_t row, const float* output) {
                       if (results.distribution == nullptr) return;
                       WriteDistribution(workspaces_[thread].scorer, output,
                                         rows.observations + row * policy_.observation_size,
                                         results.distribution + row * policy_.distribution_size);
                     });
      }
      if (results.values == nullptr && results.critic_states == nullptr) return;
      ForwardChunk(1, chunk, rows.observations, rows.critic_states, workspaces_[thread], results.critic_states,
                   [&](int64_t row, const float* output) {
                     if (results.values != nullptr) results.values[row] = output[0];
                   });
    });
  }

  void SetBatch(const Batch& batch) override { batch_ = &batch; }

  void Score(float* log_probabilities) override {
    Pack();
    if (policy_.memory > 0) return ScoreSequences(log_probabilities);
    pool_.Run(Tiles(batch_->size, tile_rows_), [&](int64_t tile, int thread) {
      const int64_t first = tile * tile_rows_;
      const int64_t rows = std::min(tile_rows_, batch_->size - first);
      Workspace& memory = workspaces_[thread];
      const auto row = [&](int64_t i) { return &batch_->observations[(first + i) * policy_.observation_size]; };
      EncodeShared(memory, rows, row);
      const float* output = actor_.Forward(EncodeActor(memory, rows, row), rows, memory.actor);
      for (int64_t i = 0; i < rows; ++i) {
        const float* action = &batch_->actions[(first + i) * policy_.action_size];
        const uint8_t* mask = batch_->masks.empty() ? nullptr : &batch_->masks[(first + i) * policy_.mask_size];
        log_probabilities[first + i] =
            memory.scorer.Score(output + i * actor_.output_stride(), row(i), action, mask).log_probability;
      }
    });
  }

  MinibatchLoss ComputeGradient(const int32_t* rows, int64_t count, const LossSettings& settings) override {
    Pack();
    if (policy_.memory > 0) return ComputeSequenceGradient(rows, count, settings);
    const Minibatch minibatch = DescribeMinibatch(*batch_, rows, count, settings);
    // Chunks are whole small tiles, however many rows are taken at once.
    const int64_t tiles = Tiles(count, kTileRows);
    const int64_t chunks = std::clamp<int64_t>(std::min((tiles + kTilesInChunk - 1) / kTilesInChunk,
                                                        kMostChunkMemory / chunk_size_), 1, most_chunks_);
    chunk_gradients_.resize(most_chunks_ * chunk_size_ <= kMostChunkMemory ? most_chunks_ * chunk_size_ : chunks * chunk_size_);
    losses_.assign(chunks, {});
    text_gradient_.resize(2 * count * policy_.text_leaves * policy_.embedding);
    pool_.Run(chunks, [&](int64_t chunk, int thread) {
      std::fill_n(&chunk_gradients_[chunk * chunk_size_], chunk_size_, 0.0f);
      const int64_t end = std::min(tiles * (chunk + 1) / chunks * kTileRows, count);
      for (int64_t first = tiles * chunk / chunks * kTileRows; first < end; first += tile_rows_) {
        RunTile(minibatch, first, std::min(tile_rows_, end - first), workspaces_[thread],
                &chunk_gradients_[chunk * chunk_size_], losses_[chunk]);
      }
    });
    Reduce(chunks);
    if (policy_.text_leaves > 0) ScatterText(minibatch);
    return MeanLoss(losses_, minibatch.total);
  }

  void ActionValues(const float* observations, int64_t count, float* values, float* slopes) override {
    Pack();
    const ObservationLeaf& action = policy_.observation.back();
    pool_.Run(Tiles(count, tile_rows_), [&](int64_t tile, int thread) {
      const int64_t first = tile * tile_rows_;
      const int64_t rows = std::min(tile_rows_, count - first);
      Workspace& memory = workspaces_[thread];
      const auto row = [&](int64_t i) { return observations + (first + i) * policy_.observation_size; };
      EncodeShared(memory, rows, row);
      const float* features = EncodeActor(memory, rows, row);
      const float* one = actor_.Forward(features, rows, memory.actor);
      const float* own_features = EncodeCritic(memory, rows, row);
      const float* other = critic_.Forward(own_features, rows, memory.critic);
      const int64_t stride = actor_.output_stride();
      std::fill_n(memory.actor.gradient.data(), rows * stride, 0.0f);
      std::fill_n(memory.critic.gradient.data(), rows * stride, 0.0f);
      for (int64_t i = 0; i < rows; ++i) {
        const bool smaller = one[i * stride] <= other[i * stride];
        values[first + i] = smaller ? one[i * stride] : other[i * stride];
        (smaller ? memory.actor : memory.critic).gradient[i * stride] = 1.0f;
      }
      const float* by_one = actor_.Backward(features, rows, memory.actor, nullptr) + action.feature_offset;
      const float* by_other = critic_.Backward(own_features, rows, memory.critic, nullptr) + action.feature_offset;
      for (int64_t i = 0; i < rows; ++i) {
        float* to = slopes + (first + i) * action.size;
        const int64_t from = i * actor_.feature_stride();
        for (int64_t j = 0; j < action.size; ++j) to[j] = by_one[from + j] + by_other[from + j];
      }
    });
  }

  double GradientNorm() override { return gradient_.Norm(); }
  void ReadGradient(float* gradient) override { std::copy(gradient_.values().begin(), gradient_.values().end(), gradient); }
  void WriteGradient(const float* gradient) override { gradient_.Replace(gradient); }

  void Step(const OptimizerStep& step) override {
    packed_ = false;
    gradient_.Step(step);
  }

 private:
  /// body(network) for actor and critic, in parallel where that pays.
  template <typename Body>
  void EachNetwork(Body body) {
    if (!has_critic_ || policy_.trainable_size < kParallelElements) {
      body(actor_);
      if (has_critic_) body(critic_);
      return;
    }
    pool_.Run(2, [&](int64_t i, int) { body(i == 0 ? actor_ : critic_); });
  }

  void Pack() {
    if (packed_) return;
    EachNetwork([&](NetworkPass& network) { network.Pack(state_.weights.data()); });
    actor_images_.Pack(state_.weights.data());
    critic_images_.Pack(state_.weights.data());
    for (RecurrentNetwork& network : recurrent_) network.Pack(state_.weights.data());
    encoder_.Prepare();
    packed_ = true;
  }

  /// What both networks see of `rows` samples; row(i) is the i-th raw observation. Comes before EncodeNetwork.
  template <typename Row>
  void EncodeShared(Workspace& memory, int64_t rows, Row row) const {
    for (int64_t i = 0; i < rows; ++i) {
      encoder_.Encode(row(i), memory.actor.features.data() + i * actor_.feature_stride(),
                      memory.pixels.data() + i * policy_.pixel_size);
    }
  }

  /// Adds what a network sees by weights of its own; gives its feature rows.
  template <typename Row>
  const float* EncodeActor(Workspace& memory, int64_t rows, Row row) const {
    float* features = memory.actor.features.data();
    EncodeOwn(policy_.actor, actor_images_, memory, rows, row, features);
    return features;
  }

  /// Without text and images both networks see the same features.
  template <typename Row>
  const float* EncodeCritic(Workspace& memory, int64_t rows, Row row) const {
    const float* shared = memory.actor.features.data();
    if (policy_.text_leaves + policy_.images == 0) return shared;
    float* features = memory.critic.features.data();
    std::copy_n(shared, rows * critic_.feature_stride(), features);
    EncodeOwn(policy_.critic, critic_images_, memory, rows, row, features);
    return features;
  }

  template <typename Row>
  void EncodeOwn(const Network& network, const ConvolutionPass& images, Workspace& memory, int64_t rows, Row row,
                 float* features) const {
    const int64_t stride = actor_.feature_stride();
    for (int64_t i = 0; i < rows && policy_.text_leaves > 0; ++i) {
      encoder_.EncodeText(network, row(i), features + i * stride);
    }
    images.Forward(memory.pixels.data(), rows, memory.images, features, stride);
  }

  /// The largest action value of each row.
  void WriteLargest(const float* output, int64_t rows, float* values) const {
    std::vector<float> q(policy_.distribution_size);
    for (int64_t i = 0; i < rows; ++i) {
      WriteQ(policy_, output + i * actor_.output_stride(), q.data());
      values[i] = *std::max_element(q.begin(), q.end());
    }
  }

  /// What the GRU of network 0 (actor) or 1 (critic) reads; row(i) is the i-th raw observation.
  template <typename Row>
  const float* RunBody(int which, Workspace& memory, int64_t rows, Row row) const {
    EncodeShared(memory, rows, row);
    return which == 0 ? actor_.Forward(EncodeActor(memory, rows, row), rows, memory.actor)
                      : critic_.Forward(EncodeCritic(memory, rows, row), rows, memory.critic);
  }

  /// One network over a chunk; visit(row, output) for each row. `final_states` may be null.
  template <typename Visit>
  void ForwardChunk(int which, const SequenceChunk& chunk, const float* observations, const float* states,
                    Workspace& memory, float* final_states, Visit visit) const {
    const RecurrentNetwork& network = recurrent_[which];
    const auto body = [&](int64_t first, int64_t rows) {
      return RunBody(which, memory, rows, [&](int64_t i) {
        return observations + chunk.plan.rows[first + i] * policy_.observation_size;
      });
    };
    network.Forward(chunk.plan, chunk.sequences, states, body, memory.recurrent);
    if (final_states != nullptr) {
      std::vector<float> finals(chunk.sequences.size() * policy_.memory);
      network.FinalStates(chunk.plan, memory.recurrent, finals.data());
      std::copy(finals.begin(), finals.end(), final_states + chunk.first_sequence * policy_.memory);
    }
    network.Outputs(chunk.plan, memory.recurrent, [&](int64_t first, int64_t rows, const float* output, float*) {
      for (int64_t i = 0; i < rows; ++i) visit(chunk.plan.rows[first + i], output + i * network.output_stride());
    });
  }

  void ScoreSequences(float* log_probabilities) {
    const std::vector<SequenceChunk> chunks = ChunkSequences(batch_->sequences);
    pool_.Run(static_cast<int64_t>(chunks.size()), [&](int64_t chunk, int thread) {
      Workspace& memory = workspaces_[thread];
      ForwardChunk(0, chunks[chunk], batch_->observations.data(), batch_->actor_states.data(), memory, nullptr,
                   [&](int64_t row, const float* output) {
                     const float* action = &batch_->actions[row * policy_.action_size];
                     const uint8_t* mask = batch_->masks.empty() ? nullptr : &batch_->masks[row * policy_.mask_size];
                     const float* observation = &batch_->observations[row * policy_.observation_size];
                     log_probabilities[row] = memory.scorer.Score(output, observation, action, mask).log_probability;
                   });
    });
  }

  /// As ComputeGradient; a chunk is some sequences, cut by their lengths alone.
  MinibatchLoss ComputeSequenceGradient(const int32_t* rows, int64_t count, const LossSettings& settings) {
    const std::vector<SequenceChunk> chunks = ChunkSequences(SequencesOf(*batch_, rows, count));
    sequence_rows_.clear();
    std::vector<int64_t> starts;
    for (const SequenceChunk& chunk : chunks) {
      starts.push_back(static_cast<int64_t>(sequence_rows_.size()));
      sequence_rows_.insert(sequence_rows_.end(), chunk.plan.rows.begin(), chunk.plan.rows.end());
    }
    const Minibatch minibatch = DescribeMinibatch(*batch_, sequence_rows_.data(), count, settings);
    chunk_gradients_.resize(chunks.size() * chunk_size_);
    losses_.assign(chunks.size(), {});
    text_gradient_.resize(2 * count * policy_.text_leaves * policy_.embedding);
    pool_.Run(static_cast<int64_t>(chunks.size()), [&](int64_t i, int thread) {
      float* gradient = &chunk_gradients_[i * chunk_size_];
      std::fill_n(gradient, chunk_size_, 0.0f);
      RunChunk(0, minibatch, chunks[i], starts[i], workspaces_[thread], gradient, losses_[i]);
      if (settings.critic) RunChunk(1, minibatch, chunks[i], starts[i], workspaces_[thread], gradient, losses_[i]);
    });
    Reduce(static_cast<int64_t>(chunks.size()));
    if (policy_.text_leaves > 0) ScatterText(minibatch);
    return MeanLoss(losses_, minibatch.total);
  }

  /// Network 0 (actor) or 1 (critic) over one chunk, whose rows are the minibatch's from `start` on.
  void RunChunk(int which, const Minibatch& minibatch, const SequenceChunk& chunk, int64_t start, Workspace& memory,
                float* gradient, LossSums& loss) {
    const RecurrentNetwork& network = recurrent_[which];
    const NetworkPass& pass = which == 0 ? actor_ : critic_;
    const ConvolutionPass& images = which == 0 ? actor_images_ : critic_images_;
    TileMemory& tile = which == 0 ? memory.actor : memory.critic;
    const auto rowsFrom = [&](int64_t first) {
      return [&, first](int64_t i) {
        return &batch_->observations[minibatch.rows[start + first + i] * policy_.observation_size];
      };
    };
    const auto body = [&](int64_t first, int64_t rows) { return RunBody(which, memory, rows, rowsFrom(first)); };
    const auto lossOf = [&](int64_t first, int64_t rows, const float* output, float* slope) {
      const TileOutput out{start + first, rows, output, network.output_stride(), slope};
      if (which == 1) return AddCriticLoss(minibatch, out, loss);
      AddActorLoss(policy_, minibatch, out, memory.scorer, gradient + heads_start_, loss);
    };
    const auto bodyGradient = [&](int64_t first, int64_t rows, const float* slope) {
      body(first, rows);
      std::copy_n(slope, rows * pass.output_stride(), tile.gradient.data());
      const bool own = which == 1 && policy_.text_leaves + policy_.images > 0;
      const float* features = own ? memory.critic.features.data() : memory.actor.features.data();
      const float* feature_gradient =
          pass.Backward(features, rows, tile, gradient + (which == 0 ? 0 : critic_start_));
      KeepTextGradient(feature_gradient, pass.feature_stride(), start + first, rows, which * minibatch.count);
      images.Backward(memory.pixels.data(), rows, memory.images, feature_gradient, pass.feature_stride(),
                      gradient + (which == 0 ? actor_images_start_ : critic_images_start_));
    };
    const std::vector<float>& states = which == 0 ? batch_->actor_states : batch_->critic_states;
    network.Forward(chunk.plan, chunk.sequences, states.data(), body, memory.recurrent);
    network.Backward(chunk.plan, memory.recurrent, lossOf, bodyGradient, gradient + recurrent_start_[which]);
  }

  void WriteDistribution(ActionScorer& scorer, const float* output, const float* observation, float* distribution) const {
    if (policy_.has_action_values()) return WriteQ(policy_, output, distribution);
    if (policy_.head == Head::kSquashedGaussian) return WriteGaussian(policy_, output, distribution);
    if (policy_.head == Head::kTwinQ) {
      distribution[0] = output[0];
      return;
    }
    scorer.WriteDistribution(output, observation, distribution);
  }

  void RunTile(const Minibatch& minibatch, int64_t first, int64_t rows, Workspace& memory, float* gradient,
               LossSums& loss) {
    const auto row = [&](int64_t i) {
      return &batch_->observations[minibatch.rows[first + i] * policy_.observation_size];
    };
    Prefetch(minibatch.rows + first, rows);
    EncodeShared(memory, rows, row);
    const float* features = EncodeActor(memory, rows, row);
    const float* output = actor_.Forward(features, rows, memory.actor);
    const TileOutput actor{first, rows, output, actor_.output_stride(), memory.actor.gradient.data()};
    if (policy_.head == Head::kActorCritic) {
      AddActorLoss(policy_, minibatch, actor, memory.scorer, gradient + heads_start_, loss);
    } else if (policy_.head == Head::kSquashedGaussian) {
      AddSquashedGaussianLoss(policy_, minibatch, actor, loss);
    } else if (policy_.head == Head::kTwinQ) {
      AddCriticLoss(minibatch, actor, loss);
    } else {
      AddQLoss(policy_, minibatch, actor, loss);
    }
    const float* feature_gradient = actor_.Backward(features, rows, memory.actor, gradient);
    KeepTextGradient(feature_gradient, actor_.feature_stride(), first, rows, 0);
    actor_images_.Backward(memory.pixels.data(), rows, memory.images, feature_gradient, actor_.feature_stride(),
                           gradient + actor_images_start_);

    if (!minibatch.settings.critic) return;
    features = EncodeCritic(memory, rows, row);
    output = critic_.Forward(features, rows, memory.critic);
    AddCriticLoss(minibatch, {first, rows, output, critic_.output_stride(), memory.critic.gradient.data()}, loss);
    feature_gradient = critic_.Backward(features, rows, memory.critic, gradient + critic_start_);
    KeepTextGradient(feature_gradient, critic_.feature_stride(), first, rows, minibatch.count);
    critic_images_.Backward(memory.pixels.data(), rows, memory.images, feature_gradient, critic_.feature_stride(),
                            gradient + critic_images_start_);
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

  /// Sets aside what the embeddings' gradient is made of; `first_row` separates the two networks.
  void KeepTextGradient(const float* feature_gradient, int64_t stride, int64_t first, int64_t rows, int64_t first_row) {
    if (policy_.text_leaves == 0) return;
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
    OverElements(pool_, chunk_size_, [&](int64_t first, int64_t count) {
      SumArrays(&chunk_gradients_[first], chunks, chunk_size_, count, &sum_[first]);
    });
    EachNetwork([&](NetworkPass& network) {
      network.Unpack(&sum_[&network == &actor_ ? 0 : critic_start_], gradient_.data());
    });
    actor_images_.Unpack(sum_.data() + actor_images_start_, gradient_.data());
    critic_images_.Unpack(sum_.data() + critic_images_start_, gradient_.data());
    for (size_t i = 0; i < recurrent_.size(); ++i) {
      recurrent_[i].Unpack(sum_.data() + recurrent_start_[i], gradient_.data());
    }
    std::copy_n(sum_.data() + heads_start_, policy_.heads_size, gradient_.data() + policy_.heads);
  }

  /// Sample by sample, in order: tables of its own for each chunk would cost more than all the rest.
  void ScatterText(const Minibatch& minibatch) {
    pool_.Run(has_critic_ ? 2 : 1, [&](int64_t which, int) {
      const int64_t width = policy_.text_leaves * policy_.embedding;
      gradient_.tables(which).ClearGradient(gradient_.data());
      if (which == 1 && !minibatch.settings.critic) return;
      for (int64_t i = 0; i < minibatch.count; ++i) {
        gradient_.tables(which).AddGradient(&batch_->observations[minibatch.rows[i] * policy_.observation_size],
                                   &text_gradient_[(which * minibatch.count + i) * width], gradient_.data());
      }
    });
  }

  const Policy& policy_;
  TrainingState& state_;
  int64_t tile_rows_;
  int64_t most_chunks_;
  ThreadPool pool_;
  ObservationEncoder encoder_;
  NetworkPass actor_;
  NetworkPass critic_;
  bool has_critic_;
  ConvolutionPass actor_images_;
  ConvolutionPass critic_images_;
  std::vector<RecurrentNetwork> recurrent_;  // of actor and critic with memory
  std::vector<int64_t> recurrent_start_;     // offsets in a chunk's gradient
  std::vector<int32_t> sequence_rows_;       // a minibatch's rows, chunk after chunk in the order of their plans
  bool packed_ = false;
  std::vector<Workspace> workspaces_;
  const Batch* batch_ = nullptr;
  int64_t actor_images_start_ = 0;  // offsets in a chunk's gradient
  int64_t critic_start_ = 0;
  int64_t critic_images_start_ = 0;
  int64_t heads_start_ = 0;
  int64_t chunk_size_ = 0;
  AlignedFloats chunk_gradients_;
  std::vector<LossSums> losses_;
  AlignedFloats sum_;
  std::vector<float> text_gradient_;  // [2, count, text leaves, embedding]: actor, then critic
  FlatGradient gradient_;
};

}  // namespace

std::unique_ptr<Engine> MakeFusedEngine(const Policy& policy, TrainingState& state, int threads) {
  return std::make_unique<FusedEngine>(policy, state, threads);
}

}  // namespace agentgym
