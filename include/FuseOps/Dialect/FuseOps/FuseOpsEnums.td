//===- FuseOpsEnums.td - The enumerations of types, attributes and operations
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_DIALECT_FUSEOPS_FUSEOPSENUMS_TD
#define FUSEOPS_DIALECT_FUSEOPS_FUSEOPSENUMS_TD

include "FuseOps/Dialect/FuseOps/FuseOpsDialect.td"
include "mlir/IR/EnumAttr.td"

class FuseOps_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::fuseops";
  let genSpecializedAttr = 0;
}

def FuseOps_ScaleKind : FuseOps_Enum<"ScaleKind",
    "what one scale of a quantized tensor covers", [
  I32EnumAttrCase<"PerTensor", 0, "per_tensor">,
  I32EnumAttrCase<"PerRow", 1, "per_row">,
  I32EnumAttrCase<"Block1x128", 2, "block<1x128>">,
  I32EnumAttrCase<"Block128x128", 3, "block<128x128>">,
  I32EnumAttrCase<"MX1x32", 4, "mx<1x32>">]>;

def FuseOps_Copies : FuseOps_Enum<"Copies",
    "which physical copies of a quantized tensor exist", [
  I32EnumAttrCase<"Row", 0, "row">,
  I32EnumAttrCase<"Col", 1, "col">,
  I32EnumAttrCase<"RowCol", 2, "row_col">]>;

def FuseOps_RecipeKind : FuseOps_Enum<"RecipeKind",
    "which scales a recipe gives the operands of contractions", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"Delayed", 1, "delayed">,
  I32EnumAttrCase<"Current", 2, "current">,
  I32EnumAttrCase<"Block", 3, "block">,
  I32EnumAttrCase<"Rowwise", 4, "rowwise">,
  I32EnumAttrCase<"MX", 5, "mx">]>;

def FuseOps_RecipeFormat : FuseOps_Enum<"RecipeFormat",
    "which FP8 formats a recipe uses", [
  I32EnumAttrCase<"Hybrid", 0, "hybrid">,
  I32EnumAttrCase<"E4M3", 1, "e4m3">]>;

def FuseOps_AmaxAlgorithm : FuseOps_Enum<"AmaxAlgorithm",
    "which amax of a history a delayed scale comes from", [
  I32EnumAttrCase<"Max", 0, "max">,
  I32EnumAttrCase<"MostRecent", 1, "most_recent">]>;

class FuseOps_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<FuseOps_Dialect, info, mnemonic>;

def FuseOps_GeluKind : FuseOps_Enum<"GeluKind", "how gelu is computed", [
  I32EnumAttrCase<"Exact", 0, "none">,
  I32EnumAttrCase<"Tanh", 1, "tanh">]>;
def FuseOps_GeluKindAttr : FuseOps_EnumAttr<FuseOps_GeluKind, "gelu_kind">;

def FuseOps_AmaxAlgorithmAttr
    : FuseOps_EnumAttr<FuseOps_AmaxAlgorithm, "amax_algorithm">;
def FuseOps_ScaleKindAttr : FuseOps_EnumAttr<FuseOps_ScaleKind, "scale_kind"> {
  // `block<1x128>` is more than one keyword.
  let assemblyFormat = "custom<ScaleWord>($value)";
}

def FuseOps_ReductionKind : FuseOps_Enum<"ReductionKind", "what a reduction computes", [
  I32EnumAttrCase<"Sum", 0, "sum">,
  I32EnumAttrCase<"Max", 1, "max">,
  I32EnumAttrCase<"Min", 2, "min">]>;
def FuseOps_ReductionKindAttr
    : FuseOps_EnumAttr<FuseOps_ReductionKind, "reduction_kind">;

def FuseOps_HalfOrder : FuseOps_Enum<"HalfOrder",
    "which half of a GLU's input goes through the activation", [
  I32EnumAttrCase<"First", 0, "first">,
  I32EnumAttrCase<"Last", 1, "last">]>;
def FuseOps_HalfOrderAttr : FuseOps_EnumAttr<FuseOps_HalfOrder, "half_order">;

def FuseOps_PairOrder : FuseOps_Enum<"PairOrder",
    "which elements of a row are rotated together", [
  I32EnumAttrCase<"Half", 0, "half">,
  I32EnumAttrCase<"Interleaved", 1, "interleaved">]>;
def FuseOps_PairOrderAttr : FuseOps_EnumAttr<FuseOps_PairOrder, "pair_order">;

def FuseOps_Template : FuseOps_Enum<"KernelTemplate",
    "the kernel template that a group is lowered by", [
  I32EnumAttrCase<"Pointwise", 0, "pointwise">,
  I32EnumAttrCase<"Row", 1, "row">,
  I32EnumAttrCase<"RowColumn", 2, "row_column">,
  I32EnumAttrCase<"Library", 3, "library">,
  I32EnumAttrCase<"Finalize", 4, "finalize">,
  I32EnumAttrCase<"Tile", 5, "tile">,
  I32EnumAttrCase<"Gemm", 6, "gemm">]>;
def FuseOps_TemplateAttr : FuseOps_EnumAttr<FuseOps_Template, "kernel_template">;

#endif // FUSEOPS_DIALECT_FUSEOPS_FUSEOPSENUMS_TD
