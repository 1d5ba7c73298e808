//===- FuseOpsConstraints.td - Named constraints and the base classes of op families
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_FUSEOPSCONSTRAINTS_TD
#define FUSEOPS_DIALECT_FUSEOPS_FUSEOPSCONSTRAINTS_TD

include "FuseOps/Dialect/FuseOps/FuseOpsDialect.td"
include "FuseOps/Dialect/FuseOps/FuseOpsEnums.td"
include "FuseOps/Dialect/FuseOps/FuseOpsInterfaces.td"
include "FuseOps/Dialect/FuseOps/FuseOpsTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def FuseOps_Float : AnyTypeOf<[F16, BF16, F32, F64]>;
def FuseOps_FloatTensor : RankedTensorOf<[FuseOps_Float]>;
def FuseOps_FactorTensor
    : RankedTensorOf<[FuseOps_Float, F8E4M3FN, F8E5M2]>;
def FuseOps_StatTensor : RankedTensorOf<[F32, F64]>;
def FuseOps_Integer : AnyTypeOf<[I1, I8, UI8, I16, I32, I64]>;
def FuseOps_Element : Type<CPred<"::mlir::fuseops::isElementType($_self)">,
    "f16, bf16, f32, f64, FP8, i1, i8, ui8, i16, i32 or i64">;
def FuseOps_Tensor : RankedTensorOf<[FuseOps_Element]>;
def FuseOps_NumberTensor : RankedTensorOf<[FuseOps_Float, FuseOps_Integer]>;
def FuseOps_TensorOrQuantized
    : AnyTypeOf<[FuseOps_Tensor, FuseOps_QuantizedType]>;

defvar FuseOps_Fusible = DeclareOpInterfaceMethods<FuseOps_FusibleOpInterface, ["decompose"]>;
defvar FuseOps_Differentiable = DeclareOpInterfaceMethods<FuseOps_DifferentiableOpInterface>;

// An operation of a memory kernel: no effects, holds its own decomposition.
class FuseOps_MemoryOp<string mnemonic, list<Trait> traits = []>
    : FuseOps_Op<mnemonic, [Pure, FuseOps_Fusible] # traits>;

// result = f(input), element by element.
class FuseOps_UnaryOp<string mnemonic, list<Trait> traits = []>
    : FuseOps_MemoryOp<mnemonic,
        [FuseOps_Differentiable, SameOperandsAndResultType] # traits> {
  let arguments = (ins FuseOps_FloatTensor:$input);
  let results = (outs FuseOps_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

// result = gradient * f'(input), element by element.
class FuseOps_UnaryGradOp<string mnemonic, list<Trait> traits = []>
    : FuseOps_MemoryOp<mnemonic, [SameOperandsAndResultType] # traits> {
  let arguments = (ins FuseOps_FloatTensor:$gradient, FuseOps_FloatTensor:$input);
  let results = (outs FuseOps_FloatTensor:$result);
  let assemblyFormat = "$gradient `,` $input attr-dict `:` type($result)";
}

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPSCONSTRAINTS_TD
