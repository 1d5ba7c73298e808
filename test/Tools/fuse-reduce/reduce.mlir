// The reducer keeps what the command needs to fail, and nothing else: the gelu
// of an applied fusible, on a tensor of one element.
// RUN: fuse-reduce %s --test='! grep -q fuseops.gelu' 2> %t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=LOG < %t.log
// RUN: not fuse-reduce %s --test='! grep -q fuseops.silu' 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: not fuse-reduce %s --test='! grep -q fuseops.gelu' --match=nothing 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: not fuse-reduce %s --test=false --match='(' 2>&1 | FileCheck %s --check-prefix=REGEX
// RUN: not fuse-reduce %s --test=false -o %t.no/folder 2>&1 | FileCheck %s --check-prefix=OUTPUT
// The second kind of fault: two operations on the same value.
// RUN: fuse-reduce %s --test='! grep -q reduce_rows' | FileCheck %s --check-prefix=ROWS

// CHECK: fuseops.fusible @main(%[[X:.+]]: tensor<1x1xf32>) -> tensor<1x1xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT: %[[Y:.+]] = fuseops.gelu %[[X]] approximate(tanh) : tensor<1x1xf32>
// CHECK-NEXT: fuseops.return %[[Y]] : tensor<1x1xf32>
// CHECK-NOT: fusible

// LOG: kept {{[0-9]+}} of {{[0-9]+}} changes
// RIGHT: error: expected the command to fail on `{{.*}}reduce.mlir`, but it does not
// REGEX: error: `(` is no regular expression:
// OUTPUT: error: cannot write `{{.*}}folder`: No such file or directory

// ROWS: fuseops.fusible @main(%[[X:.+]]: tensor<1x1xf32>) -> tensor<1xf32>
// ROWS-NEXT: forward {
// ROWS-NEXT: %[[Y:.+]] = fuseops.reduce_rows sum %[[X]] : tensor<1x1xf32> -> tensor<1xf32>
// ROWS-NEXT: fuseops.return %[[Y]] : tensor<1xf32>

fuseops.fusible @activation(%x: tensor<?x96xf32>, %y: tensor<?x96xf32>) -> tensor<?x96xf32>
    attributes {sym_visibility = "private"}
forward {
  %0 = fuseops.mul %x, %y : tensor<?x96xf32>, tensor<?x96xf32> -> tensor<?x96xf32>
  %1 = fuseops.gelu %0 approximate(tanh) : tensor<?x96xf32>
  fuseops.return %1 : tensor<?x96xf32>
}
fuseops.fusible @main(%x: tensor<?x96xf32>, %b: tensor<96xf32>, %w: tensor<40x96xf32>) -> (tensor<96xf32>, tensor<?x96xf32>, tensor<?x40xf32>)
forward {
  %0 = fuseops.bias %x, %b : tensor<?x96xf32>, tensor<96xf32>
  %1 = fuseops.apply @activation(%0, %x) : (tensor<?x96xf32>, tensor<?x96xf32>) -> tensor<?x96xf32>
  %2 = fuseops.pointwise (%a = %1) : (tensor<?x96xf32>) -> tensor<?x96xf32> {
    %t = math.tanh %a : f32
    %s = arith.mulf %t, %a : f32
    fuseops.yield %s : f32
  }
  %3 = fuseops.reduce_rows sum %2 : tensor<?x96xf32> -> tensor<96xf32>
  %4 = fuseops.linear %2, %w : (tensor<?x96xf32>, tensor<40x96xf32>) -> tensor<?x40xf32>
  fuseops.return %3, %2, %4 : tensor<96xf32>, tensor<?x96xf32>, tensor<?x40xf32>
}
