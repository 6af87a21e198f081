#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace agentgym {

/// A few threads that stay. The caller takes part, so a pool of one has no thread of its own. Tasks go to whoever is
/// free: results must not depend on who computes what. The caller waits for tasks, not for threads: on a machine that is
/// busy with something else, a thread that gets no core costs nothing.
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
  std::atomic<int64_t> untaken_{0};  // tasks of this round that nobody has taken; the last is taken first
  std::atomic<int32_t> undone_{0};   // 1 while a task of this round is not done
  std::atomic<int64_t> left_{0};     // tasks of this round that are not done
  std::atomic<int32_t> round_{0};    // counts calls of Run, to wake threads; -1 ends them
};

}  // namespace agentgym
