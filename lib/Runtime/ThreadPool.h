//===- ThreadPool.h - Threads that the CPU target's steps are cut over ---===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_RUNTIME_THREADPOOL_H
#define FUSEOPS_LIB_RUNTIME_THREADPOOL_H

#include <cstdint>

namespace fuseops {
namespace runtime {

/// Calls `body(context, i)` for each i below `count`, on the process's pool of
/// threads, and returns when all are done. The caller works too. While another
/// call uses the pool, the caller does it all: so many callers, and a call
/// inside a body, are fine.
void parallelFor(int64_t count, void (*body)(void *context, int64_t index),
                 void *context);

/// The same for a callable.
template <typename Body>
void parallelFor(int64_t count, Body body) {
  parallelFor(
      count,
      [](void *context, int64_t index) {
        (*static_cast<Body *>(context))(index);
      },
      &body);
}

/// How many threads take part, the caller included: FUSEOPS_NUM_THREADS, else
/// the processors that this process may use.
int32_t getNumThreads();

} // namespace runtime
} // namespace fuseops

#endif // FUSEOPS_LIB_RUNTIME_THREADPOOL_H
