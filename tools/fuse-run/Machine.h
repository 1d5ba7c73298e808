//===- Machine.h - The devices of this machine
//-------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_TOOLS_FUSE_RUN_MACHINE_H
#define FUSEOPS_TOOLS_FUSE_RUN_MACHINE_H

#include "Session.h"

#include "FuseOps/Compiler/Pipelines.h"

namespace fuserun {

/// What the runtime says of a device: `ask` is `fuseopsDeviceName` or
/// `fuseopsDeviceArch`. Empty if it says nothing.
std::string getDeviceText(decltype(fuseopsDeviceName) *ask, int32_t deviceType,
                          int32_t device);

/// The model of this machine's CPU, or of its first GPU.
std::string getChip(int32_t deviceType);

/// Makes sure that this machine can run `target`. A CUDA target without a chip
/// gets that of the machine.
llvm::Error prepareTarget(mlir::fuseops::TargetSpec &target, bool namesChip);

/// Fails if the tensors of forward are more than this machine's memory: an
/// allocation that fails ends the process.
llvm::Error checkMemory(const Session &session);

} // namespace fuserun

#endif // FUSEOPS_TOOLS_FUSE_RUN_MACHINE_H
