#pragma once

#include <cstdint>
#include <vector>

#include "matrix_kernels.h"
#include "policy.h"

namespace agentgym {

/// The token embeddings of one network, of which a minibatch touches few rows. Everything here costs what it touches, and
/// gives the same bits as the dense computation: a row without a gradient adds nothing to the norm, and Adam leaves a weight
/// as it is while its gradient and both its moments are zero, so rows of tokens that were never seen are left out.
class EmbeddingTables {
 public:
  EmbeddingTables(const Policy& policy, const Network& network);

  /// Offsets of the tables in the flat buffer, and elements of each.
  struct Range {
    int64_t first;
    int64_t count;
  };
  std::vector<Range> Ranges() const;

  /// Zeroes the rows that the last minibatch touched.
  void ClearGradient(float* gradient);

  /// Adds one sample's part; `text_gradient` is d loss / d mean embedding, a text after the other.
  void AddGradient(const float* observation, const float* text_gradient, float* gradient);

  /// Takes the rows of a gradient from elsewhere that are not zero for those that were touched.
  void FindTouched(const float* gradient);

  /// Of the gradient, row after row in the order in which they were touched.
  double GradientSquares(const float* gradient) const;

  /// To be called when the moments were changed from outside.
  void Forget() { seen_known_ = false; }

  void Adam(const AdamFactors& factors, const float* gradient, float* weights, float* first_moment,
            float* second_moment);

 private:
  struct Table {
    const ObservationLeaf* leaf;
    int64_t offset;
    int64_t rows;
    std::vector<int32_t> touched;  // by the last minibatch
    std::vector<uint8_t> is_touched;
    std::vector<int32_t> seen;     // rows with a moment that is not zero, and perhaps others
    std::vector<uint8_t> is_seen;
  };

  void FindSeen(const float* first_moment, const float* second_moment);

  int64_t width_;
  bool seen_known_ = false;
  std::vector<Table> tables_;
  AlignedFloats scaled_;
};

}  // namespace agentgym
