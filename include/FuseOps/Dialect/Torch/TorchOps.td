//===- TorchOps.td - The operations with a syntax of their own
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_TORCH_TORCHOPS_TD
#define FUSEOPS_DIALECT_TORCH_TORCHOPS_TD

include "FuseOps/Dialect/Torch/TorchDialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Torch_Op<string mnemonic, list<Trait> traits = []>
    : Op<Torch_Dialect, mnemonic, traits>;

class Torch_Constant<string mnemonic, Attr attribute, Type type>
    : Torch_Op<"constant." # mnemonic, [Pure]> {
  let arguments = (ins attribute:$value);
  let results = (outs type:$result);
  let assemblyFormat = "$value attr-dict";
}

def Torch_ConstantIntOp : Torch_Constant<"int", I64Attr, Torch_Int> {
  let summary = "Integer constant";
  let assemblyFormat = "custom<Integer>($value) attr-dict";
}
def Torch_ConstantFloatOp : Torch_Constant<"float", F64Attr, Torch_Float> {
  let summary = "Float constant";
}
def Torch_ConstantBoolOp : Torch_Constant<"bool", BoolAttr, Torch_Bool> {
  let summary = "Bool constant";
}
def Torch_ConstantStrOp : Torch_Constant<"str", StrAttr, Torch_Str> {
  let summary = "String constant";
}
def Torch_ConstantDeviceOp : Torch_Constant<"device", StrAttr, Torch_Device> {
  let summary = "Device constant";
}
def Torch_ConstantNoneOp : Torch_Op<"constant.none", [Pure]> {
  let summary = "None";
  let results = (outs Torch_None:$result);
  let assemblyFormat = "attr-dict";
}

def Torch_ListConstructOp : Torch_Op<"prim.ListConstruct", [Pure]> {
  let summary = "List of values";
  let arguments = (ins Variadic<AnyType>:$elements);
  let results = (outs Torch_List:$result);
  let assemblyFormat = "$elements attr-dict `:` functional-type(operands, results)";
}

def Torch_LiteralOp : Torch_Op<"vtensor.literal", [Pure]> {
  let summary = "Tensor constant";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Torch_ValueTensor:$result);
  let assemblyFormat = "`(` $value `)` attr-dict `:` qualified(type($result))";
}

def Torch_OperatorOp : Torch_Op<"operator"> {
  let summary = "An operator that torch-mlir's dialect doesn't have";
  let arguments = (ins StrAttr:$name, Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = "$name `(` $inputs `)` attr-dict `:` functional-type(operands, results)";
}

def Torch_SymbolicIntOp : Torch_Op<"symbolic_int"> {
  let summary = "Symbolic size with its bounds";
  let arguments = (ins StrAttr:$symbol_name, I64Attr:$min_val, I64Attr:$max_val);
  let results = (outs Torch_Int:$result);
  let assemblyFormat = [{
    $symbol_name ` ` `{` `min_val` `=` $min_val `,` `max_val` `=` $max_val `}`
    attr-dict `:` qualified(type($result))
  }];
}

def Torch_BindSymbolicShapeOp : Torch_Op<"bind_symbolic_shape"> {
  let summary = "The sizes of a tensor as expressions of symbols";
  let arguments = (ins Torch_ValueTensor:$operand, Variadic<Torch_Int>:$shape_symbols,
    AffineMapAttr:$shape_expressions);
  let assemblyFormat = [{
    $operand `,` `[` $shape_symbols `]` `,` $shape_expressions attr-dict `:`
    qualified(type($operand))
  }];
  let hasVerifier = 1;
}

def Torch_CopyToValueTensorOp : Torch_Op<"copy.to_vtensor", [
    TypesMatchWith<"operand is the mutable form of the result", "result", "operand",
                   "::mlir::fuseops::torch::getMutableForm($_self)">]> {
  let summary = "The present value of a mutable tensor";
  let arguments = (ins Torch_MutableTensor:$operand);
  let results = (outs Torch_ValueTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` qualified(type($result))";
}

def Torch_OverwriteTensorContentsOp : Torch_Op<"overwrite.tensor.contents"> {
  let summary = "Writes a mutable tensor";
  let arguments = (ins Torch_ValueTensor:$value, Torch_MutableTensor:$overwritten);
  let assemblyFormat = [{
    $value `overwrites` $overwritten attr-dict `:` qualified(type($value)) `,`
    qualified(type($overwritten))
  }];
}

def Torch_RuntimeAssertOp : Torch_Op<"runtime.assert"> {
  let summary = "Run-time check with a message";
  let arguments = (ins Torch_Bool:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
}

#endif // FUSEOPS_DIALECT_TORCH_TORCHOPS_TD
