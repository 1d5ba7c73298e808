// RUN: fuse-opt %s | fuse-opt | FileCheck %s
// RUN: fuse-opt %s --mlir-print-op-generic | fuse-opt | FileCheck %s

// CHECK-LABEL: fuseops.fusible @no_arguments_no_results(
// CHECK-SAME: )
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return
// CHECK-NEXT: }
fuseops.fusible @no_arguments_no_results()
forward {
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @empty_backward(
// CHECK-SAME: )
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return
// CHECK-NEXT: }
// CHECK-NEXT: backward () {
// CHECK-NEXT:   fuseops.return
// CHECK-NEXT: }
fuseops.fusible @empty_backward()
forward {
  fuseops.return
}
backward () {
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @argument_attributes(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>, %[[ARG1:.+]]: tensor<8xf32> {fuseops.frozen}, %[[ARG2:.+]]: tensor<2xi64> {fuseops.random_state}, %[[ARG3:.+]]: tensor<16xf32> {fuseops.state}) -> tensor<?x8xf32> attributes {symbol_max = 4096 : i64, symbol_min = 2 : i64}
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.mul %[[ARG0]], %[[ARG1]] : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @argument_attributes(%x: tensor<?x8xf32>, %g: tensor<8xf32> {fuseops.frozen}, %s: tensor<2xi64> {fuseops.random_state}, %h: tensor<16xf32> {fuseops.state}) -> tensor<?x8xf32> attributes {symbol_max = 4096 : i64, symbol_min = 2 : i64}
forward {
  %y = fuseops.mul %x, %g : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x8xf32>
  fuseops.return %y : tensor<?x8xf32>
}

// CHECK-LABEL: fuseops.fusible @save_only(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return save(%[[ARG0]]) : tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (saved %[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   fuseops.return %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @save_only(%x: tensor<4x8xf32>)
forward {
  fuseops.return save(%x) : tensor<4x8xf32>
}
backward (saved %x: tensor<4x8xf32>) {
  fuseops.return %x : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @none_among_gradients(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>, %[[ARG1:.+]]: tensor<4xi32>, %[[ARG2:.+]]: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xi32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.mul %[[ARG0]], %[[ARG2]] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[ARG1]] save(%[[ARG0]], %[[ARG2]]) : tensor<4x8xf32>, tensor<4xi32>, tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>, saved %[[ARG1:.+]]: tensor<4x8xf32>, saved %[[ARG2:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.mul %[[ARG0]], %[[ARG1]] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:   fuseops.return none, none, %[[V0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @none_among_gradients(%x: tensor<4x8xf32>, %i: tensor<4xi32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xi32>)
forward {
  %z = fuseops.mul %x, %y : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  fuseops.return %z, %i save(%x, %y) : tensor<4x8xf32>, tensor<4xi32>, tensor<4x8xf32>, tensor<4x8xf32>
}
backward (%dz: tensor<4x8xf32>, saved %x: tensor<4x8xf32>, saved %y: tensor<4x8xf32>) {
  %dy = fuseops.mul %dz, %x : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  fuseops.return none, none, %dy : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @frozen_results(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) attributes {frozen_results = array<i64: 0>}
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return %[[ARG0]], %[[ARG0]] : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf32>) {
// CHECK-NEXT:   fuseops.return %[[ARG0]] : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @frozen_results(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) attributes {frozen_results = array<i64: 0>}
forward {
  fuseops.return %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
}
backward (%d1: tensor<4x8xf32>) {
  fuseops.return %d1 : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @callee(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) attributes {sym_visibility = "private"}
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return %[[ARG0]], %[[ARG0]] : tensor<4x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @callee(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) attributes {sym_visibility = "private"}
forward {
  fuseops.return %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @apply(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.apply @callee(%[[ARG0]]) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK-NEXT:   fuseops.return %[[V0]]#1 : tensor<4x8xf32>
// CHECK-NEXT: }
fuseops.fusible @apply(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %y:2 = fuseops.apply @callee(%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  fuseops.return %y#1 : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @group(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>, %[[ARG1:.+]]: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]]:2 = fuseops.group @k row schedule {rows = 4 : i64, threads = 32 : i64} (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) {note = "kept"} : (tensor<?x8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
// CHECK-NEXT:     %[[V1:.+]] = fuseops.bias %[[ARG2]], %[[ARG3]] : tensor<?x8xf32>, tensor<8xf32>
// CHECK-NEXT:     %[[V2:.+]] = fuseops.relu %[[V1]] : tensor<?x8xf32>
// CHECK-NEXT:     fuseops.yield %[[V1]], %[[V2]] : tensor<?x8xf32>, tensor<?x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]]#0, %[[V0]]#1 : tensor<?x8xf32>, tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @group(%x: tensor<?x8xf32>, %b: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
forward {
  %y:2 = fuseops.group @k row schedule {rows = 4 : i64, threads = 32 : i64} (%a = %x, %c = %b) {note = "kept"} : (tensor<?x8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
    %z = fuseops.bias %a, %c : tensor<?x8xf32>, tensor<8xf32>
    %r = fuseops.relu %z : tensor<?x8xf32>
    fuseops.yield %z, %r : tensor<?x8xf32>, tensor<?x8xf32>
  }
  fuseops.return %y#0, %y#1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: fuseops.fusible @group_templates(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.group @a pointwise () : () -> () {
// CHECK-NEXT:     fuseops.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.group @b row_column () : () -> () {
// CHECK-NEXT:     fuseops.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.group @c library () : () -> () {
// CHECK-NEXT:     fuseops.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.group @d finalize () : () -> () {
// CHECK-NEXT:     fuseops.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return
// CHECK-NEXT: }
fuseops.fusible @group_templates(%x: tensor<4x8xf32>)
forward {
  fuseops.group @a pointwise () : () -> () {
    fuseops.yield
  }
  fuseops.group @b row_column () : () -> () {
    fuseops.yield
  }
  fuseops.group @c library () : () -> () {
    fuseops.yield
  }
  fuseops.group @d finalize () : () -> () {
    fuseops.yield
  }
  fuseops.return
}

// CHECK-LABEL: fuseops.fusible @pointwise(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xbf16>, %[[ARG1:.+]]: tensor<?x8xi32>, %[[ARG2:.+]]: tensor<f64>) -> (tensor<?x8xf8E5M2>, tensor<?x8xi64>, tensor<?x8xi1>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]]:3 = fuseops.pointwise (%[[ARG3:.+]] = %[[ARG0]], %[[ARG4:.+]] = %[[ARG1]], %[[ARG5:.+]] = %[[ARG2]]) : (tensor<?x8xbf16>, tensor<?x8xi32>, tensor<f64>) -> (tensor<?x8xf8E5M2>, tensor<?x8xi64>, tensor<?x8xi1>) {
// CHECK-NEXT:     %[[V1:.+]] = arith.truncf %[[ARG5]] : f64 to f32
// CHECK-NEXT:     %[[V2:.+]] = arith.addf %[[ARG3]], %[[V1]] : f32
// CHECK-NEXT:     %[[V3:.+]] = fuseops.linear_index : i64
// CHECK-NEXT:     %[[V4:.+]] = arith.extsi %[[ARG4]] : i32 to i64
// CHECK-NEXT:     %[[V5:.+]] = arith.addi %[[V3]], %[[V4]] : i64
// CHECK-NEXT:     %[[V6:.+]] = arith.cmpi sgt, %[[V3]], %[[V4]] : i64
// CHECK-NEXT:     fuseops.yield %[[V2]], %[[V5]], %[[V6]] : f32, i64, i1
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]]#0, %[[V0]]#1, %[[V0]]#2 : tensor<?x8xf8E5M2>, tensor<?x8xi64>, tensor<?x8xi1>
// CHECK-NEXT: }
fuseops.fusible @pointwise(%x: tensor<?x8xbf16>, %n: tensor<?x8xi32>, %s: tensor<f64>) -> (tensor<?x8xf8E5M2>, tensor<?x8xi64>, tensor<?x8xi1>)
forward {
  %y:3 = fuseops.pointwise (%a = %x, %b = %n, %c = %s) : (tensor<?x8xbf16>, tensor<?x8xi32>, tensor<f64>) -> (tensor<?x8xf8E5M2>, tensor<?x8xi64>, tensor<?x8xi1>) {
    %f = arith.truncf %c : f64 to f32
    %p = arith.addf %a, %f : f32
    %i = fuseops.linear_index : i64
    %w = arith.extsi %b : i32 to i64
    %j = arith.addi %i, %w : i64
    %t = arith.cmpi sgt, %i, %w : i64
    fuseops.yield %p, %j, %t : f32, i64, i1
  }
  fuseops.return %y#0, %y#1, %y#2 : tensor<?x8xf8E5M2>, tensor<?x8xi64>, tensor<?x8xi1>
}

// CHECK-LABEL: fuseops.fusible @launch(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.launch @kernels::@forward_0(%[[ARG0]]) {bytes = array<i64: 0, 64>, count_max_workers = 4 : i64, count_rows = array<i64: 0, 1>, count_rows_per_worker = 8 : i64, kernel_template = #fuseops<kernel_template finalize>, max_workers = 64 : i64, members = ["fuseops.relu"], rows = array<i64: 0, 1>, rows_per_worker = 8 : i64, shared_bytes = 16 : i64, threads_x = 32 : i64, threads_y = 4 : i64, unfused_bytes = array<i64: 0, 64>} : (tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @launch(%x: tensor<?x8xf32>) -> tensor<?x8xf32>
forward {
  %y = fuseops.launch @kernels::@forward_0(%x) {bytes = array<i64: 0, 64>, count_max_workers = 4 : i64, count_rows = array<i64: 0, 1>, count_rows_per_worker = 8 : i64, kernel_template = #fuseops<kernel_template finalize>, max_workers = 64 : i64, members = ["fuseops.relu"], rows = array<i64: 0, 1>, rows_per_worker = 8 : i64, shared_bytes = 16 : i64, threads_x = 32 : i64, threads_y = 4 : i64, unfused_bytes = array<i64: 0, 64>} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  fuseops.return %y : tensor<?x8xf32>
}
