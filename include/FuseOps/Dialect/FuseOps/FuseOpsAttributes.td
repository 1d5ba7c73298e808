//===- FuseOpsAttributes.td - Attributes of programs and of tensor types
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_FUSEOPSATTRIBUTES_TD
#define FUSEOPS_DIALECT_FUSEOPS_FUSEOPSATTRIBUTES_TD

include "FuseOps/Dialect/FuseOps/FuseOpsDialect.td"
include "FuseOps/Dialect/FuseOps/FuseOpsEnums.td"
include "mlir/IR/AttrTypeBase.td"

def FuseOps_BlocksAttr : AttrDef<FuseOps_Dialect, "Blocks"> {
  let mnemonic = "blocks";
  let summary = "Says that a dynamic extent counts blocks";
  let description = [{
    The encoding of a tensor type whose dynamic extent is not the symbolic number
    of rows S but the number of blocks of `size` that S has: `ceil(S / size)`.
    Size is 32 or 128.

    Example: `tensor<?x4096xf32, #fuseops.blocks<128>>`
  }];
  let parameters = (ins "int64_t":$size);
  let assemblyFormat = "`<` $size `>`";
  let genVerifyDecl = 1;
}

def FuseOps_RecipeAttr : AttrDef<FuseOps_Dialect, "Recipe"> {
  let mnemonic = "recipe";
  let summary = "How the contractions of a program are quantized";
  let description = [{
    On a fusible as `fuseops.recipe`: the recipe of its contractions. On a
    contraction: the recipe of that one, `none` for high precision.

    | kind | scales of activations and gradients | of weights | TransformerEngine |
    | --- | --- | --- | --- |
    | `delayed` | `per_tensor`, from earlier amaxes | the same | DelayedScaling |
    | `current` | `per_tensor`, from the amax of the tensor | the same | Float8CurrentScaling |
    | `block` | `block<1x128>` | `block<128x128>` | Float8BlockScaling |
    | `rowwise` | `per_row` | `per_row` | torchao's rowwise |
    | `mx` | `mx<1x32>` | `mx<1x32>` | MXFP8BlockScaling |

    `format`: `hybrid` is E4M3 forward and E5M2 for gradients, `e4m3` E4M3 for
    all. `power_of_two`: scales are rounded down to a power of two. `epsilon`: an
    amax is at least that. `margin`, `history` and `amax_algorithm` are of
    `delayed`: a scale is divided by `2^margin`; it comes from the last `history`
    amaxes. `high_precision_wgrad`: weight gradients are computed from the
    operands as they were before quantization.

    Example: `#fuseops.recipe<delayed, history = 16>`
  }];
  let parameters = (ins
    "::mlir::fuseops::RecipeKind":$kind,
    "::mlir::fuseops::RecipeFormat":$format,
    "bool":$powerOfTwo,
    "::mlir::FloatAttr":$epsilon,
    "int64_t":$margin,
    "int64_t":$history,
    "::mlir::fuseops::AmaxAlgorithm":$amaxAlgorithm,
    "bool":$highPrecisionWgrad);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The recipe that `--recipe=kind` means: TransformerEngine's defaults.
    static RecipeAttr getDefault(::mlir::MLIRContext *context, RecipeKind kind);
  }];
}

def FuseOps_TensorMapAttr : AttrDef<FuseOps_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "A matrix in memory as the tensor memory accelerator of a CUDA chip sees it";
  let description = [{
    A parameter of the kernel of a `fuseops.launch`: by it the kernel copies boxes
    of `box_rows` by `box_columns` elements between memory and shared memory. What
    lies outside the matrix is read as zeros and not written.

    `tensor` is which of the launch's inputs, then outputs, holds the matrix, from
    its first element on. `columns` and `rows` are sizes as the launch's sizes are,
    and so is `pitch`: a row begins so many elements after the one before. With
    `batch`, a size too, there are so many such matrices, each `batch_pitch` elements
    after the one before; a box is of one of them. In shared memory a box's rows follow each other, their 16 byte
    chunks exchanged in the pattern that repeats every `swizzle` bytes, 0 for none.

    The hardware wants rows and matrices that begin at multiples of 16 bytes, boxes
    of at most 256 elements each way, and rows of a box that are multiples of 16
    bytes and fit into the pattern. Where the pitch depends on S, the runtime refuses
    the sizes that are none.

    Example: `#fuseops.tensor_map<tensor = 0, columns = [4096], rows = [0, 1], pitch = [4096], box_columns = 64, box_rows = 128, swizzle = 128>`
  }];
  let parameters = (ins
    "int64_t":$tensor,
    ArrayRefParameter<"int64_t">:$columns,
    ArrayRefParameter<"int64_t">:$rows,
    ArrayRefParameter<"int64_t">:$pitch,
    "int64_t":$boxColumns,
    "int64_t":$boxRows,
    "int64_t":$swizzle,
    OptionalArrayRefParameter<"int64_t">:$batch,
    DefaultValuedParameter<"int64_t", "0">:$batchPitch);
  let assemblyFormat = [{
    `<` `tensor` `=` $tensor `,` `columns` `=` custom<Factors>($columns) `,`
    `rows` `=` custom<Factors>($rows) `,` `pitch` `=` custom<Factors>($pitch) `,`
    `box_columns` `=` $boxColumns `,` `box_rows` `=` $boxRows `,`
    `swizzle` `=` $swizzle
    (`,` `batch` `=` custom<Factors>($batch)^ `,`
         `batch_pitch` `=` $batchPitch)? `>`
  }];
  let genVerifyDecl = 1;
}

def FuseOps_TensorMapArrayAttr
    : TypedArrayAttrBase<FuseOps_TensorMapAttr, "an array of tensor maps">;

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPSATTRIBUTES_TD
