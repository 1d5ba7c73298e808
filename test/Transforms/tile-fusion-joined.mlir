// Tiles write parts of one width to their places in what is joined, and in its
// transposed copy.
// RUN: fuse-opt %s --fuseops-propagate-quantization --fuseops-expand-quantized --fuseops-forward-fusion | FileCheck %s
// RUN: fuse-opt %s --mlir-disable-threading --fuseops-propagate-quantization --fuseops-expand-quantized --fuseops-forward-fusion --remarks-filter-missed=fuseops-forward-fusion -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: fuseops.concat with fuseops.permute: condition 5, one moves elements of what the other computes
// RUN: fuse-compile %s --entry=gated --target=cuda:sm_90a --compile-to=lowering -o %t
// RUN: fuse-compile %s --entry=alone --target=cuda:sm_90a --compile-to=lowering -o %t
// RUN: fuse-compile %s --entry=widths --target=cuda:sm_90a --compile-to=lowering -o %t
// RUN: fuse-compile %s --entry=reshaped --target=cuda:sm_90a --compile-to=lowering -o %t

// CHECK-LABEL: fuseops.fusible @gated(
// CHECK: fuseops.group @forward_0 tile (%{{.+}} = %arg0, %{{.+}} = %arg1) : (tensor<?x256xbf16>, tensor<?x256xbf16>) -> (tensor<?x512xf8E4M3FN>, tensor<4x?xf32>, tensor<512x?xf8E4M3FN>, tensor<?x512xf32, #fuseops.blocks<128>>)
// CHECK-COUNT-4: fuseops.reduce_blocks
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
!part = tensor<?x256xbf16>
!whole = tensor<?x512xbf16>
!blocks = !fuseops.quantized<?x512xf8E4M3FN, scale = block<1x128>, copies = row_col>
fuseops.fusible @gated(%x: !part, %y: !part) -> !blocks
attributes {frozen_results = array<i64: 0>} forward {
  %a = fuseops.mul %x, %y : !part, !part -> !part
  %b = fuseops.add %x, %y : !part, !part -> !part
  %c = fuseops.concat %a, %b dim(1) : (!part, !part) -> !whole
  %q = fuseops.quantize %c : (!whole) -> !blocks
  fuseops.return %q : !blocks
}

// What is only joined and transposed is read once too.
// CHECK-LABEL: fuseops.fusible @alone(
// CHECK: fuseops.group @forward_0 tile
// CHECK-NOT: fuseops.group
// CHECK: fuseops.return
fuseops.fusible @alone(%x: !part, %y: !part) -> (!whole, tensor<512x?xbf16>)
attributes {frozen_results = array<i64: 0, 1>} forward {
  %c = fuseops.concat %x, %y dim(1) : (!part, !part) -> !whole
  %d = fuseops.permute %c order[1, 0] : !whole -> tensor<512x?xbf16>
  fuseops.return %c, %d : !whole, tensor<512x?xbf16>
}

// Tiles of two widths there are not.
// CHECK-LABEL: fuseops.fusible @widths(
// CHECK-NOT: tile
// CHECK: fuseops.return
fuseops.fusible @widths(%x: !part, %y: tensor<?x128xbf16>) -> tensor<384x?xbf16>
attributes {frozen_results = array<i64: 0>} forward {
  %a = fuseops.silu %x : !part
  %b = fuseops.silu %y : tensor<?x128xbf16>
  %c = fuseops.concat %a, %b dim(1) : (!part, tensor<?x128xbf16>) -> tensor<?x384xbf16>
  %d = fuseops.permute %c order[1, 0] : tensor<?x384xbf16> -> tensor<384x?xbf16>
  fuseops.return %d : tensor<384x?xbf16>
}

// What is joined under another shape is read from memory.
// CHECK-LABEL: fuseops.fusible @reshaped(
// CHECK: fuseops.group @forward_0 pointwise
// CHECK: fuseops.group @forward_1
// CHECK-NEXT: fuseops.permute
fuseops.fusible @reshaped(%x: tensor<2x64x32xbf16>, %y: tensor<2x64x32xbf16>) -> tensor<64x128xbf16>
attributes {frozen_results = array<i64: 0>} forward {
  %a = fuseops.silu %x : tensor<2x64x32xbf16>
  %b = fuseops.silu %y : tensor<2x64x32xbf16>
  %c = fuseops.concat %a, %b dim(2) : (tensor<2x64x32xbf16>, tensor<2x64x32xbf16>) -> tensor<2x64x64xbf16>
  %r = fuseops.reshape %c : tensor<2x64x64xbf16> -> tensor<128x64xbf16>
  %d = fuseops.permute %r order[1, 0] : tensor<128x64xbf16> -> tensor<64x128xbf16>
  fuseops.return %d : tensor<64x128xbf16>
}
