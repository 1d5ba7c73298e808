// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file --verify-diagnostics

// The nuclear norm of a matrix isn't one of a vector.
func.func @f(%x: !torch.vtensor<[4,5],f32>) -> !torch.vtensor<[],f32> {
  %int2 = torch.constant.int 2
  %none = torch.constant.none
  %false = torch.constant.bool false
  // expected-error@below {{cannot convert `torch.aten.linalg_norm`: expected the norm of a vector, but got that of a matrix}}
  %0 = torch.aten.linalg_norm %x, %int2, %none, %false, %none : !torch.vtensor<[4,5],f32>, !torch.int, !torch.none, !torch.bool, !torch.none -> !torch.vtensor<[],f32>
  return %0 : !torch.vtensor<[],f32>
}

// -----

func.func @f(%x: !torch.vtensor<[2,6,5],f32>, %r: !torch.vtensor<[6],f32>) -> !torch.vtensor<[2,6,5],f32> {
  %none = torch.constant.none
  %true = torch.constant.bool true
  %f = torch.constant.float 1.0e-05
  // expected-error@below {{cannot convert `torch.aten.instance_norm`: expected no running statistics to be updated}}
  %0 = torch.aten.instance_norm %x, %none, %none, %r, %r, %true, %f, %f, %true : !torch.vtensor<[2,6,5],f32>, !torch.none, !torch.none, !torch.vtensor<[6],f32>, !torch.vtensor<[6],f32>, !torch.bool, !torch.float, !torch.float, !torch.bool -> !torch.vtensor<[2,6,5],f32>
  return %0 : !torch.vtensor<[2,6,5],f32>
}
