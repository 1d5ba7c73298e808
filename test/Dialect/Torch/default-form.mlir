// Operations that the dialect doesn't know: torch-mlir's default form.
// RUN: fuse-opt %s | fuse-opt | FileCheck %s
// RUN: fuse-opt %s --mlir-print-op-generic | fuse-opt | FileCheck %s

// CHECK-LABEL: func.func @one_result
func.func @one_result(%x: !torch.vtensor<[2],f32>, %a: !torch.int) -> !torch.vtensor<[2],f32> {
  // CHECK: torch.aten.add.Tensor %{{.+}}, %{{.+}}, %{{.+}} : !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>, !torch.int -> !torch.vtensor<[2],f32>
  %0 = torch.aten.add.Tensor %x, %x, %a : !torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>, !torch.int -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}

// CHECK-LABEL: func.func @results
func.func @results(%x: !torch.vtensor<[2],f32>) {
  // CHECK: %{{.+}}:2 = torch.aten.demo %{{.+}} {axis = 1 : i64} : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>, !torch.none
  %result0, %result1 = torch.aten.demo %x {axis = 1 : i64} : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>, !torch.none
  // CHECK-NEXT: torch.aten._assert %{{.+}} : !torch.vtensor<[2],f32>
  torch.aten._assert %x : !torch.vtensor<[2],f32>
  // CHECK-NEXT: torch.aten.source : !torch.int
  %0 = torch.aten.source : !torch.int
  // CHECK-NEXT: torch.aten.source : !torch.int
  %1 = torch.aten.source : -> !torch.int
  // CHECK-NEXT: torch.aten.barrier{{$}}
  torch.aten.barrier
  return
}

// What the default form has no place for stays in the generic one.
// CHECK-LABEL: func.func @generic
func.func @generic(%x: !torch.vtensor<[2],f32>) {
  // CHECK: "torch.aten.demo"(%{{.+}}) <{axis = 1 : i64}> : (!torch.vtensor<[2],f32>) -> ()
  "torch.aten.demo"(%x) <{axis = 1 : i64}> : (!torch.vtensor<[2],f32>) -> ()
  // CHECK: "torch.prim.Loop"() ({
  "torch.prim.Loop"() ({
  ^bb0:
    torch.aten.barrier
  }) : () -> ()
  return
}
