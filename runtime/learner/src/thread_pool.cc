#include "thread_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>

namespace agentgym {

namespace {

/// A minibatch follows the last within microseconds, sooner than a sleeping thread wakes; but a core must not burn for
/// longer than that.
constexpr int kSpins = 4000;

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Returns the value once it differs from `old`.
int32_t AwaitChange(const std::atomic<int32_t>& value, int32_t old) {
  for (int spin = 0; spin < kSpins; ++spin) {
    const int32_t now = value.load(std::memory_order_acquire);
    if (now != old) return now;
    Pause();
  }
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  // Signals belong to Node's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int thread = 1; thread < threads; ++thread) workers_.emplace_back([this, thread] { Work(thread); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ThreadPool::~ThreadPool() {
  round_.store(-1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::Run(int64_t tasks, const std::function<void(int64_t, int)>& body) {
  if (tasks == 1 || workers_.empty()) {
    for (int64_t task = 0; task < tasks; ++task) body(task, 0);
    return;
  }
  // No thread holds a task of the round before, so nobody reads these now.
  body_ = &body;
  left_.store(tasks, std::memory_order_relaxed);
  undone_.store(1, std::memory_order_relaxed);
  untaken_.store(tasks, std::memory_order_release);
  const int32_t round = round_.load(std::memory_order_relaxed);
  round_.store(round == INT32_MAX ? 0 : round + 1, std::memory_order_release);
  round_.notify_all();
  TakeTasks(0);
  while (undone_.load(std::memory_order_acquire) == 1) AwaitChange(undone_, 1);
}

/// Whoever lowers `untaken_` holds a task, and with it the round: `body_` stays until that task is done.
void ThreadPool::TakeTasks(int thread) {
  int64_t untaken = untaken_.load(std::memory_order_acquire);
  while (untaken > 0) {
    if (!untaken_.compare_exchange_weak(untaken, untaken - 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
      continue;
    }
    (*body_)(untaken - 1, thread);
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      undone_.store(0, std::memory_order_release);
      undone_.notify_all();
    }
    untaken = untaken_.load(std::memory_order_acquire);
  }
}

void ThreadPool::Work(int thread) {
  int32_t round = 0;
  for (;;) {
    round = AwaitChange(round_, round);
    if (round < 0) return;
    TakeTasks(thread);
  }
}

}  // namespace agentgym
