//===- FuseOpsOps.td - All operations of the dialect
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_FUSEOPSOPS_TD
#define FUSEOPS_DIALECT_FUSEOPS_FUSEOPSOPS_TD

include "FuseOps/Dialect/FuseOps/FuseOpsAttributes.td"
include "FuseOps/Dialect/FuseOps/FuseOpsStructureOps.td"
include "FuseOps/Dialect/FuseOps/FuseOpsScalarOps.td"
include "FuseOps/Dialect/FuseOps/FuseOpsPointwiseOps.td"
include "FuseOps/Dialect/FuseOps/FuseOpsGluOps.td"
include "FuseOps/Dialect/FuseOps/FuseOpsNormOps.td"
include "FuseOps/Dialect/FuseOps/FuseOpsSoftmaxOps.td"
include "FuseOps/Dialect/FuseOps/FuseOpsContractionOps.td"
include "FuseOps/Dialect/FuseOps/FuseOpsCollectiveOps.td"
include "FuseOps/Dialect/FuseOps/FuseOpsLayoutOps.td"
include "FuseOps/Dialect/FuseOps/FuseOpsQuantizationOps.td"

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPSOPS_TD
