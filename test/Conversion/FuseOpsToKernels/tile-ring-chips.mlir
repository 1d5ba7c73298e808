// Where asynchronous copies are: since sm_80, and in as much shared memory as the
// chip has. Two slots of 64 KB fit into the 163 KB of sm_80, not into the 99 KB of
// sm_89.
// RUN: fuse-opt %s --convert-fuseops-to-kernels="target=cuda chip=sm_80" | FileCheck %s
// RUN: not fuse-opt %s --convert-fuseops-to-kernels="target=cuda chip=sm_89" 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: not fuse-opt %s --convert-fuseops-to-kernels="target=cuda chip=sm_75" 2>&1 | FileCheck %s --check-prefix=OLD

// CHECK: fuseops.launch @kernels::@k({{.*}}shared_bytes = 131072 : i64
// SMALL: error: 'fuseops.group' op expected schedule `stages` whose slots, 65536 bytes each, fit, for all `residents`, into the 101376 bytes of shared memory of sm_89, but got 163840
// OLD: error: 'fuseops.group' op expected schedule `stages` on sm_80 or later, which copies asynchronously, but got sm_75
fuseops.fusible @main(%x: tensor<?x256xbf16>, %z: tensor<?x256xbf16>) -> tensor<256x?xbf16>
forward {
  %y = fuseops.group @k tile schedule {stages = 2 : i64} (%a = %x, %c = %z) : (tensor<?x256xbf16>, tensor<?x256xbf16>) -> tensor<256x?xbf16> {
    %t = fuseops.mul %a, %c : tensor<?x256xbf16>, tensor<?x256xbf16> -> tensor<?x256xbf16>
    %r = fuseops.permute %t order[1, 0] : tensor<?x256xbf16> -> tensor<256x?xbf16>
    fuseops.yield %r : tensor<256x?xbf16>
  }
  fuseops.return %y : tensor<256x?xbf16>
}
