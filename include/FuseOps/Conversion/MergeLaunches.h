//===- MergeLaunches.h - What small launches have in common --------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_CONVERSION_MERGELAUNCHES_H
#define FUSEOPS_CONVERSION_MERGELAUNCHES_H

#include <cstdint>

namespace mlir::fuseops {

/// Elements of the largest tensor of a small launch: one block is done with
/// them sooner than another launch begins.
constexpr int64_t kSmallElements = 8192;

/// Threads of a CUDA block whose launch may run as a part of another: as many
/// for all, since they meet at barriers.
constexpr int64_t kMergedThreads = 512;

} // namespace mlir::fuseops

#endif // FUSEOPS_CONVERSION_MERGELAUNCHES_H
