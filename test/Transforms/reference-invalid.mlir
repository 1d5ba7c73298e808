// RUN: fuse-opt %s --fuseops-reference --split-input-file --verify-diagnostics

fuseops.fusible @reads_bits(%x: tensor<4x8xf32>) -> tensor<4x8xi32>
forward {
  %0 = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xi32> {
    // expected-error @below {{'arith.bitcast' op reads the bits of an f32 value, so that the reference, which computes in f64, cannot follow it}}
    %b = arith.bitcast %a : f32 to i32
    fuseops.yield %b : i32
  }
  fuseops.return %0 : tensor<4x8xi32>
}

// -----

fuseops.fusible @writes_bits(%x: tensor<4x8xi32>) -> tensor<4x8xf32>
forward {
  %0 = fuseops.pointwise (%a = %x) : (tensor<4x8xi32>) -> tensor<4x8xf32> {
    // expected-error @below {{'arith.bitcast' op reads the bits of an f32 value, so that the reference, which computes in f64, cannot follow it}}
    %b = arith.bitcast %a : i32 to f32
    fuseops.yield %b : f32
  }
  fuseops.return %0 : tensor<4x8xf32>
}
