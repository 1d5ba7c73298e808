// RUN: fuse-opt %s --fuseops-expand-quantized --split-input-file --verify-diagnostics

fuseops.fusible @f(%x: tensor<4x8xf32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = block<1x128>, copies = row>
forward {
  // expected-error @below {{'fuseops.quantize' op has no kernel template for scale `block<1x128>`, only for `per_tensor` and `per_row`}}
  %q = fuseops.quantize %x : (tensor<4x8xf32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = block<1x128>, copies = row>
  fuseops.return %q : !fuseops.quantized<4x8xf8E4M3FN, scale = block<1x128>, copies = row>
}

// -----

fuseops.fusible @f(%q: !fuseops.quantized<4x8xf8E4M3FN, scale = block<1x128>, copies = row>) -> tensor<4x8xf32>
forward {
  // expected-error @below {{'fuseops.dequantize' op has no kernel template for scale `block<1x128>`, only for `per_tensor` and `per_row`}}
  %x = fuseops.dequantize %q : !fuseops.quantized<4x8xf8E4M3FN, scale = block<1x128>, copies = row> -> tensor<4x8xf32>
  fuseops.return %x : tensor<4x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = block<128x128>, copies = row>
forward {
  // expected-error @below {{'fuseops.quantize' op has no kernel template for scale `block<128x128>`, only for `per_tensor` and `per_row`}}
  %q = fuseops.quantize %x : (tensor<4x8xf32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = block<128x128>, copies = row>
  fuseops.return %q : !fuseops.quantized<4x8xf8E4M3FN, scale = block<128x128>, copies = row>
}

// -----

fuseops.fusible @f(%q: !fuseops.quantized<4x8xf8E4M3FN, scale = block<128x128>, copies = row>) -> tensor<4x8xf32>
forward {
  // expected-error @below {{'fuseops.dequantize' op has no kernel template for scale `block<128x128>`, only for `per_tensor` and `per_row`}}
  %x = fuseops.dequantize %q : !fuseops.quantized<4x8xf8E4M3FN, scale = block<128x128>, copies = row> -> tensor<4x8xf32>
  fuseops.return %x : tensor<4x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = mx<1x32>, copies = row>
forward {
  // expected-error @below {{'fuseops.quantize' op has no kernel template for scale `mx<1x32>`, only for `per_tensor` and `per_row`}}
  %q = fuseops.quantize %x : (tensor<4x8xf32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = mx<1x32>, copies = row>
  fuseops.return %q : !fuseops.quantized<4x8xf8E4M3FN, scale = mx<1x32>, copies = row>
}

// -----

fuseops.fusible @f(%q: !fuseops.quantized<4x8xf8E4M3FN, scale = mx<1x32>, copies = row>) -> tensor<4x8xf32>
forward {
  // expected-error @below {{'fuseops.dequantize' op has no kernel template for scale `mx<1x32>`, only for `per_tensor` and `per_row`}}
  %x = fuseops.dequantize %q : !fuseops.quantized<4x8xf8E4M3FN, scale = mx<1x32>, copies = row> -> tensor<4x8xf32>
  fuseops.return %x : tensor<4x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = col>
forward {
  // expected-error @below {{'fuseops.quantize' op has no kernel template for copies `col`, only for `row`}}
  %q = fuseops.quantize %x : (tensor<4x8xf32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = col>
  fuseops.return %q : !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = col>
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row_col>
forward {
  // expected-error @below {{'fuseops.quantize' op has no kernel template for copies `row_col`, only for `row`}}
  %q = fuseops.quantize %x : (tensor<4x8xf32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row_col>
  fuseops.return %q : !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row_col>
}

// -----

fuseops.fusible @f(%x: !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row>, %w: tensor<2x8xbf16>) -> tensor<4x2xbf16>
forward {
  // expected-error @below {{'fuseops.linear' op has no lowering for quantized operands}}
  %y = fuseops.linear %x, %w : (!fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row>, tensor<2x8xbf16>) -> tensor<4x2xbf16>
  fuseops.return %y : tensor<4x2xbf16>
}

// -----

fuseops.fusible @f(%x: !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row>
forward {
  fuseops.return %x : !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = row>
}
backward () {
  %y = fuseops.pointwise () : () -> tensor<4x8xf32> {
    %c = arith.constant 0.0 : f32
    fuseops.yield %c : f32
  }
  // expected-error @below {{'fuseops.quantize' op has no kernel template for copies `col`, only for `row`}}
  %q = fuseops.quantize %y : (tensor<4x8xf32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = col>
  %z = fuseops.dequantize %q : !fuseops.quantized<4x8xf8E4M3FN, scale = per_row, copies = col> -> tensor<4x8xf32>
  fuseops.return none
}
