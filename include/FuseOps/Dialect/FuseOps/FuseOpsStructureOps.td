//===- FuseOpsStructureOps.td - Operations that hold programs, groups and scalar bodies
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_FUSEOPSSTRUCTUREOPS_TD
#define FUSEOPS_DIALECT_FUSEOPS_FUSEOPSSTRUCTUREOPS_TD

include "FuseOps/Dialect/FuseOps/FuseOpsAttributes.td"
include "FuseOps/Dialect/FuseOps/FuseOpsConstraints.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

def FuseOps_FusibleOp : FuseOps_Op<"fusible", [IsolatedFromAbove, Symbol]> {
  let summary = "A pipeline with its forward and its backward region";
  let description = [{
    Defines a symbol. The forward region's block has the arguments of the
    signature and ends in `fuseops.return`, which yields the results and says
    what is saved for backward. The backward region, if there is one, gets the
    gradient of each floating-point result, then what forward saved; it returns
    one gradient per argument, or `none`.

    Argument attributes: `fuseops.frozen` says that nobody asks for that
    argument's gradient; `fuseops.random_state` marks the seed and offset of
    random operations; `fuseops.state` marks state that a result replaces.

    `frozen_results` lists the results whose gradient nobody provides: backward
    does not take it. `missing_gradients` lists results whose gradient is missing
    in one call of backward only: forward saves what it saves for all of them,
    so that this program's backward runs on what another's forward saved.
    `fuseops-differentiate` freezes these results too.

    `symbol_min` and `symbol_max` bound the symbolic row count `?`.

    FP8: arguments, results and saved values may be `!fuseops.quantized`; such an
    argument or result has no gradient.

    ```mlir
    fuseops.fusible @bias_gelu(%x: tensor<?x4096xbf16>, %b: tensor<4096xbf16>) -> tensor<?x4096xbf16>
    forward {
      %z = fuseops.bias %x, %b : tensor<?x4096xbf16>, tensor<4096xbf16>
      %y = fuseops.gelu %z approximate(tanh) : tensor<?x4096xbf16>
      fuseops.return %y save(%z) : tensor<?x4096xbf16>, tensor<?x4096xbf16>
    }
    backward (%dy: tensor<?x4096xbf16>, saved %z: tensor<?x4096xbf16>) {
      %dz = fuseops.gelu_grad %dy, %z approximate(tanh) : tensor<?x4096xbf16>
      %db = fuseops.reduce_rows sum %dz : tensor<?x4096xbf16> -> tensor<4096xbf16>
      fuseops.return %dz, %db : tensor<?x4096xbf16>, tensor<4096xbf16>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
    TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<StrAttr>:$sym_visibility,
    DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$frozen_results,
    DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$missing_gradients,
    OptionalAttr<I64Attr>:$symbol_min, OptionalAttr<I64Attr>:$symbol_max);
  let regions = (region SizedRegion<1>:$forward, AnyRegion:$backward);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::mlir::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    bool hasBackward() { return !getBackward().empty(); }
    /// Whether backward takes a gradient of result `index`: it is floating-point,
    /// and not among `frozen_results`.
    bool resultHasGradient(unsigned index);
    /// The types of the result gradients that backward starts with.
    ::llvm::SmallVector<::mlir::Type> getGradientTypes();
    /// Whether argument `index` may have a gradient: it is floating-point, and
    /// not marked `fuseops.frozen`.
    bool wantsGradient(unsigned index);
    ReturnOp getForwardReturn();
    ReturnOp getBackwardReturn();
  }];
}

def FuseOps_ReturnOp : FuseOps_Op<"return", [Pure, Terminator,
    AttrSizedOperandSegments, HasParent<"FusibleOp">]> {
  let summary = "Ends a region of a fusible";
  let description = [{
    In the forward region: the results, then under `save` what backward gets.
    In the backward region: one gradient per argument of the fusible, `none`
    where there is none. A saved value may be an argument, and a gradient may be
    an incoming one: neither is copied.

    ```mlir
    fuseops.fusible @scaled(%x: tensor<4x8xf32>, %index: tensor<4xi64>) -> tensor<4x8xf32>
    forward {
      %y = fuseops.scale %x by(2.0) : tensor<4x8xf32>
      fuseops.return %y : tensor<4x8xf32>
    }
    backward (%dy: tensor<4x8xf32>) {
      %dx = fuseops.scale %dy by(2.0) : tensor<4x8xf32>
      fuseops.return %dx, none : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<FuseOps_TensorOrQuantized>:$values,
    Variadic<FuseOps_TensorOrQuantized>:$saved,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$absent);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The values in order with a null value for each `none`.
    ::llvm::SmallVector<::mlir::Value> getValuesOrNull();
    /// Sets the values; a null value stands for `none`.
    static void buildWithNull(::mlir::OpBuilder &builder, ::mlir::Location loc,
                              ::mlir::ArrayRef<::mlir::Value> values);
  }];
}

def FuseOps_ApplyOp : FuseOps_Op<"apply", [Pure,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Uses one fusible inside another's forward region";
  let description = [{
    The results are those of the callee's forward region; its gradient is the
    callee's backward region, derived first where it is missing. A fusible may
    not apply itself, directly or through others. A callee that is no program of
    its own is marked `sym_visibility = "private"`.

    ```mlir
    fuseops.fusible @twice(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {sym_visibility = "private"}
    forward {
      %y = fuseops.scale %x by(2.0) : tensor<4x8xf32>
      fuseops.return %y : tensor<4x8xf32>
    }
    fuseops.fusible @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
    forward {
      %y = fuseops.apply @twice(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      fuseops.return %y : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<FuseOps_TensorOrQuantized>:$inputs);
  let results = (outs Variadic<FuseOps_TensorOrQuantized>:$outputs);
  let assemblyFormat = "$callee `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
}

def FuseOps_GroupOp : FuseOps_Op<"group", [Pure, IsolatedFromAbove,
    HasParent<"FusibleOp">, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Operations that become one kernel, or one library call";
  let description = [{
    What the fusion passes write and lowering reads. The region sees only the
    group's inputs. `kernel_template` names the kernel template, `schedule` its
    parameters; both may be edited by hand, and lowering refuses what the
    template cannot do. Schedule of the memory templates, all optional:
    `vector` (elements a thread handles at once), `threads` (threads along a
    row; as many as one of its blocks of columns needs), `rows` (rows a thread
    block handles at once), `workers` (the most thread blocks or CPU tasks). For CUDA kernels of rows also: `prefetch` (1
    reads what a visit to a row's columns needs before computing any of it, and
    what is the same for every row before the first), `stages` (rows that a block
    fetches ahead into shared memory, where its threads hold a row), `unroll`
    (visits in one iteration, where they do not), `kept` (there also: the first
    columns, whose inputs stay in shared memory while the row is visited again),
    `tiles` (blocks that share a row, where rows alone are reduced), `streams` (1
    stores vectors so that the cache gives them up first). For CUDA kernels of tiles: `stages` (tiles that a
    block fetches ahead into shared memory), `tile_partials` (1 leaves sums over
    rows as partial results of tiles, not of blocks, so that any block may visit
    any tile), `tickets` (1 draws tiles from a counter, so that faster blocks visit
    more of them). For both: `residents` (blocks that one processor shall hold,
    which bounds the registers).

    Template `gemm` is one contraction of f16, bf16 or FP8, with pointwise
    operations and reductions over rows of its result, for sm_90a. Its schedule, all
    optional: `tile_rows` and `tile_columns` (of the result), `stages` (128 bytes of
    each row of both operands that are fetched ahead), `warpgroups` (that multiply, 2
    or 3), `ping_pong` (1 gives each of two warpgroups every second tile, so that one
    multiplies while the other stores; 0 cuts a tile's rows among them), `raster`
    (tiles along a column that are visited together), `store_buffers` (of a warp),
    `workers`.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xf32>, %b: tensor<64xf32>) -> tensor<?x64xf32>
    forward {
      %y = fuseops.group @forward_0 pointwise (%a = %x, %c = %b) : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32> {
        %z = fuseops.bias %a, %c : tensor<?x64xf32>, tensor<64xf32>
        %r = fuseops.relu %z : tensor<?x64xf32>
        fuseops.yield %r : tensor<?x64xf32>
      }
      fuseops.return %y : tensor<?x64xf32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, FuseOps_TemplateAttr:$kernel_template,
    OptionalAttr<DictionaryAttr>:$schedule, Variadic<FuseOps_TensorOrQuantized>:$inputs);
  let results = (outs Variadic<FuseOps_TensorOrQuantized>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def FuseOps_PointwiseOp : FuseOps_MemoryOp<"pointwise", [FuseOps_Differentiable,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Any scalar function, element by element";
  let description = [{
    The body sees one scalar per operand and yields one per result. Operands
    broadcast to the result shape by NumPy's rules; all results have one shape.
    A scalar has the operand's element type, but f32 where that is a narrower
    float: the body computes in f32 and the result is rounded once. An i1 is a
    bool; a ui8 comes as the i8 of its bits, for the body to extend by
    `arith.extui`.

    The body holds `arith` and `math` operations on scalars (no vectors, no
    memory, no control flow) and may use `fuseops.linear_index`. Its gradient is
    derived symbolically, so an activation written here trains.

    Gradient: derived from the body, one derivative of each scalar operation by the
    chain rule; summed over what was broadcast. Saved: the operands that the
    derivatives read.

    FP8: an FP8 operand is seen as f32; a quantize of a result takes it before
    rounding.

    ```mlir
    fuseops.fusible @squared_relu(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.pointwise (%a = %x) : (tensor<?x64xbf16>) -> tensor<?x64xbf16> {
        %zero = arith.constant 0.0 : f32
        %r = arith.maximumf %a, %zero : f32
        %s = arith.mulf %r, %r : f32
        fuseops.yield %s : f32
      }
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins Variadic<FuseOps_Tensor>:$inputs);
  let results = (outs Variadic<FuseOps_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Builds a pointwise operation whose body `body` fills: it gets the scalars
    /// of the operands and returns one scalar per result.
    static PointwiseOp build(::mlir::OpBuilder &builder, ::mlir::Location loc,
        ::mlir::TypeRange resultTypes, ::mlir::ValueRange operands,
        ::llvm::function_ref<::llvm::SmallVector<::mlir::Value>(
            ::mlir::OpBuilder &, ::mlir::Location, ::mlir::ValueRange)> body);
  }];
}

def FuseOps_YieldOp : FuseOps_Op<"yield", [Pure, Terminator,
    ParentOneOf<["GroupOp", "PointwiseOp"]>]> {
  let summary = "Ends the body of a group or of a pointwise operation";
  let description = [{
    Yields one tensor per result of a group, one scalar per result of a
    pointwise operation.

    ```mlir
    fuseops.fusible @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
    forward {
      %y = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
        %n = arith.negf %a : f32
        fuseops.yield %n : f32
      }
      fuseops.return %y : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ (void)$_builder; (void)$_state; }]>];
}

def FuseOps_LinearIndexOp : FuseOps_Op<"linear_index", [Pure, HasParent<"PointwiseOp">]> {
  let summary = "Position of the element in the iteration space, row by row";
  let description = [{
    `row * columns + column` of the element that a pointwise body computes. It
    is the counter that random operations hash: the same in forward, in backward
    and on every target.

    ```mlir
    fuseops.fusible @ramp(%x: tensor<4x8xi64>) -> tensor<4x8xi64>
    forward {
      %y = fuseops.pointwise (%a = %x) : (tensor<4x8xi64>) -> tensor<4x8xi64> {
        %i = fuseops.linear_index : i64
        %s = arith.addi %a, %i : i64
        fuseops.yield %s : i64
      }
      fuseops.return %y : tensor<4x8xi64>
    }
    ```
  }];
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def FuseOps_ColumnIndexOp : FuseOps_Op<"column_index", [Pure, HasParent<"PointwiseOp">]> {
  let summary = "Position of the element in its row";
  let description = [{
    The column of the element that a pointwise body computes, as
    `fuseops.linear_index` without the rows.

    ```mlir
    fuseops.fusible @one_hot(%t: tensor<?x1xi64>) -> tensor<?x8xi1>
    forward {
      %y = fuseops.pointwise (%a = %t) : (tensor<?x1xi64>) -> tensor<?x8xi1> {
        %j = fuseops.column_index : i64
        %is = arith.cmpi eq, %a, %j : i64
        fuseops.yield %is : i1
      }
      fuseops.return %y : tensor<?x8xi1>
    }
    ```
  }];
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def FuseOps_ConstantOp : FuseOps_Op<"constant", [Pure,
    AllTypesMatch<["value", "result"]>]> {
  let summary = "A tensor that is part of the program";
  let description = [{
    The elements of `value`, row by row. The program file holds them; a kernel or
    a matrix product reads them where they lie. A number that all elements share
    is better a `fuseops.pointwise` without operands, which is fused.

    No gradient. Backward reads it where it lies: it is not saved.

    FP8: the elements may be FP8 and stay as they are.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32>
    forward {
      %c = fuseops.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>
      %y = fuseops.mul %x, %c : tensor<?x4xf32>, tensor<4xf32> -> tensor<?x4xf32>
      fuseops.return %y : tensor<?x4xf32>
    }
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs FuseOps_Tensor:$result);
  let assemblyFormat = "$value attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The bytes of the elements as tensors in memory have them: an i1 is one.
    ::std::vector<uint8_t> getBytes();
  }];
}

def FuseOps_LaunchOp : FuseOps_Op<"launch", [Pure]> {
  let summary = "One step of the launch plan: a generated kernel";
  let description = [{
    What lowering leaves of a memory group. The kernel gets the inputs, then the
    results, as pointers, then on CUDA the tensor maps of `maps`, 128 bytes each,
    then the number of rows and `count`.

    `rows`, `count_rows` and the bytes are sizes `[constant, per_symbol, per_block32,
    per_block128]`, of which the last ones may be left out where they are 0:
    `constant + per_symbol * S + per_block32 * ceil(S / 32) + per_block128 * ceil(S
    / 128)`. The work is cut into `min(max_workers, ceil(rows / rows_per_worker))` workers: thread
    blocks of `threads_x` by `threads_y` threads on CUDA, tasks on the CPU. A
    finalize kernel reads `count` partial results: the workers of the grid that
    `count_…` describes. Where several launches run as parts of one, `count` is S.

    `bytes` is what the kernel reads and writes in memory, `unfused_bytes` what
    its members would, one kernel each; `flops` the multiplications and additions
    of a contraction.

    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xf32>) -> tensor<?x64xf32>
    forward {
      %y = fuseops.launch @kernels::@forward_0(%x) {bytes = array<i64: 0, 512>, kernel_template = #fuseops<kernel_template pointwise>, max_workers = 64 : i64, members = ["fuseops.relu"], rows = array<i64: 0, 1>, rows_per_worker = 8 : i64, unfused_bytes = array<i64: 0, 512>} : (tensor<?x64xf32>) -> tensor<?x64xf32>
      fuseops.return %y : tensor<?x64xf32>
    }
    ```
  }];
  let arguments = (ins SymbolRefAttr:$kernel, FuseOps_TemplateAttr:$kernel_template,
    Variadic<FuseOps_Tensor>:$inputs, StrArrayAttr:$members,
    DenseI64ArrayAttr:$rows, I64Attr:$rows_per_worker, I64Attr:$max_workers,
    DefaultValuedAttr<I64Attr, "1">:$threads_x, DefaultValuedAttr<I64Attr, "1">:$threads_y,
    DefaultValuedAttr<I64Attr, "0">:$shared_bytes,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$count_rows,
    DefaultValuedAttr<I64Attr, "1">:$count_rows_per_worker,
    DefaultValuedAttr<I64Attr, "0">:$count_max_workers,
    DenseI64ArrayAttr:$bytes, DenseI64ArrayAttr:$unfused_bytes,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$flops,
    DefaultValuedAttr<FuseOps_TensorMapArrayAttr, "{}">:$maps);
  let results = (outs Variadic<FuseOps_Tensor>:$outputs);
  let hasVerifier = 1;
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
}

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPSSTRUCTUREOPS_TD
