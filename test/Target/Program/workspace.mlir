// Intermediates of one shape share two slots: a result may not overwrite what
// its kernel reads. Each slot has one alignment (256 bytes) more than it needs.
// RUN: fuse-compile %s --target=reference --report | FileCheck %s
// RUN: fuse-run %s --target=reference --size 9 --check

// CHECK: "name": "forward"
// CHECK: "workspace_bytes": [
// CHECK-NEXT: 512,
// CHECK-NEXT: 128
fuseops.fusible @f(%x: tensor<?x8xf64> {fuseops.frozen}) -> tensor<?x8xf64>
forward {
  %0 = fuseops.scale %x by(2.0) : tensor<?x8xf64>
  %1 = fuseops.relu %0 : tensor<?x8xf64>
  %2 = fuseops.silu %1 : tensor<?x8xf64>
  %3 = fuseops.relu %2 : tensor<?x8xf64>
  %4 = fuseops.silu %3 : tensor<?x8xf64>
  fuseops.return %4 : tensor<?x8xf64>
}
