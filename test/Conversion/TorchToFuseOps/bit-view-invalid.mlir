// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file --verify-diagnostics

func.func @wider(%x: !torch.vtensor<[4,2],si8>) -> !torch.vtensor<[4,1],si16> {
  %int2 = torch.constant.int 2
  // expected-error@below {{cannot convert `torch.aten.view.dtype`: expected a view as integers, f32 or f64 that are no wider, but got `!torch.vtensor<[4,2],si8>` as `!torch.vtensor<[4,1],si16>`}}
  %0 = torch.aten.view.dtype %x, %int2 : !torch.vtensor<[4,2],si8>, !torch.int -> !torch.vtensor<[4,1],si16>
  return %0 : !torch.vtensor<[4,1],si16>
}

// -----

func.func @nan_would_lose_its_bits(%x: !torch.vtensor<[4],si16>) -> !torch.vtensor<[4],f16> {
  %int5 = torch.constant.int 5
  // expected-error@below {{cannot convert `torch.aten.view.dtype`: expected a view as integers, f32 or f64 that are no wider, but got `!torch.vtensor<[4],si16>` as `!torch.vtensor<[4],f16>`}}
  %0 = torch.aten.view.dtype %x, %int5 : !torch.vtensor<[4],si16>, !torch.int -> !torch.vtensor<[4],f16>
  return %0 : !torch.vtensor<[4],f16>
}

// -----

func.func @float8(%x: !torch.vtensor<[4],f8E4M3FN>) -> !torch.vtensor<[4],ui8> {
  %int0 = torch.constant.int 0
  // expected-error@below {{cannot convert `torch.aten.view.dtype`: expected f16, bf16, f32, f64, integers or bools, but got `!torch.vtensor<[4],f8E4M3FN>`}}
  %0 = torch.aten.view.dtype %x, %int0 : !torch.vtensor<[4],f8E4M3FN>, !torch.int -> !torch.vtensor<[4],ui8>
  return %0 : !torch.vtensor<[4],ui8>
}
