//===- Exchange.h - DLPack's C exchange API ------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table of functions that a framework hangs on its tensor type (attribute
// `__dlpack_c_exchange_api__`, a capsule), so that C code reads a tensor
// without a Python object for it. The layout is that of DLPack 1.x; only the
// functions that FuseOps calls are typed.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_PYTHON_EXCHANGE_H
#define FUSEOPS_LIB_PYTHON_EXCHANGE_H

#include "FuseOps-c/DLPack.h"

#include <stdint.h>

namespace fuseops {
namespace python {

/// The capsule's name.
constexpr const char *kExchangeName = "dlpack_exchange_api";

/// The version of DLPack whose layout this header has.
constexpr uint32_t kExchangeMajor = 1;

struct ExchangeAPI {
  uint32_t major;
  uint32_t minor;
  /// The table of an older major version, maybe NULL.
  const ExchangeAPI *previous;
  void *allocate;
  void *managedTensorFromPyObject;
  void *managedTensorToPyObject;
  /// Writes a view that lives as long as the tensor; may be NULL. Not 0 after a
  /// Python exception.
  int (*viewOfPyObject)(void *object, DLTensor *view);
  /// Writes the stream that the framework's work goes to. Not 0 after a Python
  /// exception.
  int (*currentStream)(DLDeviceType type, int32_t id, void **stream);
};

} // namespace python
} // namespace fuseops

#endif // FUSEOPS_LIB_PYTHON_EXCHANGE_H
