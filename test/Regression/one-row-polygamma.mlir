// A gradient whose values are the same for all rows, since there is one: LLVM took
// hours over it.
// RUN: timeout 60 fuse-compile %s --target=cpu -o %t
// RUN: fuse-run %s --target=cpu --check
module {
  func.func @main(%arg0: !torch.vtensor<[],f64>, %arg1: !torch.vtensor<[],f64>) -> (!torch.vtensor<[],f64>) {
    %0 = torch.aten.detach %arg0 : !torch.vtensor<[],f64> -> !torch.vtensor<[],f64>
    %1 = torch.constant.int 2
    %2 = torch.aten.polygamma %1, %0 : !torch.int, !torch.vtensor<[],f64> -> !torch.vtensor<[],f64>
    %3 = torch.constant.int 3
    %4 = torch.aten.polygamma %3, %0 : !torch.int, !torch.vtensor<[],f64> -> !torch.vtensor<[],f64>
    %5 = torch.aten.mul.Tensor %arg1, %4 : !torch.vtensor<[],f64>, !torch.vtensor<[],f64> -> !torch.vtensor<[],f64>
    return %5 : !torch.vtensor<[],f64>
  }
}
