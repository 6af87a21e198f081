#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "policy.h"
#include "rollout.h"
#include "training_state.h"

namespace agentgym {

/// A minibatch of which this process computes a part.
struct JoinedMinibatch {
  int64_t count;           // of all processes
  float advantage_mean;    // as of Minibatch
  float advantage_factor;
};

struct LossSettings {
  double clip_range;  // infinite: there is no clip
  std::optional<double> clip_range_value;
  double entropy_coefficient;
  double value_coefficient;
  bool normalize_advantage;
  double kl_coefficient;  // of the divergence from the reference policy; 0: there is none
  bool critic;            // whether there is a value loss at all
  std::optional<JoinedMinibatch> joined;  // absent: the rows are the whole minibatch
};

/// Means over one minibatch; where it is joined, what the rows of this process have of them.
struct MinibatchLoss {
  double policy_loss = 0;
  double value_loss = 0;
  double entropy = 0;
  double approximate_kl = 0;
  double clip_fraction = 0;
  double kl_to_reference = 0;
  double value = 0;  // DQN: of the actions that were taken; SAC: of those that the actor draws
};

enum class Optimizer { kAdam, kRmsprop };

struct OptimizerStep {
  Optimizer optimizer;
  double learning_rate;
  double gradient_scale;  // from clipping the gradient's norm
  int64_t number;         // counted from 1
};

/// Adam's constants: PyTorch's, but CleanRL's and Stable-Baselines3's epsilon.
constexpr double kAdamBeta1 = 0.9;
constexpr double kAdamBeta2 = 0.999;
constexpr double kAdamEpsilon = 1e-5;

/// RMSprop's constants: those of the original A2C and of Stable-Baselines3's RMSpropTFLike.
constexpr double kRmspropDecay = 0.99;
constexpr double kRmspropEpsilon = 1e-5;

/// Observations whose rows are sequences, and the initial states that those point into.
struct SequenceRows {
  const float* observations;
  const std::vector<Sequence>& sequences;
  const float* actor_states;
  const float* critic_states;
};

struct SequenceResults {
  float* distribution = nullptr;
  float* values = nullptr;
  float* actor_states = nullptr;
  float* critic_states = nullptr;
};

/// Computes the policy and its gradient, and moves the weights. Holds on to the state it was made with: weights and
/// moments of that state are what it reads and writes, or what its copies on a device are synchronised with.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Host to device, after the state was changed from outside; and back. Nothing to do where memory is shared.
  virtual void Upload() = 0;
  virtual void Download() = 0;

  /// Of raw observation rows: distribution rows (may be null: values only) and the critic's outputs, unscaled (may be
  /// null). A Q-network's distribution is the values of the actions, and its value their maximum. SAC's actor has means, then
  /// log standard deviations, and the value 0. Twin critics: the first one's values as distribution, the second one's as values.
  virtual void Forward(const float* observations, int64_t count, float* distribution, float* values) = 0;

  /// The same of a policy with memory: of rows that are sequences. Any result may be null; final states are
  /// [sequences, memory].
  virtual void ForwardSequences(const SequenceRows& rows, const SequenceResults& results) = 0;

  /// The samples that ComputeGradient's rows point into; `batch` must outlive its use.
  virtual void SetBatch(const Batch& batch) = 0;

  /// Log-probabilities of the batch's actions under the weights as they are, one a sample.
  virtual void Score(float* log_probabilities) = 0;

  /// Gradient of the loss over some rows of the batch, whole sequences where the policy has memory; it stays in the engine
  /// until the next call. The clipped surrogate, a Q-network's Huber loss or twin critics' squared errors against
  /// `returns`, or SAC's actor loss.
  virtual MinibatchLoss ComputeGradient(const int32_t* rows, int64_t count, const LossSettings& settings) = 0;

  /// Of twin critics, for rows of observation and action: the smaller of the two values [count], and its slopes by the
  /// action [count, action].
  virtual void ActionValues(const float* rows, int64_t count, float* values, float* slopes) = 0;
  virtual double GradientNorm() = 0;
  virtual void ReadGradient(float* gradient) = 0;

  /// Replaces the gradient, as by the sum over all processes.
  virtual void WriteGradient(const float* gradient) = 0;
  virtual void Step(const OptimizerStep& step) = 0;
};

/// Where an engine computes: on the CPU, or on the CUDA device of that number.
constexpr int kCpu = -1;

/// Libtorch's autograd: the reference, for every policy, on the CPU or on CUDA.
std::unique_ptr<Engine> MakeAutogradEngine(const Policy& policy, TrainingState& state, int device);

/// The same computations in float64 on the CPU: what tests measure the rounding errors of the others against.
std::unique_ptr<Engine> MakeFloat64Engine(const Policy& policy, TrainingState& state);

/// Hand-written forward and backward passes on the CPU.
std::unique_ptr<Engine> MakeFusedEngine(const Policy& policy, TrainingState& state, int threads);

}  // namespace agentgym
