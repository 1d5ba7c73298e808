// RUN: fuse-opt %s | fuse-opt --canonicalize | FileCheck %s
// RUN: fuse-opt %s --mlir-print-op-generic | fuse-opt --canonicalize | FileCheck %s

// CHECK-LABEL: fuseops.fusible @collectives(
// CHECK-SAME: %[[ARG0:.+]]: tensor<32x8xbf16>) -> tensor<32x8xbf16>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.all_gather %[[ARG0]] group("tp") size(4) : tensor<32x8xbf16> -> tensor<128x8xbf16>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.all_reduce %[[V0]] group("tp") size(4) : tensor<128x8xbf16> -> tensor<128x8xbf16>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.reduce_scatter %[[V1]] group("tp") size(4) : tensor<128x8xbf16> -> tensor<32x8xbf16>
// CHECK-NEXT:   fuseops.return %[[V2]] : tensor<32x8xbf16>
// CHECK-NEXT: }
fuseops.fusible @collectives(%x: tensor<32x8xbf16>) -> tensor<32x8xbf16>
forward {
  %0 = fuseops.all_gather %x group("tp") size(4) : tensor<32x8xbf16> -> tensor<128x8xbf16>
  %1 = fuseops.all_reduce %0 group("tp") size(4) : tensor<128x8xbf16> -> tensor<128x8xbf16>
  %2 = fuseops.reduce_scatter %1 group("tp") size(4) : tensor<128x8xbf16> -> tensor<32x8xbf16>
  fuseops.return %2 : tensor<32x8xbf16>
}

// CHECK-LABEL: fuseops.fusible @gather_of_scatter(
// CHECK-SAME: %[[ARG0:.+]]: tensor<32x8xf32>) -> tensor<32x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.all_reduce %[[ARG0]] group("tp") size(4) : tensor<32x8xf32> -> tensor<32x8xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<32x8xf32>
// CHECK-NEXT: }
fuseops.fusible @gather_of_scatter(%x: tensor<32x8xf32>) -> tensor<32x8xf32>
forward {
  %0 = fuseops.reduce_scatter %x group("tp") size(4) : tensor<32x8xf32> -> tensor<8x8xf32>
  %1 = fuseops.all_gather %0 group("tp") size(4) : tensor<8x8xf32> -> tensor<32x8xf32>
  fuseops.return %1 : tensor<32x8xf32>
}

// CHECK-LABEL: fuseops.fusible @gather_of_another_groups_scatter(
// CHECK-SAME: %[[ARG0:.+]]: tensor<32x8xf32>) -> tensor<32x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reduce_scatter %[[ARG0]] group("tp") size(4) : tensor<32x8xf32> -> tensor<8x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.all_gather %[[V0]] group("dp") size(4) : tensor<8x8xf32> -> tensor<32x8xf32>
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<32x8xf32>
// CHECK-NEXT: }
fuseops.fusible @gather_of_another_groups_scatter(%x: tensor<32x8xf32>) -> tensor<32x8xf32>
forward {
  %0 = fuseops.reduce_scatter %x group("tp") size(4) : tensor<32x8xf32> -> tensor<8x8xf32>
  %1 = fuseops.all_gather %0 group("dp") size(4) : tensor<8x8xf32> -> tensor<32x8xf32>
  fuseops.return %1 : tensor<32x8xf32>
}

// CHECK-LABEL: fuseops.fusible @scatter_that_another_reads(
// CHECK-SAME: %[[ARG0:.+]]: tensor<32x8xf32>) -> (tensor<32x8xf32>, tensor<8x8xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reduce_scatter %[[ARG0]] group("tp") size(4) : tensor<32x8xf32> -> tensor<8x8xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.all_gather %[[V0]] group("tp") size(4) : tensor<8x8xf32> -> tensor<32x8xf32>
// CHECK-NEXT:   fuseops.return %[[V1]], %[[V0]] : tensor<32x8xf32>, tensor<8x8xf32>
// CHECK-NEXT: }
fuseops.fusible @scatter_that_another_reads(%x: tensor<32x8xf32>) -> (tensor<32x8xf32>, tensor<8x8xf32>)
forward {
  %0 = fuseops.reduce_scatter %x group("tp") size(4) : tensor<32x8xf32> -> tensor<8x8xf32>
  %1 = fuseops.all_gather %0 group("tp") size(4) : tensor<8x8xf32> -> tensor<32x8xf32>
  fuseops.return %1, %0 : tensor<32x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: fuseops.fusible @one_process(
// CHECK-SAME: %[[ARG0:.+]]: tensor<32x8xf32>) -> tensor<32x8xf32>
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return %[[ARG0]] : tensor<32x8xf32>
// CHECK-NEXT: }
fuseops.fusible @one_process(%x: tensor<32x8xf32>) -> tensor<32x8xf32>
forward {
  %0 = fuseops.all_gather %x group("tp") size(1) : tensor<32x8xf32> -> tensor<32x8xf32>
  %1 = fuseops.all_reduce %0 group("tp") size(1) : tensor<32x8xf32> -> tensor<32x8xf32>
  %2 = fuseops.reduce_scatter %1 group("tp") size(1) : tensor<32x8xf32> -> tensor<32x8xf32>
  fuseops.return %2 : tensor<32x8xf32>
}
