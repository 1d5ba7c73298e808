// RUN: fuse-opt %s --split-input-file --verify-diagnostics

func.func @count(%x: f32) {
  // expected-error @below {{expected 1 operand of `lgamma`, but got 2}}
  %0 = fuseops.special lgamma(%x, %x) : f32
  return
}

// -----

func.func @count_of_two(%x: f32) {
  // expected-error @below {{expected 2 operands of `hypot`, but got 1}}
  %0 = fuseops.special hypot(%x) : f32
  return
}

// -----

func.func @order(%x: f32) {
  // expected-error @below {{expected an order of 0 of `i0`, but got 1}}
  %0 = fuseops.special i0(%x) order(1) : f32
  return
}

// -----

func.func @negative_order(%x: f32) {
  // expected-error @below {{expected an order from 0 on of `polygamma`, but got -1}}
  %0 = fuseops.special polygamma(%x) order(-1) : f32
  return
}
