//===- TorchDialect.td - The dialect and its types, as torch-mlir prints them
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_TORCH_TORCHDIALECT_TD
#define FUSEOPS_DIALECT_TORCH_TORCHDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Torch_Dialect : Dialect {
  let name = "torch";
  let cppNamespace = "::mlir::fuseops::torch";
  let summary = "What torch-mlir prints, just enough to read it";
  let description = [{
    Reads and prints the text of torch-mlir's `torch` dialect without linking to
    torch-mlir. Operations whose syntax isn't torch-mlir's default form are
    registered; every other operation is unregistered, and the dialect parses and
    prints it in that default form: operands, attributes, `:`, operand types,
    `->`, result types.
  }];
  let useDefaultTypePrinterParser = 0;
  let extraClassDeclaration = [{
    ::mlir::Type parseType(::mlir::DialectAsmParser &parser) const override;
    void printType(::mlir::Type type, ::mlir::DialectAsmPrinter &printer) const override;
    /// torch-mlir's default form, for every operation that isn't registered.
    std::optional<ParseOpHook>
    getParseOperationHook(::llvm::StringRef name) const override;
    ::llvm::unique_function<void(::mlir::Operation *, ::mlir::OpAsmPrinter &)>
    getOperationPrinter(::mlir::Operation *op) const override;
    void registerTypes();
  }];
}

class Torch_Type<string name, string mnemonicText, string summaryText>
    : TypeDef<Torch_Dialect, name> {
  let mnemonic = mnemonicText;
  let summary = summaryText;
}

def Torch_Int : Torch_Type<"TorchInt", "int", "Python integer">;
def Torch_Float : Torch_Type<"TorchFloat", "float", "Python float">;
def Torch_Bool : Torch_Type<"TorchBool", "bool", "Python bool">;
def Torch_Str : Torch_Type<"TorchStr", "str", "Python string">;
def Torch_None : Torch_Type<"TorchNone", "none", "Python None">;
def Torch_Number : Torch_Type<"TorchNumber", "number", "Python number of any kind">;
def Torch_Any : Torch_Type<"TorchAny", "any", "Python value of any type">;
def Torch_Device : Torch_Type<"TorchDevice", "Device", "torch.device">;
def Torch_Generator : Torch_Type<"TorchGenerator", "Generator", "torch.Generator">;

// A type made of types, which print without the `!torch.` prefix.
class Torch_Wrapper<string name, string mnemonicText, string summaryText>
    : Torch_Type<name, mnemonicText, summaryText> {
  let parameters = (ins "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
}
def Torch_List : Torch_Wrapper<"TorchList", "list", "Python list">;
def Torch_Optional : Torch_Wrapper<"TorchOptional", "optional", "A value or None">;

class Torch_TypeSequence<string name, string mnemonicText, string summaryText>
    : Torch_Type<name, mnemonicText, summaryText> {
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$elementTypes);
  let hasCustomAssemblyFormat = 1;
}
def Torch_Tuple : Torch_TypeSequence<"TorchTuple", "tuple", "Python tuple">;
def Torch_Union : Torch_TypeSequence<"TorchUnion", "union", "One of several types">;
def Torch_Dict : Torch_Type<"TorchDict", "dict", "Python dict"> {
  let parameters = (ins "::mlir::Type":$keyType, "::mlir::Type":$valueType);
  let hasCustomAssemblyFormat = 1;
}

class Torch_TensorBase<string name, string mnemonicText, string summaryText>
    : Torch_Type<name, mnemonicText, summaryText> {
  let description = [{
    `hasSizes` is false for an unknown rank; a size is `ShapedType::kDynamic` for
    `?`; `dtype` is null where it isn't known.
  }];
  let parameters = (ins "bool":$hasSizes, ArrayRefParameter<"int64_t">:$sizes,
    "::mlir::Type":$dtype);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def Torch_ValueTensor
    : Torch_TensorBase<"ValueTensor", "vtensor", "Tensor with value semantics">;
def Torch_MutableTensor
    : Torch_TensorBase<"MutableTensor", "tensor", "Tensor that may be written">;

#endif // FUSEOPS_DIALECT_TORCH_TORCHDIALECT_TD
