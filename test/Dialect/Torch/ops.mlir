// The operations with a syntax of their own, in the pretty form and by way of
// the generic one.
// RUN: fuse-opt %s | fuse-opt | FileCheck %s
// RUN: fuse-opt %s --mlir-print-op-generic | fuse-opt | FileCheck %s

// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK-NEXT: torch.constant.int 9223372036854775807
  %0 = torch.constant.int 9223372036854775807
  // CHECK-NEXT: torch.constant.int -1
  %int-1 = torch.constant.int -1
  // CHECK-NEXT: torch.constant.float 9.9999999999999995E-7
  %float9.999990e-07 = torch.constant.float 9.9999999999999995E-7
  // CHECK-NEXT: torch.constant.float 0xFFF0000000000000
  %float-Inf = torch.constant.float 0xFFF0000000000000
  // CHECK-NEXT: torch.constant.bool true
  %true = torch.constant.bool true
  // CHECK-NEXT: torch.constant.bool false
  %false = torch.constant.bool false
  // CHECK-NEXT: torch.constant.str "tanh"
  %str = torch.constant.str "tanh"
  // CHECK-NEXT: torch.constant.none{{$}}
  %none = torch.constant.none
  // CHECK-NEXT: torch.constant.device "cpu"
  %cpu = torch.constant.device "cpu"
  return
}

// CHECK-LABEL: func.func @lists
func.func @lists(%x: !torch.vtensor<[2],f32>) {
  %int1 = torch.constant.int 1
  // CHECK: torch.prim.ListConstruct %{{.+}}, %{{.+}} : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.prim.ListConstruct %int1, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
  // CHECK-NEXT: torch.prim.ListConstruct : () -> !torch.list<int>
  %1 = torch.prim.ListConstruct  : () -> !torch.list<int>
  %none = torch.constant.none
  // CHECK: torch.prim.ListConstruct {{.+}} -> !torch.list<optional<vtensor>>
  %2 = torch.prim.ListConstruct %none, %x : (!torch.none, !torch.vtensor<[2],f32>) -> !torch.list<optional<vtensor>>
  // CHECK: torch.prim.ListUnpack %{{.+}} : !torch.list<int> -> !torch.int, !torch.int
  %3:2 = torch.prim.ListUnpack %0 : !torch.list<int> -> !torch.int, !torch.int
  return
}

// CHECK-LABEL: func.func @literals
func.func @literals() {
  // CHECK-NEXT: torch.vtensor.literal(dense<1.000000e+00> : tensor<f32>) : !torch.vtensor<[],f32>
  %0 = torch.vtensor.literal(dense<1.000000e+00> : tensor<f32>) : !torch.vtensor<[],f32>
  // CHECK-NEXT: torch.vtensor.literal(dense_resource<weight> : tensor<2xf8E4M3FN>) : !torch.vtensor<[2],f8E4M3FN>
  %1 = torch.vtensor.literal(dense_resource<weight> : tensor<2xf8E4M3FN>) : !torch.vtensor<[2],f8E4M3FN>
  // CHECK-NEXT: torch.vtensor.literal(dense_resource<__elided__> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  %2 = torch.vtensor.literal(dense_resource<__elided__> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  // CHECK-NEXT: torch.vtensor.literal(dense<[1, -2]> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
  %3 = torch.vtensor.literal(dense<[1, -2]> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
  return
}

// CHECK-LABEL: func.func @operators
func.func @operators(%x: !torch.vtensor<[8,64],f32>) {
  // CHECK: torch.operator "torch.demo.f"(%{{.+}}) : (!torch.vtensor<[8,64],f32>) -> !torch.vtensor<[8,64],f32>
  %0 = torch.operator "torch.demo.f"(%x) : (!torch.vtensor<[8,64],f32>) -> !torch.vtensor<[8,64],f32> 
  // CHECK-NEXT: %{{.+}}:2 = torch.operator "torch.demo.q"() : () -> (!torch.vtensor<[8,2],f32>, !torch.list<vtensor>)
  %1:2 = torch.operator "torch.demo.q"() : () -> (!torch.vtensor<[8,2],f32>, !torch.list<vtensor>) 
  return
}

// CHECK-LABEL: func.func @symbols
func.func @symbols(%x: !torch.vtensor<[?,64],f32>, %c: !torch.bool) {
  // CHECK-NEXT: %[[S:.+]] = torch.symbolic_int "2*s3" {min_val = 0, max_val = 9223372036854775807} : !torch.int
  %0 = torch.symbolic_int "2*s3" {min_val = 0, max_val = 9223372036854775807} : !torch.int
  // CHECK-NEXT: torch.bind_symbolic_shape %{{.+}}, [%[[S]]], #{{.+}} : !torch.vtensor<[?,64],f32>
  torch.bind_symbolic_shape %x, [%0], affine_map<()[s0] -> (s0 * 2, 64)> : !torch.vtensor<[?,64],f32>
  // CHECK-NEXT: torch.runtime.assert %{{.+}}, "too long"
  torch.runtime.assert %c, "too long"
  return
}

// CHECK-LABEL: func.func @mutable
// CHECK-SAME: attributes {torch.assume_strict_symbolic_shapes}
func.func @mutable(%x: !torch.tensor<[8,4],f32>) attributes {torch.assume_strict_symbolic_shapes} {
  // CHECK-NEXT: %[[V:.+]] = torch.copy.to_vtensor %[[X:.+]] : !torch.vtensor<[8,4],f32>
  %0 = torch.copy.to_vtensor %x : !torch.vtensor<[8,4],f32>
  // CHECK-NEXT: torch.overwrite.tensor.contents %[[V]] overwrites %[[X]] : !torch.vtensor<[8,4],f32>, !torch.tensor<[8,4],f32>
  torch.overwrite.tensor.contents %0 overwrites %x : !torch.vtensor<[8,4],f32>, !torch.tensor<[8,4],f32>
  return
}

{-#
  dialect_resources: {
    builtin: {
      weight: "0x010000003840"
    }
  }
#-}
