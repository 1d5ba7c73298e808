// RUN: fuse-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{unknown torch type `vtenser`}}
func.func private @f(!torch.vtenser<[2],f32>)

// -----

// expected-error@below {{unknown torch type `nothing`}}
func.func private @f(!torch.list<nothing>)

// -----

// expected-error@below {{expected a size of at least 0, but got -2}}
func.func private @f(!torch.vtensor<[-2],f32>)

// -----

// expected-error@below {{expected a number as dtype, but got 'tensor<2xf32>'}}
func.func private @f(!torch.vtensor<[2],tensor<2xf32>>)

// -----

// expected-error@below {{expected ','}}
func.func private @f(!torch.vtensor<[2]>)

// -----

// expected-error@below {{expected '<'}}
func.func private @f(!torch.list)

// -----

// expected-error@below {{integer value too large}}
func.func private @f(!torch.vtensor<[99999999999999999999],f32>)

// -----

func.func @f(%x: !torch.vtensor<[2],f32>) {
  // expected-error@below {{expected `:` and the types of the operands}}
  torch.aten.silu %x
  return
}

// -----

func.func @f(%x: !torch.vtensor<[2],f32>) {
  // expected-error@below {{number of operands and types do not match: got 2 operands and 1 types}}
  %0 = torch.aten.add %x, %x : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
  return
}

// -----

// expected-note@below {{prior use here}}
func.func @f(%x: !torch.vtensor<[2],f32>) {
  // expected-error@below {{use of value '%x' expects different type than prior uses: '!torch.vtensor<[3],f32>' vs '!torch.vtensor<[2],f32>'}}
  %0 = torch.aten.silu %x : !torch.vtensor<[3],f32> -> !torch.vtensor<[2],f32>
  return
}

// -----

func.func @f() {
  // expected-error@below {{integer value too large}}
  %0 = torch.constant.int 9223372036854775808
  return
}

// -----

func.func @f() {
  // expected-error@below {{'torch.constant.int' op requires attribute 'value'}}
  %0 = "torch.constant.int"() : () -> !torch.int
  return
}

// -----

func.func @f() {
  // expected-error@below {{'torch.constant.int' op attribute 'value' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0 = "torch.constant.int"() <{value = 1 : i32}> : () -> !torch.int
  return
}

// -----

func.func @f() {
  // expected-error@below {{'torch.constant.int' op result #0 must be Python integer, but got '!torch.float'}}
  %0 = "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.float
  return
}

// -----

func.func @f(%x: !torch.tensor<[2],f32>) {
  // expected-error@below {{'torch.copy.to_vtensor' op failed to verify that operand is the mutable form of the result}}
  %0 = "torch.copy.to_vtensor"(%x) : (!torch.tensor<[2],f32>) -> !torch.vtensor<[3],f32>
  return
}

// -----

func.func @f(%x: !torch.vtensor<[?,2],f32>) {
  // expected-error@below {{'torch.bind_symbolic_shape' op expected expressions of 0 symbols, but got 1 symbols and 0 dimensions}}
  torch.bind_symbolic_shape %x, [], affine_map<()[s0] -> (s0, 2)> : !torch.vtensor<[?,2],f32>
  return
}

// -----

func.func @f(%x: !torch.vtensor<[?,2],f32>, %s: !torch.int) {
  // expected-error@below {{'torch.bind_symbolic_shape' op expected 2 expressions, but got 1}}
  torch.bind_symbolic_shape %x, [%s], affine_map<()[s0] -> (s0)> : !torch.vtensor<[?,2],f32>
  return
}
