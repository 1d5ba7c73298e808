// Conditions 2 and 5 depend on the chip.
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-expand-contractions --remarks-filter=fuseops-expand-contractions -o %t 2>&1 | FileCheck %s --check-prefixes=NONE
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-expand-contractions=chip=sm_80 --remarks-filter=fuseops-expand-contractions -o %t 2>&1 | FileCheck %s --check-prefixes=NONE
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-expand-contractions=chip=sm_89 --remarks-filter=fuseops-expand-contractions -o %t 2>&1 | FileCheck %s --check-prefixes=OTHER
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-expand-contractions=chip=sm_90a --remarks-filter=fuseops-expand-contractions -o %t 2>&1 | FileCheck %s --check-prefixes=HOPPER
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-expand-contractions=chip=sm_100 --remarks-filter=fuseops-expand-contractions -o %t 2>&1 | FileCheck %s --check-prefixes=OTHER
// RUN: not fuse-opt %s --fuseops-expand-contractions=chip=hopper -o %t 2>&1 | FileCheck %s --check-prefixes=CHIP

// CHIP: error: expected a chip such as `sm_90a`, but got `hopper`

!tensor = !fuseops.quantized<32x64xf8E4M3FN, scale = per_tensor, copies = row>
!row = !fuseops.quantized<32x64xf8E4M3FN, scale = per_row, copies = row>
!vector = !fuseops.quantized<32x64xf8E4M3FN, scale = block<1x128>, copies = row>
!block = !fuseops.quantized<32x64xf8E4M3FN, scale = block<128x128>, copies = row>

fuseops.fusible @main(%t: !tensor, %r: !row, %v: !vector, %b: !block) -> (tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>)
forward {
  // NONE: condition 2, the target has no FP8 products
  // OTHER: multiplied in FP8
  // HOPPER: multiplied in FP8
  %0 = fuseops.linear %t, %t : (!tensor, !tensor) -> tensor<32x32xbf16>
  // NONE: condition 2
  // OTHER: condition 5, the library has no product of these scales on this chip
  // HOPPER: multiplied in FP8
  %1 = fuseops.linear %r, %r : (!row, !row) -> tensor<32x32xbf16>
  // NONE: condition 2
  // OTHER: condition 5
  // HOPPER: multiplied in FP8
  %2 = fuseops.linear %v, %v : (!vector, !vector) -> tensor<32x32xbf16>
  // NONE: condition 2
  // OTHER: condition 5
  // HOPPER: multiplied in FP8
  %3 = fuseops.linear %v, %b : (!vector, !block) -> tensor<32x32xbf16>
  // NONE: condition 2
  // OTHER: condition 5
  // HOPPER: multiplied in FP8
  %4 = fuseops.linear %b, %v : (!block, !vector) -> tensor<32x32xbf16>
  fuseops.return %0, %1, %2, %3, %4 : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>
}
