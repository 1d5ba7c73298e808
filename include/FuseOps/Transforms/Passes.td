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
// Phase quantize
//===----------------------------------------------------------------------===//

def QuantizePass : Pass<"fuseops-quantize", "::mlir::fuseops::FusibleOp"> {
  let summary = "Quantize the operands of contractions by a recipe";
  let description = [{
    Puts a `fuseops.quantize` in front of each operand of `linear` and `matmul`,
    forward and backward, by the recipe of the contraction (its `fuseops.recipe`),
    of the fusible, or of the option, in this order. Which copy is asked for
    follows from the side that the product reads (`fuseops.matmul`). Gradients
    are E5M2 in format `hybrid`. A weight is an argument that forward has on the
    right of a product; it's marked `fuseops.weight`. Operands of higher rank are
    the matrix of their rows. Forward products accumulate fast where the recipe
    is `delayed`, `current` or `rowwise`.

    `current`: a scale is `compute_scale` of the tensor's `amax`, once a tensor.
    `delayed`: scales come from state arguments, `scale` `[N]` and `history`
    `[H, N]` of N tensors, which results replace (`fuseops.state` is the result's
    number); those of tensors that backward computes are replaced by what backward
    returns as their gradients (a unit `fuseops.state`).

    A contraction stays in high precision if one of these holds, in this order;
    the number is in the remark:

    1. its recipe is `none`
    2. it is a product of groups
    3. an operand is quantized already
    4. its operands are not f16, bf16 or f32
    5. an operand or the result has fewer than 16 columns
    6. the number of rows of an operand is a multiple of `?`
    7. the recipe computes weight gradients in high precision
    8. an operand has no state: backward computes it, and it is no gradient

    Precondition: backward is derived. Guarantee: each operand has a quantize of
    its own, which `fuseops-propagate-quantization` merges.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x256xbf16>, %w: tensor<512x256xbf16> {fuseops.weight}) -> tensor<?x512xbf16>
    forward {
      %a = fuseops.quantize %x {power_of_two} : (tensor<?x256xbf16>) -> !fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row>
      %b = fuseops.quantize %w {power_of_two} : (tensor<512x256xbf16>) -> !fuseops.quantized<512x256xf8E4M3FN, scale = block<128x128>, copies = row>
      %y = fuseops.linear %a, %b : (!fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<512x256xf8E4M3FN, scale = block<128x128>, copies = row>) -> tensor<?x512xbf16>
      fuseops.return %y : tensor<?x512xbf16>
    }
    ```
  }];
  let options = [
    Option<"recipe", "recipe", "std::string", /*default=*/"\"none\"",
           "The recipe of fusibles that carry none, as #fuseops.recipe<> has it">];
}

def PropagateQuantizationPass : Pass<"fuseops-propagate-quantization", "::mlir::fuseops::FusibleOp"> {
  let summary = "Quantize each value once, where it is computed";
  let description = [{
    What backward quantizes of forward's values moves to forward, which saves the
    FP8 copy. A quantize moves through a transposition, which the product reads
    instead, and, part by part, through `concat` and `slice` where no scale covers
    both sides of a boundary. It does not move through a `concat` that a kernel has
    to read anyway: one whose quantizes cannot all move, or that something else
    reads. An `amax` or a sum of rows of a `concat` reduces its parts. All that ask for one matrix by the same rules become
    one quantize with the copies of all. `quantize(dequantize(q))` with one scale
    vanishes where the dequantized value has the precision of f32.

    Pointwise operations, norms and the like need no motion: the planner makes the
    quantize part of their kernel. A remark says with which operation a quantize
    goes, or why with none:

    1. no kernel of this region computes an argument
    2. a library computes the product
    3. the value comes from other processes
    4. the scale is computed from the whole value first
    5. quantizing what was dequantized is not exact by the rules
    6. what reads it does not read it transposed, and FP8 data with scales of rows
       is not transposed
    7. the reshape changes the columns, and so what a scale covers
    8. what one scale covers crosses a boundary
    9. the elements come from other places

    Precondition: `fuseops-quantize`. Guarantee: no two quantizes of a region have
    the same input and rules.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x256xbf16>) -> (!fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row_col>, tensor<?x256xbf16>)
    forward {
      %y = fuseops.silu %x : tensor<?x256xbf16>
      %q = fuseops.quantize %y : (tensor<?x256xbf16>) -> !fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row_col>
      fuseops.return %q, %y : !fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row_col>, tensor<?x256xbf16>
    }
    ```
  }];
}

def PrepareWeightsPass : Pass<"fuseops-prepare-weights", "::mlir::ModuleOp"> {
  let summary = "Quantize weights in a program of their own";
  let description = [{
    What forward computes of weights and of their scales' state alone, up to
    their quantizes, moves to a fusible `@name_prepare`, which `fuseops.prepare`
    of the fusible names. It is called once for each change of the weights;
    forward takes its quantized results as arguments behind all others
    (`fuseops.prepared` is the number of the result). The weights stay arguments
    of forward, whose gradients they have. `fuseops.prepare` of an argument of
    `@name_prepare` is the number of the weight that it is, among forward's
    arguments with `fuseops.weight`.

    Precondition: `fuseops-propagate-quantization`, so that each weight is
    quantized once. Guarantee: no quantize of a weight is left in forward.

    ```mlir
    fuseops.fusible @f(%x: !fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row>, %w: tensor<512x256xbf16> {fuseops.weight}, %q: !fuseops.quantized<512x256xf8E4M3FN, scale = block<128x128>, copies = row> {fuseops.frozen, fuseops.prepared = 0 : i64}) -> tensor<?x512xbf16> attributes {fuseops.prepare = @f_prepare}
    forward {
      %y = fuseops.linear %x, %q : (!fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row>, !fuseops.quantized<512x256xf8E4M3FN, scale = block<128x128>, copies = row>) -> tensor<?x512xbf16>
      fuseops.return %y : tensor<?x512xbf16>
    }
    fuseops.fusible @f_prepare(%w: tensor<512x256xbf16> {fuseops.frozen, fuseops.prepare = 0 : i64}) -> !fuseops.quantized<512x256xf8E4M3FN, scale = block<128x128>, copies = row> attributes {frozen_results = array<i64: 0>}
    forward {
      %q = fuseops.quantize %w {power_of_two} : (tensor<512x256xbf16>) -> !fuseops.quantized<512x256xf8E4M3FN, scale = block<128x128>, copies = row>
      fuseops.return %q : !fuseops.quantized<512x256xf8E4M3FN, scale = block<128x128>, copies = row>
    }
    ```
  }];
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
    computed again: that reads nothing more and saves a write. So is what forward
    would write only to save it, where elementwise operations give it from values
    that lie in memory anyway: of a product and a bias their sum. A saved argument
    costs nothing: the artifact records it as an alias. What is sliced or repeated
    is saved in place of its slices and repetitions, which would be copies. Of a
    quantized value the copy that backward reads is saved: forward writes it
    anyway, and it has half the bytes of what it is of.

    With a budget, values are computed again in backward, those first that free
    most, until no more bytes are saved; a product is computed once. A remark
    says of each value what was chosen, and its bytes.

    Precondition: both regions are there. Guarantee: saved values are distinct
    and used. The choice is in the IR and depends on nothing else.
  }];
  let options = [
    Option<"budget", "budget", "int64_t", /*default=*/"-1",
           "The most bytes to save; -1 for any number">,
    Option<"symbol", "symbol", "int64_t", /*default=*/"1",
           "The value of `?` that the budget is for">];
}

//===----------------------------------------------------------------------===//
// Phase fusion
//===----------------------------------------------------------------------===//

def ReferencePass : Pass<"fuseops-reference", "::mlir::fuseops::FusibleOp"> {
  let summary = "Turn a program into its f64 oracle";
  let description = [{
    Every f16, bf16 and f32 tensor becomes f64, and so does the arithmetic of
    pointwise bodies. A rounding that the program asks for stays one:
    `fuseops.cast` and FP8 data keep their type's values exactly. A plan's groups
    go away: it is an oracle of edited plans too. Together with
    `fuseops-forward-fusion{fuse=false}` this is `--target=reference`.

    Guarantee: no floating-point tensor but f64 and the parts of quantized ones.
  }];
}

def PerturbPass : Pass<"fuseops-perturb", "::mlir::fuseops::FusibleOp"> {
  let summary = "Add the noise of one rounding to every value";
  let description = [{
    *standalone*: writes operations in core operations and multiplies by
    `1 + u * n` what each rounds: the scalars of a body, the terms of a sum, both
    factors of a product's terms, and the results of these. u is the unit roundoff of the type (8 of
    them for an elementary function, 16 for a special one, the square root of
    their number for the terms of a sum, since what is rounded is the sum so
    far; for f16 also half of its least number); n, between -1 and 1, depends on
    the element's value and the seed. The f64 oracle of the result
    (`--target=reference`) differs from that of the program by as much as its
    roundings may cost: how well the program is conditioned. A `magnitude` above 1
    also takes a value over a kink or a tie that it lies that many roundings away
    from. With `overflows` what each rounds is infinite where its type cannot hold
    it, as in the program and not in its oracle.

    Precondition: the program is in the FuseOps dialect, differentiated if its
    gradients are to have noise of their own. Guarantee: the same types.
  }];
  let options = [
    Option<"seed", "seed", "uint64_t", /*default=*/"0", "Chooses the noise">,
    Option<"magnitude", "magnitude", "double", /*default=*/"1.0",
           "How many times as large as a rounding the noise is">,
    Option<"overflows", "overflows", "bool", /*default=*/"false",
           "Makes infinite what its type cannot hold">];
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

def ExpandContractionsPass : Pass<"fuseops-expand-contractions", "::mlir::fuseops::FusibleOp"> {
  let summary = "Choose how the target multiplies quantized operands";
  let description = [{
    A `linear` or `matmul` of quantized operands becomes `fuseops.scaled_matmul`
    where the chip and the library multiply FP8, else a product of dequantized
    operands. FP8 if all of these hold, in this order; the number of the first
    that doesn't is in the remark:

    1. both operands are quantized
    2. the target has FP8 products: CUDA from sm_89 on
    3. one operand is f8E4M3FN
    4. the result is f16, bf16 or f32
    5. the library has a product of the two scales: one scale a tensor each; on
       sm_90 also one a row each, and 1x128 with 1x128 or 128x128

    Dequantized operands are f64 where the result is, bf16 where that is exact
    (scales that are powers of two), else f32.

    Precondition: fusion has not run. Guarantee: no contraction has a quantized
    operand.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xf8E4M3FN>, %xs: tensor<f32>, %w: tensor<128x64xf8E4M3FN>, %ws: tensor<f32>) -> tensor<?x128xbf16>
    forward {
      %y = fuseops.scaled_matmul %x[%xs] per_tensor, %w[%ws] per_tensor : (tensor<?x64xf8E4M3FN>, tensor<f32>, tensor<128x64xf8E4M3FN>, tensor<f32>) -> tensor<?x128xbf16>
      fuseops.return %y : tensor<?x128xbf16>
    }
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"",
           "The CUDA chip, such as sm_90a; empty for a target without FP8 "
           "products">];
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
    of its own, a library call; with `generate=all` one that template `gemm` can
    make may be fused with others. So may, with `generate=grouped` too, a product
    of groups of rows, which is a kernel of that template also by itself. Two operations, of which one reads the other or
    both read one tensor, may be fused unless one of these holds, in this order;
    the number is in the remark:

    1. one of them is not an operation of a memory kernel, nor the contraction of
       a `gemm` kernel
    2. their iteration spaces differ (a single column fits any number of them)
    3. another group lies between them
    4. one reads the reduction over rows that the other computes
    5. one moves elements of what the other computes
    6. a tile kernel reads statistics of rows that it would have to compute
    7. one tile kernel of both has no room in shared memory
    8. one kernel of both takes longer than two
    9. the kernel of a product does not do what the other does: it computes
       elements of its result, and sums over rows, and its operands lie in memory
    10. the kernel of a product takes no rows of any length: an operand has rows of
       `?` elements, which may be no multiple of 16 bytes

    Of all partitions that are allowed the cheapest is taken: each kernel costs
    the bytes that it reads and writes, each tensor once, at the rate that its
    template reaches, and its launches. Elementwise values of 32 bits and more
    are computed again where that costs less than to write and read them.

    Precondition: no `!fuseops.quantized`. Guarantee: the region holds groups,
    `fuseops.reshape` and the terminator. Nothing is computed in another
    precision, and no rounding that the program asks for is dropped.
  }];
  let options = [
    Option<"fuse", "fuse", "bool", /*default=*/"true",
           "Fuse; false gives each operation a group of its own">,
    Option<"generate", "generate", "::mlir::fuseops::GeneratedProducts",
           /*default=*/"::mlir::fuseops::GeneratedProducts::None",
           "Contractions that are kernels of template `gemm`, for sm_90a", [{
             ::llvm::cl::values(
               clEnumValN(::mlir::fuseops::GeneratedProducts::None, "none", "None"),
               clEnumValN(::mlir::fuseops::GeneratedProducts::Grouped, "grouped",
                          "Grouped products"),
               clEnumValN(::mlir::fuseops::GeneratedProducts::All, "all",
                          "All that are fused, and grouped products"))
           }]>];
}

def ForwardFusionPass : FusionPass<"forward"> {
  let summary = "Group the operations of forward regions into kernels";
}

def BackwardFusionPass : FusionPass<"backward"> {
  let summary = "Group the operations of backward regions into kernels";
}

#endif // FUSEOPS_TRANSFORMS_PASSES_TD
