// Parts with different numbers of columns are joined and written transposed: not
// in one kernel of tiles, which wrote past the narrower part's end.
// RUN: fuse-run %s --entry=f --target=cpu --size 129 --check
// RUN: fuse-run %s --entry=equal --target=cpu --size 129 --check
fuseops.fusible @f(%a: tensor<?x64xbf16>, %b: tensor<?x32xbf16>) -> tensor<96x?xbf16>
attributes {frozen_results = array<i64: 0>} forward {
  %0 = fuseops.silu %a : tensor<?x64xbf16>
  %1 = fuseops.silu %b : tensor<?x32xbf16>
  %c = fuseops.concat %0, %1 dim(1) : (tensor<?x64xbf16>, tensor<?x32xbf16>) -> tensor<?x96xbf16>
  %d = fuseops.permute %c order[1, 0] : tensor<?x96xbf16> -> tensor<96x?xbf16>
  fuseops.return %d : tensor<96x?xbf16>
}

// Parts of equal widths are in one, each in its place.
fuseops.fusible @equal(%a: tensor<?x32xbf16>, %b: tensor<?x32xbf16>) -> tensor<64x?xbf16>
attributes {frozen_results = array<i64: 0>} forward {
  %0 = fuseops.silu %a : tensor<?x32xbf16>
  %1 = fuseops.silu %b : tensor<?x32xbf16>
  %c = fuseops.concat %0, %1 dim(1) : (tensor<?x32xbf16>, tensor<?x32xbf16>) -> tensor<?x64xbf16>
  %d = fuseops.permute %c order[1, 0] : tensor<?x64xbf16> -> tensor<64x?xbf16>
  fuseops.return %d : tensor<64x?xbf16>
}
