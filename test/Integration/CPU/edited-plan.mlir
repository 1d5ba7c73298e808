// What --compile-to=fusion printed, edited by hand, gives what the program gives:
// the first @f has its relu moved into the other group, the second each operation
// in a group of its own, three of which have one name, the third a bare operation
// on each side of a group.
// RUN: fuse-run %s --entry=moved --target=cpu --size 5 --check
// RUN: fuse-run %s --entry=split --target=cpu --size 5 --check
// RUN: fuse-run %s --entry=mixed --target=cpu --size 5 --check

fuseops.fusible @moved(%x: tensor<?x64xf32>, %b: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<64xf32>) attributes {frozen_results = array<i64: 0, 1>}
forward {
  %y:2 = fuseops.group @forward_0 pointwise (%p = %x, %q = %b) : (tensor<?x64xf32>, tensor<64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
    %1 = fuseops.bias %p, %q : tensor<?x64xf32>, tensor<64xf32>
    %2 = fuseops.relu %1 : tensor<?x64xf32>
    fuseops.yield %1, %2 : tensor<?x64xf32>, tensor<?x64xf32>
  }
  %z = fuseops.group @forward_1 row_column schedule {workers = 3} (%p = %y#1) : (tensor<?x64xf32>) -> tensor<64xf32> {
    %2 = fuseops.reduce_rows sum %p : tensor<?x64xf32> -> tensor<64xf32>
    fuseops.yield %2 : tensor<64xf32>
  }
  fuseops.return %y#0, %z : tensor<?x64xf32>, tensor<64xf32>
}

fuseops.fusible @split(%x: tensor<?x64xf32>) -> tensor<64xf32> attributes {frozen_results = array<i64: 0>}
forward {
  %y = fuseops.group @k pointwise (%p = %x) : (tensor<?x64xf32>) -> tensor<?x64xf32> {
    %1 = fuseops.relu %p : tensor<?x64xf32>
    fuseops.yield %1 : tensor<?x64xf32>
  }
  %z = fuseops.group @k row (%p = %y) : (tensor<?x64xf32>) -> tensor<?x64xf32> {
    %1 = fuseops.silu %p : tensor<?x64xf32>
    fuseops.yield %1 : tensor<?x64xf32>
  }
  // Its finalize kernel comes between the names of the others.
  %s = fuseops.group @k row_column (%p = %z) : (tensor<?x64xf32>) -> tensor<64xf32> {
    %1 = fuseops.reduce_rows sum %p : tensor<?x64xf32> -> tensor<64xf32>
    fuseops.yield %1 : tensor<64xf32>
  }
  %w = fuseops.group @k_finalize pointwise (%p = %s) : (tensor<64xf32>) -> tensor<64xf32> {
    %1 = fuseops.silu %p : tensor<64xf32>
    fuseops.yield %1 : tensor<64xf32>
  }
  fuseops.return %w : tensor<64xf32>
}

fuseops.fusible @mixed(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {frozen_results = array<i64: 0>}
forward {
  %a = fuseops.silu %x : tensor<?x64xf32>
  %y = fuseops.group @forward_0 pointwise (%p = %a) : (tensor<?x64xf32>) -> tensor<?x64xf32> {
    %1 = fuseops.relu %p : tensor<?x64xf32>
    fuseops.yield %1 : tensor<?x64xf32>
  }
  %w = fuseops.silu %y : tensor<?x64xf32>
  fuseops.return %w : tensor<?x64xf32>
}
