//===- FusibleEdits.h - Changes of a fusible's signature -----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_TRANSFORMS_FUSIBLEEDITS_H
#define FUSEOPS_TRANSFORMS_FUSIBLEEDITS_H

#include "FuseOps/Dialect/FuseOps/FuseOps.h"

namespace mlir::fuseops {

/// Adds an argument behind the others, with `attrs`. Backward returns `none`
/// for it.
BlockArgument addArgument(FusibleOp fusible, Type type, DictionaryAttr attrs,
                          Location loc);

/// Attribute `name` of argument `index`; null if it has none.
Attribute getArgumentAttr(FusibleOp fusible, unsigned index, StringRef name);

/// Sets attribute `name` of argument `index`.
void setArgumentAttr(FusibleOp fusible, unsigned index, StringRef name,
                     Attribute value);

/// Makes `value` a result of forward, behind the others, whose gradient nobody
/// provides. Returns its number.
unsigned addResult(FusibleOp fusible, Value value);

/// Removes a result and its place in what backward knows of results; no
/// gradient of it comes in.
void eraseResult(FusibleOp fusible, unsigned index);

/// Removes an argument that nothing reads, and its gradient, which is `none`.
void eraseArgument(FusibleOp fusible, unsigned index);

/// Makes `value` what backward returns for argument `index`.
void setGradient(FusibleOp fusible, unsigned index, Value value);

/// Puts the operations of every group in its place: the program as it was
/// before it was planned.
void inlineGroups(FusibleOp fusible);

/// What crosses from forward to backward.
class SavedValues {
public:
  explicit SavedValues(FusibleOp fusible) : fusible(fusible) {}

  /// The forward value that `value`, an argument of backward, is; null for any
  /// other value.
  Value getForward(Value value);

  /// The argument of backward that is `value`, which is saved from here on.
  BlockArgument save(Value value);

  /// Saves no longer what backward does not read.
  void dropUnused();

private:
  FusibleOp fusible;
};

} // namespace mlir::fuseops

#endif // FUSEOPS_TRANSFORMS_FUSIBLEEDITS_H
