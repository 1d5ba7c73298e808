// Many values of blocks: as many kernels as give each a room in shared memory.
// RUN: fuse-opt %s --fuseops-expand-quantized --fuseops-forward-fusion | FileCheck %s
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-expand-quantized --fuseops-forward-fusion --remarks-filter-missed=fuseops-forward-fusion -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: fuse-compile %s --target=cuda:sm_90a --compile-to=lowering -o %t
// REMARK: condition 7, one tile kernel of both has no room in shared memory

!q = !fuseops.quantized<?x256xf8E4M3FN, scale = block<1x128>, copies = row_col>

// CHECK: fuseops.group @forward_0 tile
// CHECK: fuseops.group @forward_1 tile
// CHECK-NOT: fuseops.group
fuseops.fusible @many(%x: tensor<?x256xbf16>, %x0: tensor<?x256xbf16>, %x1: tensor<?x256xbf16>, %x2: tensor<?x256xbf16>, %x3: tensor<?x256xbf16>, %x4: tensor<?x256xbf16>, %x5: tensor<?x256xbf16>, %x6: tensor<?x256xbf16>, %x7: tensor<?x256xbf16>, %x8: tensor<?x256xbf16>, %x9: tensor<?x256xbf16>) -> (!q, !q, !q, !q, !q, !q, !q, !q, !q, !q)
forward {
  %y0 = fuseops.mul %x, %x0 : tensor<?x256xbf16>, tensor<?x256xbf16> -> tensor<?x256xbf16>
  %q0 = fuseops.quantize %y0 : (tensor<?x256xbf16>) -> !q
  %y1 = fuseops.mul %x, %x1 : tensor<?x256xbf16>, tensor<?x256xbf16> -> tensor<?x256xbf16>
  %q1 = fuseops.quantize %y1 : (tensor<?x256xbf16>) -> !q
  %y2 = fuseops.mul %x, %x2 : tensor<?x256xbf16>, tensor<?x256xbf16> -> tensor<?x256xbf16>
  %q2 = fuseops.quantize %y2 : (tensor<?x256xbf16>) -> !q
  %y3 = fuseops.mul %x, %x3 : tensor<?x256xbf16>, tensor<?x256xbf16> -> tensor<?x256xbf16>
  %q3 = fuseops.quantize %y3 : (tensor<?x256xbf16>) -> !q
  %y4 = fuseops.mul %x, %x4 : tensor<?x256xbf16>, tensor<?x256xbf16> -> tensor<?x256xbf16>
  %q4 = fuseops.quantize %y4 : (tensor<?x256xbf16>) -> !q
  %y5 = fuseops.mul %x, %x5 : tensor<?x256xbf16>, tensor<?x256xbf16> -> tensor<?x256xbf16>
  %q5 = fuseops.quantize %y5 : (tensor<?x256xbf16>) -> !q
  %y6 = fuseops.mul %x, %x6 : tensor<?x256xbf16>, tensor<?x256xbf16> -> tensor<?x256xbf16>
  %q6 = fuseops.quantize %y6 : (tensor<?x256xbf16>) -> !q
  %y7 = fuseops.mul %x, %x7 : tensor<?x256xbf16>, tensor<?x256xbf16> -> tensor<?x256xbf16>
  %q7 = fuseops.quantize %y7 : (tensor<?x256xbf16>) -> !q
  %y8 = fuseops.mul %x, %x8 : tensor<?x256xbf16>, tensor<?x256xbf16> -> tensor<?x256xbf16>
  %q8 = fuseops.quantize %y8 : (tensor<?x256xbf16>) -> !q
  %y9 = fuseops.mul %x, %x9 : tensor<?x256xbf16>, tensor<?x256xbf16> -> tensor<?x256xbf16>
  %q9 = fuseops.quantize %y9 : (tensor<?x256xbf16>) -> !q
  fuseops.return %q0, %q1, %q2, %q3, %q4, %q5, %q6, %q7, %q8, %q9 : !q, !q, !q, !q, !q, !q, !q, !q, !q, !q
}
