// RUN: fuse-opt %s --split-input-file --verify-diagnostics

// A layer reads row copies.
fuseops.fusible @f(%x: !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = col>, %w: tensor<2x8xbf16>) -> tensor<4x2xbf16>
forward {
  // expected-error @below {{'fuseops.linear' op expected `input` to have the copy `row`, which the product reads, but got '!fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = col>'}}
  %y = fuseops.linear %x, %w : (!fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = col>, tensor<2x8xbf16>) -> tensor<4x2xbf16>
  fuseops.return %y : tensor<4x2xbf16>
}

// -----

fuseops.fusible @f(%x: tensor<4x8xbf16>, %w: !fuseops.quantized<2x8xf8E4M3FN, scale = per_row, copies = col>) -> tensor<4x2xbf16>
forward {
  // expected-error @below {{'fuseops.linear' op expected `weight` to have the copy `row`, which the product reads, but got '!fuseops.quantized<2x8xf8E4M3FN, scale = per_row, copies = col>'}}
  %y = fuseops.linear %x, %w : (tensor<4x8xbf16>, !fuseops.quantized<2x8xf8E4M3FN, scale = per_row, copies = col>) -> tensor<4x2xbf16>
  fuseops.return %y : tensor<4x2xbf16>
}

// -----

fuseops.fusible @f(%x: !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = col>, %w: tensor<8x2xbf16>) -> tensor<4x2xbf16>
forward {
  // expected-error @below {{'fuseops.matmul' op expected `lhs` to have the copy `row`, which the product reads, but got '!fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = col>'}}
  %y = fuseops.matmul %x, %w : !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = col>, tensor<8x2xbf16> -> tensor<4x2xbf16>
  fuseops.return %y : tensor<4x2xbf16>
}

// -----

fuseops.fusible @f(%x: !fuseops.quantized<8x4xf8E4M3FN, scale = per_row, copies = row>, %w: tensor<8x2xbf16>) -> tensor<4x2xbf16>
forward {
  // expected-error @below {{'fuseops.matmul' op expected `lhs` to have the copy `col`, which the product reads, but got '!fuseops.quantized<8x4xf8E4M3FN, scale = per_row, copies = row>'}}
  %y = fuseops.matmul %x, %w transpose_lhs : !fuseops.quantized<8x4xf8E4M3FN, scale = per_row, copies = row>, tensor<8x2xbf16> -> tensor<4x2xbf16>
  fuseops.return %y : tensor<4x2xbf16>
}

// -----

fuseops.fusible @f(%x: tensor<4x8xbf16>, %w: !fuseops.quantized<8x2xf8E4M3FN, scale = per_row, copies = row>) -> tensor<4x2xbf16>
forward {
  // expected-error @below {{'fuseops.matmul' op expected `rhs` to have the copy `col`, which the product reads, but got '!fuseops.quantized<8x2xf8E4M3FN, scale = per_row, copies = row>'}}
  %y = fuseops.matmul %x, %w : tensor<4x8xbf16>, !fuseops.quantized<8x2xf8E4M3FN, scale = per_row, copies = row> -> tensor<4x2xbf16>
  fuseops.return %y : tensor<4x2xbf16>
}

// -----

fuseops.fusible @f(%x: tensor<4x8xbf16>, %w: !fuseops.quantized<2x8xf8E4M3FN, scale = per_row, copies = col>) -> tensor<4x2xbf16>
forward {
  // expected-error @below {{'fuseops.matmul' op expected `rhs` to have the copy `row`, which the product reads, but got '!fuseops.quantized<2x8xf8E4M3FN, scale = per_row, copies = col>'}}
  %y = fuseops.matmul %x, %w transpose_rhs : tensor<4x8xbf16>, !fuseops.quantized<2x8xf8E4M3FN, scale = per_row, copies = col> -> tensor<4x2xbf16>
  fuseops.return %y : tensor<4x2xbf16>
}
