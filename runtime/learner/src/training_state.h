#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "byte_stream.h"
#include "policy.h"
#include "rank_group.h"

namespace agentgym {

/// Mean and variance of a stream of rows, in double precision: a mean of 10,000 must not swallow a small signal.
struct RunningStatistics {
  explicit RunningStatistics(int64_t columns = 0) : mean(columns, 0.0), squares(columns, 0.0) {}

  /// Merges `count` rows of `stride` floats; statistic i is about column `columns[i]`. Batches are merged by Chan, Golub
  /// and LeVeque's formula (1979). With `ranks`, the rows of all processes are merged.
  void Merge(const float* rows, int64_t count, int64_t stride, const std::vector<int64_t>& columns,
             RankGroup* ranks = nullptr);

  /// Columns that are alike, `groups` times `columns` of them from `first` on, get the statistics of all their values.
  void Share(int64_t first, int64_t groups, int64_t columns);

  /// Population variance, as VecNormalize has it; 1 before the first row.
  double Variance(int64_t i) const { return count > 0 ? squares[i] / count : 1.0; }

  double count = 0;
  std::vector<double> mean;
  std::vector<double> squares;  // sums of squared deviations from the mean
};

/// Everything that learning changes. A copy of it is a perfect backup; `weights` and a serialised rest are a checkpoint.
struct TrainingState {
  explicit TrainingState(const Policy& policy)
      : weights(policy.total_size, 0.0f),
        first_moment(policy.trainable_size, 0.0f),
        second_moment(policy.trainable_size, 0.0f),
        observations(policy.statistics_size),
        returns(1),
        remembers(policy.memory > 0) {}

  /// Merges `count` observation rows into the statistics of box columns, and puts the new ones into the weights, except
  /// those that are fixed.
  void MergeObservations(const Policy& policy, const float* rows, int64_t count, RankGroup* ranks = nullptr);

  /// Takes the statistics in the weights for those of `count` observations.
  void AdoptObservations(const Policy& policy, double count);

  std::vector<float> weights;        // parameter-layout.ts gives the order
  std::vector<float> first_moment;   // Adam's, one a trainable weight
  std::vector<float> second_moment;
  int64_t optimizer_steps = 0;
  RunningStatistics observations;    // of box columns
  RunningStatistics returns;         // of the discounted return, one column
  std::vector<float> running_returns;  // discounted return of each environment's episode under way
  bool adopted_critic = false;         // the critic is another run's, in the reward's own units, until the first update
  bool remembers;                      // whether the policy has memory
  std::vector<float> critic_states;    // [environments, memory], the critic's of each episode under way
};

/// Everything but the weights.
void SerializeState(const TrainingState& state, Writer& writer);

/// Replaces everything but the weights. Fails with checkpoint_invalid where the bytes do not fit the policy; `state` is
/// then unchanged.
void DeserializeState(Reader& reader, TrainingState& state);

}  // namespace agentgym
