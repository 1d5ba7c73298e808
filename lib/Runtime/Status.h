//===- Status.h - Statuses and the sentence of the last error -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_RUNTIME_STATUS_H
#define FUSEOPS_LIB_RUNTIME_STATUS_H

#include "FuseOps-c/Runtime.h"

#include <exception>

namespace fuseops {
namespace runtime {

/// Sets the calling thread's last error to the formatted sentence and returns
/// `status`.
fuseopsStatus fail(fuseopsStatus status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// Puts `where: ` before the calling thread's last error and returns `status`.
fuseopsStatus addContext(fuseopsStatus status, const char *where);

/// Runs `body` at the C boundary, where no exception may pass (an allocation
/// that fails throws).
template <typename Body>
fuseopsStatus guarded(Body &&body) {
  try {
    return body();
  } catch (const std::exception &error) {
    return fail(FUSEOPS_RUNTIME_ERROR, "the runtime failed: %s", error.what());
  }
}

} // namespace runtime
} // namespace fuseops

#endif // FUSEOPS_LIB_RUNTIME_STATUS_H
