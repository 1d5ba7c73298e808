// Rotary embedding of 32 heads of 128, with an angle for each of `?` tokens.

fuseops.fusible @rope(%x: tensor<?x32x128xbf16>, %c: tensor<?x1x64xf32> {fuseops.frozen}, %s: tensor<?x1x64xf32> {fuseops.frozen}) -> tensor<?x32x128xbf16>
attributes {frozen_results = array<i64: 0>}
forward {
  %y = fuseops.rotary_embedding %x, %c, %s pairs(half) : tensor<?x32x128xbf16>, tensor<?x1x64xf32>, tensor<?x1x64xf32>
  fuseops.return %y : tensor<?x32x128xbf16>
}
