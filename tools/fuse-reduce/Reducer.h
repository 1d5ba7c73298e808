//===- Reducer.h - Makes a module smaller as long as it shows a fault ----===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_TOOLS_FUSE_REDUCE_REDUCER_H
#define FUSEOPS_TOOLS_FUSE_REDUCE_REDUCER_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>

namespace mlir::fuseops {

/// Tries one change after the other on a copy of the module, and keeps those
/// after which the module verifies and still shows the fault. Ends when no
/// change is left: then each operation, result, argument and extent is needed.
class Reducer {
public:
  /// `showsFault` is asked about modules that verify.
  Reducer(ModuleOp module, std::function<bool(ModuleOp)> showsFault)
      : module(module), showsFault(std::move(showsFault)) {}

  /// The smallest module that was found.
  OwningOpRef<ModuleOp> reduce();

  /// How many modules were asked about, and how many of them were kept.
  unsigned getNumAsked() const { return numAsked; }
  unsigned getNumKept() const { return numKept; }

private:
  /// Applies `change` to a copy, which becomes the module if it is smaller and
  /// shows the fault. A change returns false where it does not apply.
  bool attempt(function_ref<bool(ModuleOp)> change);

  bool dropBackward(StringRef fusible);
  bool dropResults(StringRef fusible);
  bool liftResults(StringRef fusible);
  bool dropArguments(StringRef fusible);
  bool inlineApplied(StringRef fusible);
  bool replaceOperations(StringRef fusible);
  bool shrinkExtents();

  OwningOpRef<ModuleOp> module;
  std::function<bool(ModuleOp)> showsFault;
  unsigned numAsked = 0, numKept = 0;
};

} // namespace mlir::fuseops

#endif // FUSEOPS_TOOLS_FUSE_REDUCE_REDUCER_H
