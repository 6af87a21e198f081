#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host_group.h"
#include "rank_memory.h"

namespace agentgym {

/// The supervisor's side of a run of several processes: it makes their memory, connects it to other machines, and ends every
/// wait when a process has left.
class RankHub {
 public:
  RankHub(int ranks, bool several_hosts);
  ~RankHub();
  RankHub(const RankHub&) = delete;
  RankHub& operator=(const RankHub&) = delete;

  /// For the processes to inherit.
  int descriptor() const;

  /// Meets the other machines; gives what each of them says of itself. Blocks.
  std::vector<std::string> JoinHosts(const HostPlace& place, const std::string& greeting);

  void Abort(const std::string& reason);

 private:
  struct State;

  /// Its threads have a share of it: one of them may wait for a machine that is gone for longer than this object lives.
  std::shared_ptr<State> state_;
};

}  // namespace agentgym
