#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rank_memory.h"

namespace agentgym {

/// Where the machines of a run meet: the first of them listens there.
struct HostPlace {
  std::string address;
  int port;
  int host;
  int hosts;
  double timeout_seconds;  // until all have come
  /// What only the run's machines know, and what each of them shows of it to the others. Empty: anyone may come.
  std::string secret;
  std::vector<std::string> proofs;
};

/// The machines of a run, as one of them sees them. All call Sum in the same order.
class HostGroup {
 public:
  virtual ~HostGroup() = default;

  /// What every machine said of itself when it came.
  virtual const std::vector<std::string>& greetings() const = 0;

  /// Replaces values by their sums over all machines, which are the same bits everywhere.
  virtual void Sum(SumType type, void* values, int64_t count) = 0;

  /// Says that this machine is alive; gives one that has said nothing for `patience_seconds`. Throws where the meeting point
  /// cannot be reached any more. May be called while Sum runs.
  virtual std::optional<int> FindLost(double patience_seconds) = 0;
};

/// Waits until all machines have come. Fails with rank_lost where they don't.
std::unique_ptr<HostGroup> JoinHosts(const HostPlace& place, const std::string& greeting);

}  // namespace agentgym
