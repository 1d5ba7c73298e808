// What is planned already stays as it is, with its schedule; bare operations around
// it are planned on their own, in an order that their operands allow.
// RUN: fuse-opt %s --pass-pipeline="builtin.module(fuseops.fusible(fuseops-forward-fusion,fuseops-backward-fusion))" | FileCheck %s
// RUN: fuse-opt %s --pass-pipeline="builtin.module(fuseops.fusible(fuseops-forward-fusion,fuseops-backward-fusion,fuseops-forward-fusion,fuseops-backward-fusion))" | FileCheck %s

// CHECK-LABEL: @around
// CHECK-NEXT:  forward {
// CHECK-NEXT:    %[[A:.+]] = fuseops.group @forward_0 pointwise (%{{.+}} = %{{.+}})
// CHECK-NEXT:      fuseops.silu
// CHECK-NEXT:      fuseops.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[B:.+]] = fuseops.group @mine pointwise schedule {vector = 4 : i64} (%{{.+}} = %[[A]])
// CHECK-NEXT:      fuseops.relu
// CHECK-NEXT:      fuseops.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[C:.+]] = fuseops.group @forward_2 pointwise (%{{.+}} = %[[B]])
// CHECK-NEXT:      fuseops.silu
// CHECK-NEXT:      fuseops.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    fuseops.return %[[C]]
// CHECK-NEXT:  }
fuseops.fusible @around(%x: tensor<?x64xf32>) -> tensor<?x64xf32>
forward {
  %a = fuseops.silu %x : tensor<?x64xf32>
  %y = fuseops.group @mine pointwise schedule {vector = 4} (%p = %a) : (tensor<?x64xf32>) -> tensor<?x64xf32> {
    %1 = fuseops.relu %p : tensor<?x64xf32>
    fuseops.yield %1 : tensor<?x64xf32>
  }
  %w = fuseops.silu %y : tensor<?x64xf32>
  fuseops.return %w : tensor<?x64xf32>
}
