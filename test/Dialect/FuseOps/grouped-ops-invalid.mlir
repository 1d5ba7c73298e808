// RUN: fuse-opt %s --split-input-file --verify-diagnostics

fuseops.fusible @f(%x: tensor<4x8xf32>, %w: tensor<3x8x2xf32>, %n: tensor<3xi64>)
forward {
  // expected-error @below {{'fuseops.grouped_matmul' op expected `rhs` to have shape [G, N, 8], but got 'tensor<3x8x2xf32>'}}
  %y = fuseops.grouped_matmul %x, %w sizes(%n) transpose_rhs : tensor<4x8xf32>, tensor<3x8x2xf32>, tensor<3xi64> -> tensor<4x2xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %n: tensor<3xi64>)
forward {
  // expected-error @below {{'fuseops.grouped_matmul' op expected `rhs` to have shape [G, 8, N], but got 'tensor<8x2xf32>'}}
  %y = fuseops.grouped_matmul %x, %w sizes(%n) : tensor<4x8xf32>, tensor<8x2xf32>, tensor<3xi64> -> tensor<4x2xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %w: tensor<2x8x2xf32>, %n: tensor<3xi64>)
forward {
  // expected-error @below {{'fuseops.grouped_matmul' op expected `sizes` to be tensor<2xi64>, one size a group, but got 'tensor<3xi64>'}}
  %y = fuseops.grouped_matmul %x, %w sizes(%n) : tensor<4x8xf32>, tensor<2x8x2xf32>, tensor<3xi64> -> tensor<4x2xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %w: tensor<5x2xf32>, %n: tensor<3xi64>)
forward {
  // expected-error @below {{'fuseops.grouped_matmul' op expected operands with as many rows, but got 'tensor<4x8xf32>' and 'tensor<5x2xf32>'}}
  %y = fuseops.grouped_matmul %x, %w sizes(%n) transpose_lhs : tensor<4x8xf32>, tensor<5x2xf32>, tensor<3xi64> -> tensor<3x8x2xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %w: tensor<4x2xf32>, %n: tensor<3xi64>)
forward {
  // expected-error @below {{'fuseops.grouped_matmul' op expected `result` to have shape [G, 8, 2], but got 'tensor<8x2xf32>'}}
  %y = fuseops.grouped_matmul %x, %w sizes(%n) transpose_lhs : tensor<4x8xf32>, tensor<4x2xf32>, tensor<3xi64> -> tensor<8x2xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %n: tensor<3xi64>)
forward {
  // expected-error @below {{'fuseops.grouped_matmul' op expected one operand to be transposed at most: with `transpose_lhs` both hold rows}}
  %y = fuseops.grouped_matmul %x, %x sizes(%n) transpose_lhs transpose_rhs : tensor<4x8xf32>, tensor<4x8xf32>, tensor<3xi64> -> tensor<3x8x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %w: tensor<3x8x2xf32>, %n: tensor<3xi64>)
forward {
  // expected-error @below {{'fuseops.grouped_linear' op expected `weight` to have shape [G, N, 8], but got 'tensor<3x8x2xf32>'}}
  %y = fuseops.grouped_linear %x, %w sizes(%n) : (tensor<4x8xf32>, tensor<3x8x2xf32>, tensor<3xi64>) -> tensor<4x2xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %w: tensor<3x2x8xf32>, %n: tensor<3xi64>, %b: tensor<2xf32>)
forward {
  // expected-error @below {{'fuseops.grouped_linear' op expected `bias` to have shape [3, 2], but got 'tensor<2xf32>'}}
  %y = fuseops.grouped_linear %x, %w sizes(%n) bias(%b) : (tensor<4x8xf32>, tensor<3x2x8xf32>, tensor<3xi64>, tensor<2xf32>) -> tensor<4x2xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %w: tensor<3x2x8xf32>, %n: tensor<3xi64>, %s: tensor<4x1xf32>)
forward {
  // expected-error @below {{'fuseops.grouped_linear' op expected a bias where there is a `bias_scale`}}
  %y = fuseops.grouped_linear %x, %w sizes(%n) bias_scale(%s) : (tensor<4x8xf32>, tensor<3x2x8xf32>, tensor<3xi64>, tensor<4x1xf32>) -> tensor<4x2xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>, %w: tensor<3x2x8xf32>, %n: tensor<3xi64>)
forward {
  // expected-error @below {{'fuseops.grouped_linear' op expected `result` to have the shape of 'tensor<4x2xf32>', but got 'tensor<4x8xf32>'}}
  %y = fuseops.grouped_linear %x, %w sizes(%n) : (tensor<4x8xf32>, tensor<3x2x8xf32>, tensor<3xi64>) -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf8E4M3FN>, %w: tensor<3x2x8xbf16>, %n: tensor<3xi64>)
forward {
  // expected-error @below {{'fuseops.grouped_matmul' op expected both operands to be FP8 or none, but got 'tensor<4x8xf8E4M3FN>' and 'tensor<3x2x8xbf16>'}}
  %y = fuseops.grouped_matmul %x, %w sizes(%n) transpose_rhs : tensor<4x8xf8E4M3FN>, tensor<3x2x8xbf16>, tensor<3xi64> -> tensor<4x2xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf8E4M3FN>, %w: tensor<3x8x2xf8E5M2>, %n: tensor<3xi64>)
forward {
  // expected-error @below {{'fuseops.grouped_matmul' op expected FP8 operands with `transpose_rhs` only, so that what is contracted lies side by side}}
  %y = fuseops.grouped_matmul %x, %w sizes(%n) : tensor<4x8xf8E4M3FN>, tensor<3x8x2xf8E5M2>, tensor<3xi64> -> tensor<4x2xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf8E4M3FN>, %y: tensor<4x2xf8E4M3FN>, %n: tensor<3xi64>)
forward {
  // expected-error @below {{'fuseops.grouped_matmul' op expected FP8 operands with `transpose_rhs` only, so that what is contracted lies side by side}}
  %w = fuseops.grouped_matmul %x, %y sizes(%n) transpose_lhs : tensor<4x8xf8E4M3FN>, tensor<4x2xf8E4M3FN>, tensor<3xi64> -> tensor<3x8x2xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xbf16>, %w: tensor<3x2x8xbf16>, %n: tensor<3xi64>)
forward {
  // expected-error @below {{'fuseops.grouped_matmul' op expected FP8 operands with `fast_accumulate`, but got 'tensor<4x8xbf16>'}}
  %y = fuseops.grouped_matmul %x, %w sizes(%n) transpose_rhs {fast_accumulate} : tensor<4x8xbf16>, tensor<3x2x8xbf16>, tensor<3xi64> -> tensor<4x2xf32>
  fuseops.return
}
