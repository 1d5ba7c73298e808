// Blocks along a row in kernels of rows: after the statistics of the row, beside
// sums over the columns, and read back. The last block of a row is shorter.
// RUN: fuse-compile %s --target=cpu:x86-64-v4 --compile-to=fusion | FileCheck %s
// RUN: fuse-run %s --size 1 --check
// RUN: fuse-run %s --size 7 --check
// RUN: fuse-run %s --size 130 --check

// CHECK-NOT: fuseops.group {{.*}} tile
// CHECK-DAG: fuseops.group {{.*}} row (
// CHECK-DAG: fuseops.group {{.*}} row_column (

!blocks = !fuseops.quantized<?x424xf8E4M3FN, scale = block<1x128>, copies = row>
!small = !fuseops.quantized<?x424xf8E5M2, scale = mx<1x32>, copies = row>
!odd = !fuseops.quantized<?x201xf8E4M3FN, scale = block<1x128>, copies = row>
!x = tensor<?x424xbf16>
!o = tensor<?x201xf32>
!row = tensor<?x1xf32>

fuseops.fusible @main(%x: !x {fuseops.frozen}, %r: !x {fuseops.frozen}, %g: tensor<424xbf16> {fuseops.frozen}, %o: !o {fuseops.frozen}, %p: !o {fuseops.frozen})
    -> (!x, !blocks, !small, !odd, tensor<201xf32>, !o) attributes {frozen_results = array<i64: 0, 1, 2, 3, 4, 5>}
forward {
  %s = fuseops.add %x, %r : !x, !x -> !x
  %y, %rstd = fuseops.rms_norm %s gamma(%g) eps(1.0e-6) : (!x, tensor<424xbf16>) -> (!x, !row)
  %q = fuseops.quantize %y {power_of_two} : (!x) -> !blocks
  %m = fuseops.quantize %r : (!x) -> !small
  %d = fuseops.silu_grad %o, %p : !o
  %b = fuseops.reduce_rows sum %d : !o -> tensor<201xf32>
  %t = fuseops.quantize %d : (!o) -> !odd
  %u = fuseops.dequantize %t : !odd -> !o
  %c = fuseops.softmax %u : !o -> !o
  fuseops.return %s, %q, %m, %t, %b, %c : !x, !blocks, !small, !odd, tensor<201xf32>, !o
}
