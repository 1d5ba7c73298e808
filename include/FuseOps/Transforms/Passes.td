//===- Passes.td - Passes of the FuseOps dialect, in pipeline order ------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_TRANSFORMS_PASSES_TD
#define FUSEOPS_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Phase differentiate
//===----------------------------------------------------------------------===//

def DifferentiatePass : Pass<"fuseops-differentiate", "::mlir::ModuleOp"> {
  let summary = "Derive the backward region of each fusible that has none";
  let description = [{
    Walks the forward region backwards and asks each operation for its gradient
    rule (`DifferentiableOpInterface`); a `fuseops.pointwise` body is
    differentiated symbolically, a `fuseops.apply` is inlined and contributes its
    callee's backward region, which is derived first.

    Only what is asked for is built: an argument that is not floating-point or is
    marked `fuseops.frozen` gets `none`, and so do arguments that no result
    depends on. What the backward region uses of forward becomes its saved
    values.

    Precondition: the program is in the FuseOps dialect. Guarantee: every fusible
    has a backward region, and no `fuseops.apply` is left; private fusibles,
    which only others applied, are gone.

    ```mlir
    fuseops.fusible @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
    forward {
      %y = fuseops.silu %x : tensor<4x8xf32>
      fuseops.return %y save(%x) : tensor<4x8xf32>, tensor<4x8xf32>
    }
    backward (%dy: tensor<4x8xf32>, saved %x: tensor<4x8xf32>) {
      %dx = fuseops.silu_grad %dy, %x : tensor<4x8xf32>
      fuseops.return %dx : tensor<4x8xf32>
    }
    ```
  }];
  let options = [
    Option<"derive", "derive", "bool", /*default=*/"true",
           "Derive backward regions; false only inlines fuseops.apply, for "
           "programs that are never trained">];
}

//===----------------------------------------------------------------------===//
// Phase saved
//===----------------------------------------------------------------------===//

def PlanSavedPass : Pass<"fuseops-plan-saved", "::mlir::fuseops::FusibleOp"> {
  let summary = "Decide what forward saves for backward";
  let description = [{
    Saves what backward uses, each value once: a saved value that backward does
    not use is dropped, two saved values that are the same become one. A value
    that one pointwise operation gives from values that are saved anyway is
    computed again: that reads nothing more and saves a write. A saved argument
    costs nothing: the artifact records it as an alias. What is sliced or repeated
    is saved in place of its slices and repetitions, which would be copies.

    Precondition: both regions are there. Guarantee: saved values are distinct
    and used. The choice is in the IR and depends on nothing else.
  }];
}

//===----------------------------------------------------------------------===//
// Phase fusion
//===----------------------------------------------------------------------===//

def ReferencePass : Pass<"fuseops-reference", "::mlir::fuseops::FusibleOp"> {
  let summary = "Turn a program into its f64 oracle";
  let description = [{
    Every f16, bf16 and f32 tensor becomes f64, and so does the arithmetic of
    pointwise bodies. A rounding that the program asks for stays one:
    `fuseops.cast` and FP8 data keep their type's values exactly. Together with
    `fuseops-forward-fusion{fuse=false}` this is `--target=reference`.

    Guarantee: no floating-point tensor but f64 and the parts of quantized ones.
  }];
}

def PerturbPass : Pass<"fuseops-perturb", "::mlir::fuseops::FusibleOp"> {
  let summary = "Add the noise of one rounding to every value";
  let description = [{
    *standalone*: writes operations in core operations and multiplies by
    `1 + u * n` what each rounds: the scalars of a body, the terms of a sum or a
    product, and the results of both. u is the unit roundoff of the type (8 of
    them for an elementary function, 16 for a special one, the square root of
    their number for the terms of a sum, since what is rounded is the sum so
    far; for f16 also half of its least number); n, between -1 and 1, depends on
    the element's value and the seed. The f64 oracle of the result
    (`--target=reference`) differs from that of the program by as much as its
    roundings may cost: how well the program is conditioned.

    Precondition: the program is in the FuseOps dialect, differentiated if its
    gradients are to have noise of their own. Guarantee: the same types.
  }];
  let options = [
    Option<"seed", "seed", "uint64_t", /*default=*/"0", "Chooses the noise">];
}

def ExpandGroupedPass : Pass<"fuseops-expand-grouped", "::mlir::fuseops::FusibleOp"> {
  let summary = "Write grouped linear layers as grouped products and sums";
  let description = [{
    Pattern: `grouped_linear(x, w, bias) -> grouped_matmul(x, w) +
    grouped_matmul(ones, bias)`. The sum fuses with what follows, and there is
    one kernel for all grouped products.

    Precondition: fusion has not run. Guarantee: no `fuseops.grouped_linear` is
    left.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>, %w: tensor<8x128x64xbf16>, %n: tensor<8xi64>) -> tensor<?x128xbf16>
    forward {
      %y = fuseops.grouped_matmul %x, %w sizes(%n) transpose_rhs : tensor<?x64xbf16>, tensor<8x128x64xbf16>, tensor<8xi64> -> tensor<?x128xbf16>
      fuseops.return %y : tensor<?x128xbf16>
    }
    ```
  }];
}

def ExpandQuantizedPass : Pass<"fuseops-expand-quantized", "::mlir::fuseops::FusibleOp"> {
  let summary = "Replace quantized tensors by their plain buffers";
  let description = [{
    Arguments, results and saved values of type `!fuseops.quantized` become their
    parts (data and scale_inv of each copy), and `quantize` and `dequantize`
    become core operations. What no kernel template can write yet (scales of
    blocks, transposed copies) is an error.

    Precondition: fusion has not run. Guarantee: no `!fuseops.quantized` is left.
  }];
}

class FusionPass<string direction> : Pass<"fuseops-" # direction # "-fusion", "::mlir::fuseops::FusibleOp"> {
  let description = [{
    Computes a `FusionPlan` for the region and wraps the operations of each group
    into a `fuseops.group` with its kernel template. A contraction becomes a group
    of its own, a library call. Two operations are fused unless one of these
    holds, in this order; the number is in the remark:

    1. one of them is not an operation of a memory kernel
    2. their iteration spaces differ (a single column fits any number of them)
    3. another group lies between them
    4. one reads the reduction over rows that the other computes
    5. one moves elements of what the other computes

    Precondition: no `!fuseops.quantized`. Guarantee: the region holds groups,
    `fuseops.reshape` and the terminator. Nothing is computed in another
    precision, and no rounding that the program asks for is dropped.
  }];
  let options = [
    Option<"fuse", "fuse", "bool", /*default=*/"true",
           "Fuse; false gives each operation a group of its own">];
}

def ForwardFusionPass : FusionPass<"forward"> {
  let summary = "Group the operations of forward regions into kernels";
}

def BackwardFusionPass : FusionPass<"backward"> {
  let summary = "Group the operations of backward regions into kernels";
}

#endif // FUSEOPS_TRANSFORMS_PASSES_TD
