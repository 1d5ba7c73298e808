//===- ThreadPool.cpp - Threads that the CPU target's steps are cut over -===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadPool.h"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

using namespace fuseops::runtime;

// How often an idle thread looks for work before it sleeps; about 20 us, the
// time that the steps of one entry are apart.
static constexpr int kSpins = 1000;

static constexpr int32_t kMaxThreads = 1024;

namespace {

struct Job {
  void (*body)(void *, int64_t);
  void *context;
  int64_t count;
  std::atomic<int64_t> next{0};

  void work() {
    for (int64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1))
      body(context, i);
  }
};

/// A caller never waits for a thread that has not begun to work for it, so that
/// a forked child, whose threads are gone, still makes progress.
class ThreadPool {
public:
  ThreadPool();
  void run(Job &job);
  int32_t numThreads = 1;

private:
  [[noreturn]] void serve();

  std::atomic<bool> isBusy{false};
  std::atomic<uint64_t> generation{0};
  std::mutex mutex;
  std::condition_variable wake, done;
  Job *current = nullptr;
  int32_t numActive = 0;
};

} // namespace

static void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

static int32_t chooseNumThreads() {
  if (const char *text = std::getenv("FUSEOPS_NUM_THREADS")) {
    long wanted = std::strtol(text, nullptr, 10);
    if (wanted >= 1)
      return wanted < kMaxThreads ? wanted : kMaxThreads;
  }
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
    return CPU_COUNT(&set);
#endif
  unsigned hardware = std::thread::hardware_concurrency();
  return hardware == 0 ? 1 : static_cast<int32_t>(hardware);
}

ThreadPool::ThreadPool() {
  int32_t wanted = chooseNumThreads();
  try {
    for (; numThreads < wanted; ++numThreads)
      std::thread([this] { serve(); }).detach();
  } catch (const std::system_error &) {
    // Fewer threads than wanted still do the work.
  }
}

void ThreadPool::serve() {
  uint64_t seen = 0;
  while (true) {
    for (int i = 0; i < kSpins && generation.load() == seen; ++i)
      pause();
    std::unique_lock<std::mutex> lock(mutex);
    wake.wait(lock, [&] { return generation.load() != seen; });
    seen = generation.load();
    if (!current)
      continue;
    Job *job = current;
    ++numActive;
    lock.unlock();
    job->work();
    lock.lock();
    if (--numActive == 0)
      done.notify_one();
  }
}

void ThreadPool::run(Job &job) {
  if (job.count <= 1 || numThreads == 1 || isBusy.exchange(true)) {
    job.work();
    return;
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    current = &job;
    ++generation;
  }
  wake.notify_all();
  job.work();
  {
    std::unique_lock<std::mutex> lock(mutex);
    current = nullptr;
    done.wait(lock, [&] { return numActive == 0; });
  }
  isBusy = false;
}

// Never destroyed: its threads run until the process ends.
static ThreadPool &getPool() {
  static ThreadPool *pool = new ThreadPool;
  return *pool;
}

void fuseops::runtime::parallelFor(int64_t count, void (*body)(void *, int64_t),
                                   void *context) {
  Job job;
  job.body = body;
  job.context = context;
  job.count = count;
  getPool().run(job);
}

int32_t fuseops::runtime::getNumThreads() { return getPool().numThreads; }
