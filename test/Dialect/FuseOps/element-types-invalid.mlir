// RUN: fuse-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{'fuseops.fusible' op argument 0 has type 'tensor<8xi4>', but elements may only be f16, bf16, f32, f64, FP8, i1, i8, ui8, i16, i32 or i64}}
fuseops.fusible @f(%x: tensor<8xi4>)
forward {
  fuseops.return
}

// -----

// expected-error @below {{'fuseops.fusible' op argument 0 has type 'tensor<8xsi32>', but elements may only be f16, bf16, f32, f64, FP8, i1, i8, ui8, i16, i32 or i64}}
fuseops.fusible @f(%x: tensor<8xsi32>)
forward {
  fuseops.return
}

// -----

// expected-error @below {{'fuseops.fusible' op result 0 has type 'tensor<8xui16>', but elements may only be f16, bf16, f32, f64, FP8, i1, i8, ui8, i16, i32 or i64}}
fuseops.fusible @f() -> tensor<8xui16>
forward {
  fuseops.return
}

// -----

// expected-error @below {{'fuseops.fusible' op argument 0 has type 'tensor<8xf8E4M3FNUZ>', but elements may only be f16, bf16, f32, f64, FP8, i1, i8, ui8, i16, i32 or i64}}
fuseops.fusible @f(%x: tensor<8xf8E4M3FNUZ>)
forward {
  fuseops.return
}

// -----

fuseops.fusible @f()
forward {
  // expected-error @below {{'fuseops.pointwise' op result #0 must be variadic of ranked tensor of f16, bf16, f32, f64, FP8, i1, i8, ui8, i16, i32 or i64 values, but got 'tensor<8xindex>'}}
  %t = fuseops.pointwise () : () -> tensor<8xindex> {
    %c = arith.constant 0 : index
    fuseops.yield %c : index
  }
  fuseops.return
}

// -----

fuseops.fusible @float_only(%x: tensor<8xi32>) -> tensor<8xi32>
forward {
  // expected-error @below {{'fuseops.relu' op operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<8xi32>'}}
  %y = fuseops.relu %x : tensor<8xi32>
  fuseops.return %y : tensor<8xi32>
}

// -----

fuseops.fusible @mixed(%x: tensor<4x8xi32>) -> tensor<4x1xf32>
forward {
  // expected-error @below {{'fuseops.reduce_columns' op expected `input` and `result` to be both of floats or both of integers, but got 'tensor<4x8xi32>' and 'tensor<4x1xf32>'}}
  %y = fuseops.reduce_columns sum %x : tensor<4x8xi32> -> tensor<4x1xf32>
  fuseops.return %y : tensor<4x1xf32>
}

// -----

fuseops.fusible @no_columns(%x: tensor<?x0xi32>) -> tensor<?x1xi32>
forward {
  // expected-error @below {{'fuseops.reduce_columns' op expected an input with elements, since `max` of nothing is not defined, but got 'tensor<?x0xi32>'}}
  %y = fuseops.reduce_columns max %x : tensor<?x0xi32> -> tensor<?x1xi32>
  fuseops.return %y : tensor<?x1xi32>
}

// -----

fuseops.fusible @no_rows(%x: tensor<0x8xf32>) -> tensor<8xf32>
forward {
  // expected-error @below {{'fuseops.reduce_rows' op expected an input with elements, since `min` of nothing is not defined, but got 'tensor<0x8xf32>'}}
  %y = fuseops.reduce_rows min %x : tensor<0x8xf32> -> tensor<8xf32>
  fuseops.return %y : tensor<8xf32>
}
