//===- Workspace.h - Places intermediate tensors by liveness --------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_LIB_TARGET_PROGRAM_WORKSPACE_H
#define FUSEOPS_LIB_TARGET_PROGRAM_WORKSPACE_H

#include "FuseOps/Target/Program.h"

namespace mlir::fuseops {

/// Gives each workspace tensor of `entry` its offset, and `entry` the size of
/// its workspace. Tensors that are never live at once share a slot.
void planWorkspace(ProgramEntry &entry);

} // namespace mlir::fuseops

#endif // FUSEOPS_LIB_TARGET_PROGRAM_WORKSPACE_H
