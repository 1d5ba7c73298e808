//===- Passes.td - Passes that leave the FuseOps dialect -------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_CONVERSION_PASSES_TD
#define FUSEOPS_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertFuseOpsToKernelsPass
    : Pass<"convert-fuseops-to-kernels", "::mlir::ModuleOp"> {
  let summary = "Turn groups into kernels and a launch plan";
  let description = [{
    Each memory group becomes a kernel in the module `@kernels` and a
    `fuseops.launch` in its place, with a finalize launch where it reduces over
    rows; a group of template `library` becomes the bare contraction. One emitter
    serves all memory templates and both targets: it walks rows, visits each in
    as many passes as its reductions depend on one another, and writes scalar
    bodies on vectors. CUDA kernels differ in how rows and columns are dealt to
    threads, and in how the threads of a row are combined.

    Precondition: `fuseops-forward-fusion` and `fuseops-backward-fusion` ran.
    Guarantee: regions hold `fuseops.launch`, contractions, `fuseops.reshape` and
    the terminator. A group that its template cannot compute, for instance after
    the plan was edited, is an error at that group.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "What the kernels run on: `cpu` or `cuda`">,
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90a\"",
           "The CUDA chip, which decides what a schedule may ask for">,
    Option<"roundIntermediates", "round-intermediates", "bool",
           /*default=*/"false",
           "Round every value inside a kernel to its element type, as eager "
           "execution does; false keeps f16 and bf16 values in f32">
  ];
}

def MergeLaunchesPass : Pass<"fuseops-merge-launches", "::mlir::ModuleOp"> {
  let summary = "Run small launches as parts of one";
  let description = [{
    A launch is small if one worker does all of it: a kernel of rows, or a
    finalize kernel, whose tensors have at most 8192 elements each, whatever the
    symbol is, but for partial results. Each small launch waits until an
    operation that is none reads it, or the region ends; there it runs as a part
    of one launch, with all small launches that can run by then. A finalize
    launch of several workers, for many columns, takes them in where it stands.

    Launches that read one another are copied one after the other into one part,
    which one worker runs, with barriers between them on CUDA; parts run side by
    side, each in workers of its own. The merged launch has the name and template
    of a finalize launch if there is one among them. Its kernel gets the symbol
    as `count`, from which it finds how many partial results each part reads.

    Precondition: `convert-fuseops-to-kernels` ran. Guarantee: what is computed
    stays the same to the last bit. What is left are launches that others than
    small ones read at different times.

    Before (attributes left out):
    ```
    %0:2 = fuseops.launch @kernels::@forward_0(%x, %scale) : ... -> (tensor<?x64xf8E4M3FN>, tensor<528x1xf32>)
    %1 = fuseops.launch @kernels::@forward_0_finalize(%0#1) : ... -> tensor<f32>
    %2 = fuseops.launch @kernels::@forward_1(%scale) : ... -> tensor<f32>
    ```
    After:
    ```
    %0:2 = fuseops.launch @kernels::@forward_0(%x, %scale) : ... -> (tensor<?x64xf8E4M3FN>, tensor<528x1xf32>)
    %1:2 = fuseops.launch @kernels::@forward_0_finalize(%0#1, %scale) : ... -> (tensor<f32>, tensor<f32>)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect"];
}

def ExpandMathPass : Pass<"fuseops-expand-math"> {
  let summary = "Expand scalar functions into arithmetic";
  let description = [{
    *standalone*: `convert-kernel-to-llvm` applies these patterns itself.

    Replaces `math.{exp, exp2, expm1, log, log2, log10, log1p, tanh, erf, erfc,
    sin, cos}` on f32, scalar or vector, by `arith` and `math.fma` operations
    that vectorise and need neither libm nor libdevice. On f16 and bf16 the same
    functions are computed in f32. With `target=nvvm` the exponentials use
    `ex2.approx`, and `math.rsqrt` becomes `rsqrt.approx`.

    On every type: `fuseops.special`; `math.{clampf, sincos, fpowi, ipowi,
    isinf, isnormal}` and `arith.{floordivsi, ceildivsi, ceildivui}`, for which
    LLVM has no operation. Integer divisions never trap: by 0 the quotient and
    the remainder are 0, and the lowest integer by -1 is itself.

    Guarantee: none of these operations is left, the first ones on f32, f16 or
    bf16. Others, and f64, are left alone: libm on the CPU, libdevice for CUDA
    (`convert-kernel-to-llvm`). Special values are IEEE's: NaN stays NaN,
    overflow is infinity, underflow is gradual.

    Before:
    ```
    %y = math.exp %x : vector<8xf32>
    ```
    After (the reduced argument's polynomial, shortened):
    ```
    %t = math.fma %x, %log2e, %magic : vector<8xf32>
    %n = arith.subf %t, %magic : vector<8xf32>
    %r = math.fma %n, %minus_ln2, %x : vector<8xf32>
    ...
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "math::MathDialect",
                           "scf::SCFDialect", "vector::VectorDialect",
                           "LLVM::LLVMDialect", "NVVM::NVVMDialect"];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "What the expansion runs on: `cpu` or `nvvm`.">
  ];
}

def ConvertFp8ToLLVMPass : Pass<"convert-fp8-to-llvm"> {
  let summary = "Convert FP8 and bf16 casts into integer arithmetic";
  let description = [{
    *standalone*: `convert-kernel-to-llvm` applies these patterns itself.

    Replaces `arith.truncf` and `arith.extf` from and to f8E4M3FN, f8E5M2,
    f8E8M0FNU and bf16, and f64 to f16, scalar or vector, by integer
    operations. x86 has no instruction for most of them, and LLVM would call
    compiler-rt functions that a kernel object can't resolve.

    Guarantee: the results are `arith`'s: round to nearest even, once, from
    f64 too; an f8E4M3FN overflow is NaN, an f8E5M2 one infinity. NaN becomes
    the code 0x7f, whatever its payload and sign.

    Before:
    ```
    %q = arith.truncf %x : vector<8xf32> to vector<8xf8E4M3FN>
    ```
    After:
    ```
    %bits = arith.bitcast %x : vector<8xf32> to vector<8xi32>
    ...
    %q = arith.bitcast %code : vector<8xi8> to vector<8xf8E4M3FN>
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "vector::VectorDialect"];
  let options = [
    Option<"expandHalf", "expand-half", "bool", /*default=*/"false",
           "Expand casts between f16 and f32 too, for chips without F16C.">
  ];
}

def ConvertFp8ToNVVMPass : Pass<"convert-fp8-to-nvvm"> {
  let summary = "Convert FP8 casts into the conversion instructions of sm_89";
  let description = [{
    *standalone*: `convert-kernel-to-llvm` applies these patterns itself.

    Replaces `arith.truncf` to and `arith.extf` from f8E4M3FN and f8E5M2, scalar
    or 1-D vector, by `nvvm.convert` operations on pairs. f8E8M0FNU and f64
    sources take the integer path of `convert-fp8-to-llvm`.

    Precondition: the value was clamped to the format's finite range, because
    the instructions saturate where `arith.truncf` gives NaN or infinity.

    Before:
    ```
    %q = arith.truncf %x : vector<2xf32> to vector<2xf8E4M3FN>
    ```
    After:
    ```
    %e:2 = vector.to_elements %x : vector<2xf32>
    %p = nvvm.convert.f32x2.to.f8x2 %e#1, %e#0 {...} : i16(f8E4M3FN)
    ...
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "vector::VectorDialect",
                           "LLVM::LLVMDialect", "NVVM::NVVMDialect"];
}

def ConvertKernelToLLVMPass
    : Pass<"convert-kernel-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Convert a module of kernels to the LLVM dialect";
  let description = [{
    *standalone*: phase `target` calls `convertKernelToLLVM`, which this pass wraps.

    Runs the expansions above and then converts `scf`, `cf`, `arith`, `math`,
    `vector`, `index`, `ub` and `func` to the LLVM dialect; `nvvm` stays. A public
    `func.func` is a kernel and gets `nvvm.kernel` for CUDA, which `func.func`
    itself may not carry; a private one becomes internal. 64-bit index. A math
    function without instruction or expansion, and `arith.remf`, becomes a call:
    of libm on the CPU, of libdevice for CUDA.

    Precondition: kernels touch memory through `llvm.load` and `llvm.store` only.
    Guarantee: only `llvm` and `nvvm` are left, or the pass failed with an error
    at the operation that has no lowering.
  }];
  let dependentDialects = ["arith::ArithDialect", "cf::ControlFlowDialect",
                           "func::FuncDialect", "math::MathDialect",
                           "vector::VectorDialect", "LLVM::LLVMDialect",
                           "NVVM::NVVMDialect"];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "CUDA chip, for example `sm_90a`; the CPU where empty.">,
    Option<"expandHalf", "expand-half", "bool", /*default=*/"false",
           "CPU: expand casts between f16 and f32, for chips without F16C.">
  ];
}

def ConvertTorchToFuseOpsPass
    : Pass<"convert-torch-to-fuseops", "::mlir::ModuleOp"> {
  let summary = "Convert torch functions into fusible programs";
  let description = [{
    Replaces each `func.func` that holds torch operations by a
    `fuseops.fusible` of the same name with a forward region. `!torch.vtensor`
    becomes `tensor`, a number a tensor of rank 0; lists, sizes and assertions go
    away, and so do `clone` and `detach`; a transpose becomes a flag of the matrix
    product that reads it. A tensor of one number becomes part of what reads it,
    any other literal a `fuseops.constant`. `torch.operator "torch.aten.x"` is
    read as `torch.aten.x`. A function that drops elements out gets one more
    argument, the random state; what an argument is overwritten with is returned,
    before the results.

    Precondition: torch-mlir's output at any stage to its backend contract, best
    the raw import of `run_decompositions({})`, pretty or generic. Every `?` of an
    argument is one symbol; a size that is k times it, as flattening makes it,
    becomes two dimensions, `?` and k. The bounds of `torch.symbolic_int` become
    `symbol_min` and `symbol_max`, but for torch.export's assumed minimum of 2.

    Guarantee: no torch operation is left, or the pass failed with one error for
    each operation that it can't convert, which says why and where the operation
    stands in the user's program.

    Before:
    ```mlir
    func.func @f(%x: !torch.vtensor<[?,64],bf16>) -> !torch.vtensor<[?,64],bf16> {
      %y = torch.aten.silu %x : !torch.vtensor<[?,64],bf16> -> !torch.vtensor<[?,64],bf16>
      return %y : !torch.vtensor<[?,64],bf16>
    }
    ```
    After:
    ```mlir
    fuseops.fusible @f(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
    forward {
      %y = fuseops.silu %x : tensor<?x64xbf16>
      fuseops.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let dependentDialects = ["::mlir::fuseops::FuseOpsDialect",
                           "::mlir::fuseops::torch::TorchDialect"];
}

#endif // FUSEOPS_CONVERSION_PASSES_TD
