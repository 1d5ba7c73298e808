// What becomes of a function as a whole.
// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file | FileCheck %s
// RUN: fuse-opt %s --convert-torch-to-fuseops --split-input-file --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

// CHECK-LABEL: fuseops.fusible @symbol
// CHECK-SAME: attributes {symbol_max = 1024 : i64, symbol_min = 4 : i64}
func.func @symbol(%x: !torch.vtensor<[?,64],f32>, %y: !torch.vtensor<[?,64],f32>) -> !torch.vtensor<[?,64],f32> {
  %0 = torch.symbolic_int "s33" {min_val = 4, max_val = 1024} : !torch.int
  torch.bind_symbolic_shape %x, [%0], affine_map<()[s0] -> (s0, 64)> : !torch.vtensor<[?,64],f32>
  torch.bind_symbolic_shape %y, [%0], affine_map<()[s0] -> (s0, 64)> : !torch.vtensor<[?,64],f32>
  %1 = torch.aten.relu %x : !torch.vtensor<[?,64],f32> -> !torch.vtensor<[?,64],f32>
  return %1 : !torch.vtensor<[?,64],f32>
}

// -----

// torch.export assumes at least 2, which is no bound of the program's.
// CHECK-LABEL: fuseops.fusible @assumed_minimum
// CHECK-SAME: attributes {symbol_min = 0 : i64}
func.func @assumed_minimum(%x: !torch.vtensor<[?,64],f32>) -> !torch.vtensor<[?,64],f32> {
  %0 = torch.symbolic_int "s33" {min_val = 2, max_val = 9223372036854775807} : !torch.int
  torch.bind_symbolic_shape %x, [%0], affine_map<()[s0] -> (s0, 64)> : !torch.vtensor<[?,64],f32>
  %1 = torch.aten.relu %x : !torch.vtensor<[?,64],f32> -> !torch.vtensor<[?,64],f32>
  return %1 : !torch.vtensor<[?,64],f32>
}

// -----

// Checks, their operands and what nobody uses go away.
// CHECK-LABEL: fuseops.fusible @checks
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[Y:.+]] = fuseops.relu
// CHECK-NEXT: fuseops.return %[[Y]]
func.func @checks(%x: !torch.vtensor<[?,64],f32>) -> !torch.vtensor<[?,64],f32> {
  %none = torch.constant.none
  %int0 = torch.constant.int 0
  %int6 = torch.constant.int 6
  %cpu = torch.constant.device "cpu"
  torch.aten._assert_tensor_metadata %x, %none, %none, %int6, %cpu, %int0 : !torch.vtensor<[?,64],f32>, !torch.none, !torch.none, !torch.int, !torch.Device, !torch.int
  %0 = torch.aten.size.int %x, %int0 : !torch.vtensor<[?,64],f32>, !torch.int -> !torch.int
  %1 = torch.aten.ge.int %0, %int0 : !torch.int, !torch.int -> !torch.bool
  torch.runtime.assert %1, "too short"
  %2 = torch.aten.Int.bool %1 : !torch.bool -> !torch.int
  %str = torch.constant.str "too short"
  torch.aten._assert_scalar %2, %str : !torch.int, !torch.str
  %3 = torch.aten.silu %x : !torch.vtensor<[?,64],f32> -> !torch.vtensor<[?,64],f32>
  %4 = torch.aten.relu %x : !torch.vtensor<[?,64],f32> -> !torch.vtensor<[?,64],f32>
  return %4 : !torch.vtensor<[?,64],f32>
}

// -----

// Integers lose their sign in the type; a value may be returned twice.
// CHECK-LABEL: fuseops.fusible @types
// CHECK-SAME: (%[[A:.+]]: tensor<2xi64>, %[[B:.+]]: tensor<ui8>, %[[C:.+]]: tensor<?x4xi1>, %[[D:.+]]: tensor<2x8xf8E4M3FN>) -> (tensor<2xi64>, tensor<2xi64>) attributes {sym_visibility = "private"}
// CHECK: fuseops.return %[[A]], %[[A]]
func.func private @types(%a: !torch.vtensor<[2],si64>, %b: !torch.vtensor<[],ui8>, %c: !torch.vtensor<[?,4],i1>, %d: !torch.vtensor<[2,8],f8E4M3FN>) -> (!torch.vtensor<[2],si64>, !torch.vtensor<[2],si64>) {
  return %a, %a : !torch.vtensor<[2],si64>, !torch.vtensor<[2],si64>
}

// -----

// Functions without torch stay; both spellings of an operation are one.
// CHECK: func.func @other
func.func @other(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
// CHECK: fuseops.fusible @operator
// CHECK: fuseops.silu
// CHECK: fuseops.relu
func.func @operator(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %0 = torch.operator "torch.aten.silu"(%x) : (!torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32>
  %1 = "torch.aten.relu"(%0) : (!torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32>
  return %1 : !torch.vtensor<[4,64],f32>
}

// -----

// LOC-LABEL: fuseops.fusible @locations
// LOC: fuseops.relu %{{.+}} : tensor<4x64xf32> loc([[AT:#.+]])
// LOC: } loc([[FUNC:#.+]])
// LOC-DAG: [[AT]] = loc("model.py":7:0)
// LOC-DAG: [[FUNC]] = loc("model.py":1:0)
func.func @locations(%x: !torch.vtensor<[4,64],f32>) -> !torch.vtensor<[4,64],f32> {
  %0 = torch.aten.relu %x : !torch.vtensor<[4,64],f32> -> !torch.vtensor<[4,64],f32> loc("model.py":7:0)
  return %0 : !torch.vtensor<[4,64],f32>
} loc("model.py":1:0)

// -----

// Which gradients there are is said of the function as of the program.
// CHECK-LABEL: fuseops.fusible @gradients(
// CHECK-SAME: tensor<4xf32>, %{{.+}}: tensor<4xf32> {fuseops.frozen}) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-SAME: attributes {frozen_results = array<i64: 1>, missing_gradients = array<i64: 0>}
func.func @gradients(%x: !torch.vtensor<[4],f32>, %y: !torch.vtensor<[4],f32> {fuseops.frozen}) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>) attributes {fuseops.frozen_results = array<i64: 1>, fuseops.missing_gradients = array<i64: 0>} {
  %0 = torch.aten.relu %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  %1 = torch.aten.relu %y : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0, %1 : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>
}
