//===- FuseOpsTypes.td - The quantized tensor type
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_FUSEOPSTYPES_TD
#define FUSEOPS_DIALECT_FUSEOPS_FUSEOPSTYPES_TD

include "FuseOps/Dialect/FuseOps/FuseOpsDialect.td"
include "FuseOps/Dialect/FuseOps/FuseOpsEnums.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypes.td"

def FuseOps_QuantizedType : TypeDef<FuseOps_Dialect, "Quantized"> {
  let mnemonic = "quantized";
  let summary = "FP8 tensor with its scales and its physical copies";
  let description = [{
    A matrix (rank 2) whose logical value is `data * scale_inv`. The element
    type is `f8E4M3FN` or `f8E5M2`. `scale` says what one scale covers:

    | scale | scale_inv of a copy `[R, C]` | its type |
    | --- | --- | --- |
    | `per_tensor` | `[]` | f32 |
    | `per_row` | `[R, 1]` | f32 |
    | `block<1x128>` | `[ceil(C/128), R]` | f32 |
    | `block<128x128>` | `[ceil(R/128), ceil(C/128)]`, the columns rounded up to a multiple of 4 with zeros where C is known | f32 |
    | `mx<1x32>` | `[R, ceil(C/32)]` | f8E8M0FNU |

    The scales lie as cuBLASLt reads them. `copies` says which physical copies of an
    MxN tensor exist: `row` is `[M, N]`, `col` is the transposed `[N, M]` with the
    scales of the transposed matrix, `row_col` both.
    A Hopper FP8 product needs K-major operands, hence the transposed copy; with
    row-wise scales the two copies hold different numbers, so that both have to
    come from the high-precision value.

    At every boundary the type is a list of plain buffers: for each copy its
    data, then its scale_inv (`getParts`).

    Example: `!fuseops.quantized<?x4096xf8E4M3FN, scale = block<1x128>, copies = row_col>`
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "the two extents">:$shape,
    "::mlir::Type":$elementType,
    "::mlir::fuseops::ScaleKind":$scale,
    "::mlir::fuseops::Copies":$copies);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The high-precision tensor type of the same shape.
    ::mlir::RankedTensorType getTensorType(::mlir::Type elementType) const {
      return ::mlir::RankedTensorType::get(getShape(), elementType);
    }
    bool hasRowCopy() const { return getCopies() != Copies::Col; }
    bool hasColCopy() const { return getCopies() != Copies::Row; }
    /// The plain buffers that this type is at a boundary: for each copy, row
    /// first, its data and its scale_inv.
    ::llvm::SmallVector<::mlir::RankedTensorType> getParts() const;
  }];
}

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPSTYPES_TD
