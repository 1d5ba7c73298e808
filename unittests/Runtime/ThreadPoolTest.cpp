//===- ThreadPoolTest.cpp - Work is cut over threads ---------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadPool.h"

#include "gtest/gtest.h"

#include <atomic>
#include <thread>
#include <vector>

using namespace fuseops::runtime;

TEST(ThreadPool, EachIndexOnce) {
  for (int64_t count : {0, 1, 2, 3, 100, 10000}) {
    std::vector<std::atomic<int>> hits(count);
    parallelFor(count, [&](int64_t i) { ++hits[i]; });
    for (int64_t i = 0; i < count; ++i)
      EXPECT_EQ(hits[i], 1) << i;
  }
}

TEST(ThreadPool, Nested) {
  std::atomic<int> total{0};
  parallelFor(10, [&](int64_t) { parallelFor(10, [&](int64_t) { ++total; }); });
  EXPECT_EQ(total, 100);
}

TEST(ThreadPool, ManyCallers) {
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 6; ++i)
    callers.emplace_back([&] {
      for (int j = 0; j < 500; ++j)
        parallelFor(7, [&](int64_t index) { total += index; });
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(total, int64_t(6) * 500 * 21);
}

TEST(ThreadPool, WorksAfterASleep) {
  std::atomic<int> total{0};
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    parallelFor(64, [&](int64_t) { ++total; });
  }
  EXPECT_EQ(total, 320);
  EXPECT_GE(getNumThreads(), 1);
}
