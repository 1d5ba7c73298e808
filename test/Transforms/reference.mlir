// RUN: fuse-opt %s --fuseops-reference | FileCheck %s

// CHECK-LABEL: fuseops.fusible @types(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf64>, %[[ARG1:.+]]: tensor<8xf64> {fuseops.frozen}, %[[ARG2:.+]]: tensor<f64>, %[[ARG3:.+]]: tensor<?x8xi32>, %[[ARG4:.+]]: tensor<?x8xf8E4M3FN>) -> (tensor<?x8xf64>, tensor<?x8xi32>, tensor<?x8xf8E4M3FN>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.bias %[[ARG0]], %[[ARG1]] : tensor<?x8xf64>, tensor<8xf64>
// CHECK-NEXT:   %[[RESULT:.+]], %[[RSTD:.+]] = fuseops.rms_norm %[[V0]] eps(9.9999999999999995E-7) : (tensor<?x8xf64>) -> (tensor<?x8xf64>, tensor<?x1xf64>)
// CHECK-NEXT:   %[[V1:.+]] = fuseops.mul %[[RESULT]], %[[ARG2]] : tensor<?x8xf64>, tensor<f64> -> tensor<?x8xf64>
// CHECK-NEXT:   fuseops.return %[[V1]], %[[ARG3]], %[[ARG4]] save(%[[RSTD]]) : tensor<?x8xf64>, tensor<?x8xi32>, tensor<?x8xf8E4M3FN>, tensor<?x1xf64>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x8xf64>, saved %[[ARG1:.+]]: tensor<?x1xf64>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.mul %[[ARG0]], %[[ARG1]] : tensor<?x8xf64>, tensor<?x1xf64> -> tensor<?x8xf64>
// CHECK-NEXT:   fuseops.return %[[V0]], none, none, none, none : tensor<?x8xf64>
// CHECK-NEXT: }
fuseops.fusible @types(%x: tensor<?x8xbf16>, %g: tensor<8xf16> {fuseops.frozen}, %s: tensor<f32>, %i: tensor<?x8xi32>, %q: tensor<?x8xf8E4M3FN>) -> (tensor<?x8xbf16>, tensor<?x8xi32>, tensor<?x8xf8E4M3FN>)
forward {
  %0 = fuseops.bias %x, %g : tensor<?x8xbf16>, tensor<8xf16>
  %1, %r = fuseops.rms_norm %0 eps(1.0e-6) : (tensor<?x8xbf16>) -> (tensor<?x8xbf16>, tensor<?x1xf32>)
  %2 = fuseops.mul %1, %s : tensor<?x8xbf16>, tensor<f32> -> tensor<?x8xbf16>
  fuseops.return %2, %i, %q save(%r) : tensor<?x8xbf16>, tensor<?x8xi32>, tensor<?x8xf8E4M3FN>, tensor<?x1xf32>
}
backward (%dy: tensor<?x8xbf16>, saved %r: tensor<?x1xf32>) {
  %0 = fuseops.mul %dy, %r : tensor<?x8xbf16>, tensor<?x1xf32> -> tensor<?x8xbf16>
  fuseops.return %0, none, none, none, none : tensor<?x8xbf16>
}

// A cast is a rounding: the value keeps bf16's precision within f64.
// CHECK-LABEL: fuseops.fusible @cast_rounds(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf64>) -> tensor<4x8xf64>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf64>) -> tensor<4x8xf64> {
// CHECK-NEXT:     %[[V2:.+]] = arith.truncf %[[ARG1]] : f64 to bf16
// CHECK-NEXT:     %[[V3:.+]] = arith.extf %[[V2]] : bf16 to f64
// CHECK-NEXT:     fuseops.yield %[[V3]] : f64
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[V0]]) : (tensor<4x8xf64>) -> tensor<4x8xf64> {
// CHECK-NEXT:     fuseops.yield %[[ARG1]] : f64
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<4x8xf64>
// CHECK-NEXT: }
fuseops.fusible @cast_rounds(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %0 = fuseops.cast %x : tensor<4x8xf32> -> tensor<4x8xbf16>
  %1 = fuseops.cast %0 : tensor<4x8xbf16> -> tensor<4x8xf32>
  fuseops.return %1 : tensor<4x8xf32>
}

// CHECK-LABEL: fuseops.fusible @body(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf64>) -> tensor<4x8xf64>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf64>) -> tensor<4x8xf64> {
// CHECK-NEXT:     %[[CST:.+]] = arith.constant 0.10000000149011612 : f64
// CHECK-NEXT:     %[[V1:.+]] = arith.mulf %[[ARG1]], %[[CST]] : f64
// CHECK-NEXT:     %[[V2:.+]] = arith.cmpf ogt, %[[V1]], %[[ARG1]] : f64
// CHECK-NEXT:     %[[V3:.+]] = arith.select %[[V2]], %[[V1]], %[[ARG1]] : f64
// CHECK-NEXT:     %[[V4:.+]] = math.exp %[[V3]] : f64
// CHECK-NEXT:     fuseops.yield %[[V4]] : f64
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf64>
// CHECK-NEXT: }
fuseops.fusible @body(%x: tensor<4x8xbf16>) -> tensor<4x8xbf16>
forward {
  %0 = fuseops.pointwise (%a = %x) : (tensor<4x8xbf16>) -> tensor<4x8xbf16> {
    %c = arith.constant 0.1 : f32
    %m = arith.mulf %a, %c : f32
    %p = arith.cmpf ogt, %m, %a : f32
    %s = arith.select %p, %m, %a : f32
    %e = math.exp %s : f32
    fuseops.yield %e : f32
  }
  fuseops.return %0 : tensor<4x8xbf16>
}

// Narrow types in a body are roundings that the program asks for, and stay.
// CHECK-LABEL: fuseops.fusible @body_rounds(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf64>) -> tensor<4x8xf64>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf64>) -> tensor<4x8xf64> {
// CHECK-NEXT:     %[[V1:.+]] = arith.truncf %[[ARG1]] : f64 to f16
// CHECK-NEXT:     %[[V2:.+]] = arith.addf %[[V1]], %[[V1]] : f16
// CHECK-NEXT:     %[[V3:.+]] = arith.extf %[[V2]] : f16 to f64
// CHECK-NEXT:     fuseops.yield %[[V3]] : f64
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf64>
// CHECK-NEXT: }
fuseops.fusible @body_rounds(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
forward {
  %0 = fuseops.pointwise (%a = %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %h = arith.truncf %a : f32 to f16
    %s = arith.addf %h, %h : f16
    %w = arith.extf %s : f16 to f32
    fuseops.yield %w : f32
  }
  fuseops.return %0 : tensor<4x8xf32>
}

// f64 within a body meets what was f32.
// CHECK-LABEL: fuseops.fusible @body_converts(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf64>, %[[ARG1:.+]]: tensor<4x8xi32>) -> tensor<4x8xf64>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG2:.+]] = %[[ARG0]], %[[ARG3:.+]] = %[[ARG1]]) : (tensor<4x8xf64>, tensor<4x8xi32>) -> tensor<4x8xf64> {
// CHECK-NEXT:     %[[V1:.+]] = arith.sitofp %[[ARG3]] : i32 to f64
// CHECK-NEXT:     %[[V2:.+]] = arith.addf %[[ARG2]], %[[V1]] : f64
// CHECK-NEXT:     fuseops.yield %[[V2]] : f64
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf64>
// CHECK-NEXT: }
fuseops.fusible @body_converts(%x: tensor<4x8xf32>, %i: tensor<4x8xi32>) -> tensor<4x8xf64>
forward {
  %0 = fuseops.pointwise (%a = %x, %b = %i) : (tensor<4x8xf32>, tensor<4x8xi32>) -> tensor<4x8xf64> {
    %f = arith.sitofp %b : i32 to f32
    %s = arith.addf %a, %f : f32
    %w = arith.extf %s : f32 to f64
    fuseops.yield %w : f64
  }
  fuseops.return %0 : tensor<4x8xf64>
}

// FP8 data keeps its values: it is read and written as before.
// CHECK-LABEL: fuseops.fusible @fp8_data(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf8E5M2>) -> tensor<4x8xf8E5M2>
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise (%[[ARG1:.+]] = %[[ARG0]]) : (tensor<4x8xf8E5M2>) -> tensor<4x8xf8E5M2> {
// CHECK-NEXT:     %[[V1:.+]] = arith.extf %[[ARG1]] : f32 to f64
// CHECK-NEXT:     %[[V2:.+]] = arith.addf %[[V1]], %[[V1]] : f64
// CHECK-NEXT:     %[[V3:.+]] = arith.truncf %[[V2]] : f64 to f32
// CHECK-NEXT:     fuseops.yield %[[V3]] : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<4x8xf8E5M2>
// CHECK-NEXT: }
fuseops.fusible @fp8_data(%q: tensor<4x8xf8E5M2>) -> tensor<4x8xf8E5M2>
forward {
  %0 = fuseops.pointwise (%a = %q) : (tensor<4x8xf8E5M2>) -> tensor<4x8xf8E5M2> {
    %m = arith.addf %a, %a : f32
    fuseops.yield %m : f32
  }
  fuseops.return %0 : tensor<4x8xf8E5M2>
}

// CHECK-LABEL: fuseops.fusible @argument_is_result(
// CHECK-SAME: %[[ARG0:.+]]: tensor<4x8xf64>) -> tensor<4x8xf64>
// CHECK-NEXT: forward {
// CHECK-NEXT:   fuseops.return %[[ARG0]] : tensor<4x8xf64>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<4x8xf64>) {
// CHECK-NEXT:   fuseops.return %[[ARG0]] : tensor<4x8xf64>
// CHECK-NEXT: }
fuseops.fusible @argument_is_result(%x: tensor<4x8xf16>) -> tensor<4x8xf16>
forward {
  fuseops.return %x : tensor<4x8xf16>
}
backward (%dx: tensor<4x8xf16>) {
  fuseops.return %dx : tensor<4x8xf16>
}

// Integers and bools stay what they are, and are reduced as they were.
// CHECK-LABEL: fuseops.fusible @integers(
// CHECK-SAME: %{{.+}}: tensor<?x8xi8>, %{{.+}}: tensor<?x8xi1>, %{{.+}}: tensor<?x8xf64>) -> (tensor<?x8xf64>, tensor<?x8xui8>, tensor<8xi64>)
// CHECK: %[[Y:.+]]:2 = fuseops.pointwise (%[[A:.+]] = %{{.+}}, %[[B:.+]] = %{{.+}}, %[[C:.+]] = %{{.+}}) : (tensor<?x8xi8>, tensor<?x8xi1>, tensor<?x8xf64>) -> (tensor<?x8xf64>, tensor<?x8xui8>) {
// CHECK-NEXT:   %[[SUM:.+]] = arith.addi %[[A]], %[[A]] : i8
// CHECK-NEXT:   %[[NUMBER:.+]] = arith.uitofp %[[SUM]] : i8 to f64
// CHECK-NEXT:   %[[CHOSEN:.+]] = arith.select %[[B]], %[[C]], %[[NUMBER]] : f64
// CHECK-NEXT:   fuseops.yield %[[CHOSEN]], %[[SUM]] : f64, i8
// CHECK-NEXT: }
// CHECK-NEXT: fuseops.reduce_rows sum %[[Y]]#1 : tensor<?x8xui8> -> tensor<8xi64>
fuseops.fusible @integers(%i: tensor<?x8xi8>, %m: tensor<?x8xi1>, %x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xui8>, tensor<8xi64>)
forward {
  %y:2 = fuseops.pointwise (%a = %i, %b = %m, %c = %x) : (tensor<?x8xi8>, tensor<?x8xi1>, tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xui8>) {
    %s = arith.addi %a, %a : i8
    %n = arith.uitofp %s : i8 to f32
    %r = arith.select %b, %c, %n : f32
    fuseops.yield %r, %s : f32, i8
  }
  %t = fuseops.reduce_rows sum %y#1 : tensor<?x8xui8> -> tensor<8xi64>
  fuseops.return %y#0, %y#1, %t : tensor<?x8xf32>, tensor<?x8xui8>, tensor<8xi64>
}

// The bits of an f32 value are those of the f32 next to it in f64.
// CHECK-LABEL: fuseops.fusible @bits(
// CHECK: fuseops.pointwise (%[[A:.+]] = %{{.+}}, %[[B:.+]] = %{{.+}}) : (tensor<4x8xf64>, tensor<4x8xf64>) -> (tensor<4x8xf64>, tensor<4x8xi64>) {
// CHECK-NEXT:   %[[NARROW:.+]] = arith.truncf %[[A]] : f64 to f32
// CHECK-NEXT:   %[[BITS:.+]] = arith.bitcast %[[NARROW]] : f32 to i32
// CHECK-NEXT:   %[[BACK:.+]] = arith.bitcast %[[BITS]] : i32 to f32
// CHECK-NEXT:   %[[WIDE:.+]] = arith.extf %[[BACK]] : f32 to f64
// CHECK-NEXT:   %[[SUM:.+]] = arith.addf %[[WIDE]], %[[A]] : f64
// CHECK-NEXT:   %[[LONG:.+]] = arith.bitcast %[[B]] : f64 to i64
// CHECK-NEXT:   fuseops.yield %[[SUM]], %[[LONG]] : f64, i64
// CHECK-NEXT: }
fuseops.fusible @bits(%x: tensor<4x8xf32>, %z: tensor<4x8xf64>) -> (tensor<4x8xf32>, tensor<4x8xi64>)
forward {
  %0:2 = fuseops.pointwise (%a = %x, %b = %z) : (tensor<4x8xf32>, tensor<4x8xf64>) -> (tensor<4x8xf32>, tensor<4x8xi64>) {
    %bits = arith.bitcast %a : f32 to i32
    %back = arith.bitcast %bits : i32 to f32
    %sum = arith.addf %back, %a : f32
    %long = arith.bitcast %b : f64 to i64
    fuseops.yield %sum, %long : f32, i64
  }
  fuseops.return %0#0, %0#1 : tensor<4x8xf32>, tensor<4x8xi64>
}

// The parts of a quantized tensor keep their types.
// CHECK-LABEL: fuseops.fusible @parts(
// CHECK-SAME: %[[Q:.+]]: !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>, %[[S:.+]]: tensor<f64>) -> (!fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>, tensor<f64>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[PARTS:.+]]:2 = fuseops.unpack_quantized %[[Q]] : (!fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>) -> (tensor<4x8xf8E4M3FN>, tensor<f32>)
// CHECK-NEXT:   %[[WIDE:.+]] = fuseops.pointwise (%[[A:.+]] = %[[PARTS]]#1) : (tensor<f32>) -> tensor<f64> {
// CHECK-NEXT:     arith.extf %[[A]] : f32 to f64
// CHECK:        %[[NARROW:.+]] = fuseops.pointwise (%[[A:.+]] = %[[S]]) : (tensor<f64>) -> tensor<f32> {
// CHECK-NEXT:     arith.truncf %[[A]] : f64 to f32
// CHECK:        %[[PACKED:.+]] = fuseops.pack_quantized %[[PARTS]]#0, %[[NARROW]] : (tensor<4x8xf8E4M3FN>, tensor<f32>)
// CHECK-NEXT:   fuseops.return %[[PACKED]], %[[WIDE]]
fuseops.fusible @parts(%q: !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>, %s: tensor<f32>) -> (!fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>, tensor<f32>)
forward {
  %d, %i = fuseops.unpack_quantized %q : (!fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>) -> (tensor<4x8xf8E4M3FN>, tensor<f32>)
  %p = fuseops.pack_quantized %d, %s : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>
  fuseops.return %p, %i : !fuseops.quantized<4x8xf8E4M3FN, scale = per_tensor, copies = row>, tensor<f32>
}
