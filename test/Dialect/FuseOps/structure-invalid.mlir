// RUN: fuse-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{custom op 'fuseops.fusible' expected valid '@'-identifier for symbol name}}
fuseops.fusible f()
forward {
  fuseops.return
}

// -----

// expected-error @below {{expected SSA operand}}
fuseops.fusible @f(tensor<4x8xf32>)
forward {
  fuseops.return
}

// -----

fuseops.fusible @f()
// expected-error @below {{custom op 'fuseops.fusible' expected 'forward'}}
backward {
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  fuseops.return
}
// expected-error @below {{expected '('}}
backward {
  fuseops.return none
}

// -----

// expected-error @below {{'fuseops.fusible' op expected argument 0 to be a ranked or quantized tensor, but got 'f32'}}
fuseops.fusible @f(%x: f32)
forward {
  fuseops.return
}

// -----

// expected-error @below {{'fuseops.fusible' op expected argument 0 to be a ranked or quantized tensor, but got 'tensor<*xf32>'}}
fuseops.fusible @f(%x: tensor<*xf32>)
forward {
  fuseops.return
}

// -----

// expected-error @below {{'fuseops.fusible' op expected result 0 to be a ranked or quantized tensor, but got 'memref<4xf32>'}}
fuseops.fusible @f() -> memref<4xf32>
forward {
  fuseops.return
}

// -----

// expected-error @below {{'fuseops.fusible' op argument 0 has type 'tensor<?x?x8xf32>', but at most one extent may be `?`}}
fuseops.fusible @f(%x: tensor<?x?x8xf32>)
forward {
  fuseops.return
}

// -----

// What is stored transposed may only be moved.
fuseops.fusible @f(%x: tensor<8x?xf32>) -> tensor<8x?xf32>
forward {
  %t = fuseops.permute %x order[1, 0] : tensor<8x?xf32> -> tensor<?x8xf32>
  // expected-error @below {{'fuseops.amax' op operand 0 has type 'tensor<8x?xf32>', but the last extent may not be `?`: only the number of rows is symbolic}}
  %a = fuseops.amax %x : tensor<8x?xf32> -> tensor<f32>
  fuseops.return %x : tensor<8x?xf32>
}

// -----

// expected-error @below {{'fuseops.fusible' op argument 0 has type 'tensor<8x8xf32, #fuseops.blocks<128>>', but the only encoding is `#fuseops.blocks`, of a `?`}}
fuseops.fusible @f(%x: tensor<8x8xf32, #fuseops.blocks<128>>)
forward {
  fuseops.return
}

// -----

// expected-error @below {{'fuseops.fusible' op argument 0 has type '!fuseops.quantized<8x?xf8E5M2, scale = per_row, copies = row>', but the last extent may not be `?`: only the number of rows is symbolic}}
fuseops.fusible @f(%q: !fuseops.quantized<8x?xf8E5M2, scale = per_row, copies = row>)
forward {
  fuseops.return
}

// -----

// expected-error @below {{'fuseops.fusible' op argument 0 has type 'tensor<8xcomplex<f32>>', but elements may only be f16, bf16, f32, f64, FP8, i1, i8, ui8, i16, i32 or i64}}
fuseops.fusible @f(%x: tensor<8xcomplex<f32>>)
forward {
  fuseops.return
}

// -----

// expected-error @below {{'fuseops.fusible' op result 0 has type 'tensor<?xi32>', but the last extent may not be `?`: only the number of rows is symbolic}}
fuseops.fusible @f(%x: tensor<8xi32>) -> tensor<?xi32>
forward {
  fuseops.return %x : tensor<8xi32>
}

// -----

fuseops.fusible @f(%x: tensor<?x8xf32>)
forward {
  // expected-error @below {{'fuseops.reshape' op result 0 has type 'tensor<8x?xf32>', but the last extent may not be `?`: only the number of rows is symbolic}}
  %t = fuseops.reshape %x : tensor<?x8xf32> -> tensor<8x?xf32>
  fuseops.return
}

// -----

fuseops.fusible @f()
forward {
  fuseops.group @k pointwise () : () -> () {
    // expected-error @below {{'fuseops.pointwise' op result 0 has type 'tensor<?x?x8xf32>', but at most one extent may be `?`}}
    %t = fuseops.pointwise () : () -> tensor<?x?x8xf32> {
      %c = arith.constant 0.0 : f32
      fuseops.yield %c : f32
    }
    fuseops.yield
  }
  fuseops.return
}

// -----

// expected-error @below {{'fuseops.fusible' op expected 0 argument attributes, but got 1}}
"fuseops.fusible"() <{sym_name = "f", function_type = () -> (), arg_attrs = [{}]}> ({
  "fuseops.return"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> ()
}, {
}) : () -> ()

// -----

// expected-error @below {{'fuseops.fusible' op expected `frozen_results` below 1, but got 1}}
fuseops.fusible @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {frozen_results = array<i64: 1>}
forward {
  fuseops.return %x : tensor<4x8xf32>
}

// -----

// expected-error @below {{'fuseops.fusible' op expected `missing_gradients` below 1, but got 1}}
fuseops.fusible @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {missing_gradients = array<i64: 1>}
forward {
  fuseops.return %x : tensor<4x8xf32>
}

// -----

// expected-error @below {{'fuseops.fusible' op expected `frozen_results` below 0, but got -1}}
fuseops.fusible @f(%x: tensor<4x8xf32>) attributes {frozen_results = array<i64: -1>}
forward {
  fuseops.return
}

// -----

// expected-error @below {{'fuseops.fusible' op expected the forward region's arguments to have the types of the signature}}
"fuseops.fusible"() <{sym_name = "f", function_type = (tensor<4xf32>) -> ()}> ({
  "fuseops.return"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> ()
}, {
}) : () -> ()

// -----

// expected-error @below {{'fuseops.fusible' op expected the backward region to have one block}}
"fuseops.fusible"() <{sym_name = "f", function_type = () -> ()}> ({
  "fuseops.return"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> ()
}, {
  "fuseops.return"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> ()
^bb1:
  "fuseops.return"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> ()
}) : () -> ()

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{block with no terminator, has %0 = "fuseops.silu"(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>}}
  %y = fuseops.silu %x : tensor<4x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  fuseops.return
}
backward () {
  // expected-error @below {{block with no terminator, has }}
  %y = fuseops.pointwise () : () -> tensor<4x8xf32> {
    %c = arith.constant 0.0 : f32
    fuseops.yield %c : f32
  }
}

// -----

fuseops.fusible @f() -> tensor<4x8xf32>
forward {
  // expected-error @below {{'fuseops.return' op expected a value for each result, but got `none`: only the backward region may return it}}
  fuseops.return none
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  // expected-error @below {{'fuseops.return' op expected the forward region to return ('tensor<4x8xf32>'), but got ()}}
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  // expected-error @below {{'fuseops.return' op expected the forward region to return ('tensor<4x8xf32>'), but got ('tensor<4x8xf32>', 'tensor<4x8xf32>')}}
  fuseops.return %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// expected-error @below {{'fuseops.fusible' op expected the backward region to take ('tensor<4x8xf32>'): the gradients of the results, then what forward saves; but got ()}}
fuseops.fusible @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  fuseops.return %x : tensor<4x8xf32>
}
backward () {
  fuseops.return none
}

// -----

// expected-error @below {{'fuseops.fusible' op expected the backward region to take ('tensor<4x8xf32>', 'tensor<4x8xf32>'): the gradients of the results, then what forward saves; but got ('tensor<4x8xf32>')}}
fuseops.fusible @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  fuseops.return %x save(%x) : tensor<4x8xf32>, tensor<4x8xf32>
}
backward (%d: tensor<4x8xf32>) {
  fuseops.return %d : tensor<4x8xf32>
}

// -----

// expected-error @below {{'fuseops.fusible' op expected the backward region to take (): the gradients of the results, then what forward saves; but got ('tensor<4x8xf32>')}}
fuseops.fusible @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {frozen_results = array<i64: 0>}
forward {
  fuseops.return %x : tensor<4x8xf32>
}
backward (%d: tensor<4x8xf32>) {
  fuseops.return %d : tensor<4x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  fuseops.return %x : tensor<4x8xf32>
}
backward (%d: tensor<4x8xf32>) {
  // expected-error @below {{'fuseops.return' op expected no saved values in the backward region, but got 1}}
  fuseops.return %d save(%d) : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  fuseops.return %x : tensor<4x8xf32>
}
backward (%d: tensor<4x8xf32>) {
  // expected-error @below {{'fuseops.return' op expected one gradient or `none` for each of the 1 arguments, but got 2}}
  fuseops.return %d, %d : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<4xi32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  fuseops.return %y : tensor<4x8xf32>
}
backward (%d: tensor<4x8xf32>) {
  // expected-error @below {{'fuseops.return' op expected `none` for argument 0, which has type 'tensor<4xi32>' and so no gradient, but got 'tensor<4x8xf32>'}}
  fuseops.return %d, %d : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<4x8xbf16>) -> tensor<4x8xf32>
forward {
  %y = fuseops.cast %x : tensor<4x8xbf16> -> tensor<4x8xf32>
  fuseops.return %y : tensor<4x8xf32>
}
backward (%d: tensor<4x8xf32>) {
  // expected-error @below {{'fuseops.return' op expected the gradient of argument 0 to be 'tensor<4x8xbf16>', but got 'tensor<4x8xf32>'}}
  fuseops.return %d : tensor<4x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  // expected-error @below {{custom op 'fuseops.return' expected a value or `none`}}
  fuseops.return %x, : tensor<4x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  // expected-error @below {{custom op 'fuseops.return' expected 1 types, one for each value, but got 2}}
  fuseops.return %x : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  // expected-error @below {{custom op 'fuseops.return' expected 2 types, one for each value, but got 1}}
  fuseops.return %x save(%x) : tensor<4x8xf32>
}

// -----

"fuseops.fusible"() <{sym_name = "f", function_type = () -> ()}> ({
  // expected-error @below {{'fuseops.return' op expected `absent` to hold increasing positions below 1, but got 1}}
  "fuseops.return"() <{operandSegmentSizes = array<i32: 0, 0>, absent = array<i64: 1>}> : () -> ()
}, {
}) : () -> ()

// -----

"fuseops.fusible"() <{sym_name = "f", function_type = () -> ()}> ({
  // expected-error @below {{'fuseops.return' op expected `absent` to hold increasing positions below 2, but got 0}}
  "fuseops.return"() <{operandSegmentSizes = array<i32: 0, 0>, absent = array<i64: 1, 0>}> : () -> ()
}, {
}) : () -> ()

// -----

// expected-error @below {{'fuseops.return' op expects parent op 'fuseops.fusible'}}
fuseops.return

// -----

fuseops.fusible @main(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.apply' op expected `missing` to be a `fuseops.fusible`, but there is none of that name}}
  %y = fuseops.apply @missing(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  fuseops.return
}

// -----

// expected-note @below {{`callee` is here}}
fuseops.fusible @callee(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  fuseops.return %x : tensor<4x8xf32>
}
fuseops.fusible @main(%x: tensor<8xf32>)
forward {
  // expected-error @below {{'fuseops.apply' op expected operands ('tensor<4x8xf32>'), but got ('tensor<8xf32>')}}
  %y = fuseops.apply @callee(%x) : (tensor<8xf32>) -> tensor<4x8xf32>
  fuseops.return
}

// -----

// expected-note @below {{`callee` is here}}
fuseops.fusible @callee(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  fuseops.return %x : tensor<4x8xf32>
}
fuseops.fusible @main(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.apply' op expected results ('tensor<4x8xf32>'), but got ()}}
  fuseops.apply @callee(%x) : (tensor<4x8xf32>) -> ()
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{custom op 'fuseops.group' expected a kernel template (`pointwise`, `row`, `row_column`, `tile`, `gemm` or `library`), but got `tiles`}}
  %y = fuseops.group @k tiles (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    fuseops.yield %a : tensor<4x8xf32>
  }
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.group' op expected the body's arguments to have the operands' types}}
  %y = "fuseops.group"(%x) <{kernel = @k, kernel_template = #fuseops<kernel_template row>}> ({
  ^bb0(%a: tensor<8xf32>):
    "fuseops.yield"(%a) : (tensor<8xf32>) -> ()
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  %y = fuseops.group @k row (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    // expected-error @below {{'fuseops.yield' op expected to yield ('tensor<4x8xf32>'), but got ('tensor<4x8xf32>', 'tensor<4x8xf32>')}}
    fuseops.yield %a, %a : tensor<4x8xf32>, tensor<4x8xf32>
  }
  fuseops.return
}

// -----

fuseops.fusible @f(%q: !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>)
forward {
  // expected-error @below {{custom op 'fuseops.pointwise' expected a ranked tensor, but got '!fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>'}}
  %y = fuseops.pointwise (%a = %q) : (!fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>) -> tensor<4x8xf32> {
    fuseops.yield %a : f32
  }
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.pointwise' op expected at least one result}}
  fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> () {
    fuseops.yield
  }
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.pointwise' op expected all results to have the shape of 'tensor<4x8xf32>', but got 'tensor<4x4xf32>'}}
  %y:2 = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x4xf32>) {
    fuseops.yield %a, %a : f32, f32
  }
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.pointwise' op expected operand 0 to broadcast to the shape of 'tensor<4x4xf32>', but got 'tensor<4x8xf32>'}}
  %y = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x4xf32> {
    fuseops.yield %a : f32
  }
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  // expected-error @below {{'fuseops.pointwise' op expected the body to have 1 arguments, but got 0}}
  %y = "fuseops.pointwise"(%x) ({
    %c = arith.constant 0.0 : f32
    "fuseops.yield"(%c) : (f32) -> ()
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xbf16>)
forward {
  // expected-error @below {{'fuseops.pointwise' op expected body argument 0 to be 'f32', but got 'bf16'}}
  %y = "fuseops.pointwise"(%x) ({
  ^bb0(%a: bf16):
    %c = arith.constant 0.0 : f32
    "fuseops.yield"(%c) : (f32) -> ()
  }) : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  %y = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    // expected-error @below {{'fuseops.yield' op expected 1 scalars, but got 2}}
    fuseops.yield %a, %a : f32, f32
  }
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  %y = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf64> {
    // expected-error @below {{'fuseops.yield' op expected scalar 0 to be 'f64', but got 'f32'}}
    fuseops.yield %a : f32
  }
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  %c = arith.constant 1.0 : f32
  %y = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    // expected-error @below {{'arith.addf' op expected only values of the `fuseops.pointwise` body as operands}}
    %s = arith.addf %a, %c : f32
    fuseops.yield %s : f32
  }
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  %c = arith.constant 1.0 : f32
  %y = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    // expected-error @below {{'fuseops.yield' op expected only values of the `fuseops.pointwise` body as operands}}
    fuseops.yield %c : f32
  }
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  %y = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    // expected-error @below {{'arith.constant' op expected only scalar `arith` and `math` operations in a `fuseops.pointwise` body}}
    %v = arith.constant dense<0.0> : vector<4xf32>
    fuseops.yield %a : f32
  }
  fuseops.return
}

// -----

fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  %y = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %c = arith.constant true
    // expected-error @below {{'cf.assert' op expected only scalar `arith` and `math` operations in a `fuseops.pointwise` body}}
    cf.assert %c, "no"
    fuseops.yield %a : f32
  }
  fuseops.return
}

// -----

fuseops.fusible @f()
forward {
  // expected-error @below {{'fuseops.linear_index' op expects parent op 'fuseops.pointwise'}}
  %i = fuseops.linear_index : i64
  fuseops.return
}

// -----

// expected-error @below {{'fuseops.linear_index' op expects parent op 'fuseops.pointwise'}}
%i = fuseops.linear_index : i64

// -----

// expected-error @below {{'fuseops.fusible' op expected the forward region to end in `fuseops.return`}}
fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  llvm.unreachable
}

// -----

// expected-error @below {{'fuseops.fusible' op expected the backward region to end in `fuseops.return`}}
fuseops.fusible @f(%x: tensor<4x8xf32>)
forward {
  fuseops.return
}
backward () {
  llvm.unreachable
}

// -----

fuseops.fusible @callee(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  fuseops.return %x : tensor<4x8xf32>
}
fuseops.fusible @apply_in_backward(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  fuseops.return %x : tensor<4x8xf32>
}
backward (%dy: tensor<4x8xf32>) {
  // expected-error @below {{expected to stand in the forward region of a `fuseops.fusible`}}
  %dx = fuseops.apply @callee(%dy) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  fuseops.return %dx : tensor<4x8xf32>
}
