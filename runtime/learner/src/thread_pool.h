#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace agentgym {

/// A few threads that stay. The caller takes part, so a pool of one has no thread of its own. Tasks go to whoever is
/// free: results must not depend on who computes what.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls body(task, thread) for each task; returns when all are done. Bodies must not throw.
  void Run(int64_t tasks, const std::function<void(int64_t task, int thread)>& body);

 private:
  void Work(int thread);
  void TakeTasks(int thread);

  std::vector<std::thread> workers_;
  const std::function<void(int64_t, int)>* body_ = nullptr;
  int64_t tasks_ = 0;
  std::atomic<int64_t> next_task_{0};
  std::atomic<int32_t> round_{0};    // counts calls of Run; -1 ends the threads
  std::atomic<int32_t> working_{0};  // threads that have not finished this round
};

}  // namespace agentgym
