// Loss of each row and the gradient of their sum in one direction, as a training
// step that holds no logits does it.

fuseops.fusible @cross_entropy_fwd_bwd(%x: tensor<?x131072xbf16>, %t: tensor<?x1xi64>) -> (tensor<?x1xf32>, tensor<?x131072xbf16>)
attributes {frozen_results = array<i64: 0, 1>}
forward {
  %loss, %l = fuseops.cross_entropy %x, %t ignore_index(-100) label_smoothing(0.0) : tensor<?x131072xbf16>, tensor<?x1xi64> -> (tensor<?x1xf32>, tensor<?x1xf32>)
  %dx = fuseops.pointwise (%p = %x, %c = %t, %s = %l) : (tensor<?x131072xbf16>, tensor<?x1xi64>, tensor<?x1xf32>) -> tensor<?x131072xbf16> {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %shifted = arith.subf %p, %s : f32
    %e = math.exp %shifted : f32
    %j = fuseops.column_index : i64
    %hit = arith.cmpi eq, %j, %c : i64
    %target = arith.select %hit, %one, %zero : f32
    %d = arith.subf %e, %target : f32
    fuseops.yield %d : f32
  }
  fuseops.return %loss, %dx : tensor<?x1xf32>, tensor<?x131072xbf16>
}
