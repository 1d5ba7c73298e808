// Rotary embedding of one head: many tokens take little memory.
// RUN: fuse-run %s --size 67 --check | FileCheck %s

// CHECK: check: ok
fuseops.fusible @rope(%x: tensor<?x1x64xbf16>, %c: tensor<?x1x32xf32> {fuseops.frozen}, %s: tensor<?x1x32xf32> {fuseops.frozen}) -> tensor<?x1x64xbf16>
forward {
  %y = fuseops.rotary_embedding %x, %c, %s pairs(half) : tensor<?x1x64xbf16>, tensor<?x1x32xf32>, tensor<?x1x32xf32>
  fuseops.return %y : tensor<?x1x64xbf16>
}
