#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "action_scorer.h"
#include "convolution_pass.h"
#include "network_pass.h"
#include "policy.h"
#include "recurrent_network.h"
#include "vector_math.h"

namespace agentgym {

/// A minibatch is cut into chunks by its size alone; each chunk sums its own gradient, and the chunks are added in their
/// order. So the result is the same bits whatever the number of threads.
inline constexpr int64_t kMostChunks = 32;
inline constexpr int64_t kTilesInChunk = 2;
inline constexpr int64_t kMostChunkMemory = int64_t{64} << 20;  // floats

inline int64_t Tiles(int64_t rows, int64_t tile_rows) { return (rows + tile_rows - 1) / tile_rows; }

/// Whether a layer's weights fill a good part of the second-level cache. Such networks take more samples at once, because
/// each tile reads all the weights again, and fewer chunks, because each has a gradient as long as the weights.
inline bool IsLarge(const Policy& policy) {
  return std::any_of(policy.actor.layers.begin(), policy.actor.layers.end(),
                     [](const Layer& layer) { return layer.in * layer.out >= 1 << 16; });
}

/// What one thread needs to take a tile through both networks.
struct Workspace {
  Workspace(const Policy& policy, const NetworkPass& actor, const NetworkPass& critic, const ConvolutionPass& images,
            int64_t tile_rows, const std::vector<float>& weights)
      : actor(actor.MakeMemory(tile_rows)),
        critic(critic.MakeMemory(tile_rows)),
        pixels(tile_rows * policy.pixel_size + kLanes),
        images(images.MakeMemory()),
        scorer(policy, weights) {}

  TileMemory actor;
  TileMemory critic;
  AlignedFloats pixels;          // [tile's rows, policy.pixel_size], and slack
  ImageMemory images;            // of the network in hand
  RecurrentWorkspace recurrent;  // likewise
  ActionScorer scorer;
};

}  // namespace agentgym
