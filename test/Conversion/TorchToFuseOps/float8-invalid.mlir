// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file --verify-diagnostics

// FP8 operands only, and no result of FP8.
func.func @f(%a: !torch.vtensor<[16,16],bf16>, %b: !torch.vtensor<[16,16],f8E4M3FN>, %s: !torch.vtensor<[],f32>) -> !torch.vtensor<[16,16],bf16> {
  %none = torch.constant.none
  %int15 = torch.constant.int 15
  %false = torch.constant.bool false
  // expected-error@below {{cannot convert `torch.aten._scaled_mm`: expected operand 0 to be f8E4M3FN or f8E5M2, but got `!torch.vtensor<[16,16],bf16>`}}
  %0 = torch.aten._scaled_mm %a, %b, %s, %s, %none, %none, %int15, %false : !torch.vtensor<[16,16],bf16>, !torch.vtensor<[16,16],f8E4M3FN>, !torch.vtensor<[],f32>, !torch.vtensor<[],f32>, !torch.none, !torch.none, !torch.int, !torch.bool -> !torch.vtensor<[16,16],bf16>
  return %0 : !torch.vtensor<[16,16],bf16>
}

// -----

func.func @f(%a: !torch.vtensor<[16,16],f8E4M3FN>, %b: !torch.vtensor<[16,16],f8E4M3FN>, %s: !torch.vtensor<[],f32>) -> !torch.vtensor<[16,16],f8E4M3FN> {
  %none = torch.constant.none
  %int24 = torch.constant.int 24
  %false = torch.constant.bool false
  // expected-error@below {{cannot convert `torch.aten._scaled_mm`: expected a result of f16, bf16 or f32 without a scale}}
  %0 = torch.aten._scaled_mm %a, %b, %s, %s, %none, %none, %int24, %false : !torch.vtensor<[16,16],f8E4M3FN>, !torch.vtensor<[16,16],f8E4M3FN>, !torch.vtensor<[],f32>, !torch.vtensor<[],f32>, !torch.none, !torch.none, !torch.int, !torch.bool -> !torch.vtensor<[16,16],f8E4M3FN>
  return %0 : !torch.vtensor<[16,16],f8E4M3FN>
}

// -----

func.func @f(%a: !torch.vtensor<[16,16],f8E4M3FN>, %b: !torch.vtensor<[16,16],f8E4M3FN>, %s: !torch.vtensor<[3],f32>) -> !torch.vtensor<[16,16],bf16> {
  %none = torch.constant.none
  %int15 = torch.constant.int 15
  %false = torch.constant.bool false
  // expected-error@below {{cannot convert `torch.aten._scaled_mm`: expected one scale, or one for each row of the left and each column of the right operand, but got `tensor<3xf32>`}}
  %0 = torch.aten._scaled_mm %a, %b, %s, %s, %none, %none, %int15, %false : !torch.vtensor<[16,16],f8E4M3FN>, !torch.vtensor<[16,16],f8E4M3FN>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>, !torch.none, !torch.none, !torch.int, !torch.bool -> !torch.vtensor<[16,16],bf16>
  return %0 : !torch.vtensor<[16,16],bf16>
}

// -----

func.func @f(%x: !torch.vtensor<[4,64],f8E5M2>) -> !torch.vtensor<[64,4],f8E5M2> {
  %0 = torch.aten.t %x : !torch.vtensor<[4,64],f8E5M2> -> !torch.vtensor<[64,4],f8E5M2>
  // expected-error@below {{cannot convert `func.return`: expected no results of f8E5M2, whose infinities a kernel doesn't store, but got `!torch.vtensor<[64,4],f8E5M2>`}}
  return %0 : !torch.vtensor<[64,4],f8E5M2>
}
