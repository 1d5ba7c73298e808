// On CUDA what is rounded to 16 bits or fewer may be computed in shorter forms;
// on the CPU, and where all bits of f32 are kept, nothing may.
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cuda | FileCheck %s --check-prefixes=CHECK,CUDA
// RUN: fuse-opt %s --convert-fuseops-to-kernels=target=cpu | FileCheck %s --check-prefixes=CHECK,CPU

// CHECK-LABEL: func.func @rounded(
// CUDA: arith.mulf %{{.+}}, %{{.+}} fastmath<contract>
// CUDA: arith.addf %{{.+}}, %{{.+}} fastmath<contract>
// CUDA: math.exp %{{.+}} fastmath<afn>
// CPU-NOT: fastmath
// A sigmoid is divided by the reciprocal; another numerator may be large.
// CHECK-LABEL: func.func @sigmoid(
// CUDA: arith.divf %{{.+}} fastmath<afn>
// CUDA: arith.divf %{{.+}}, %{{[^ ]+}} :
// CPU-NOT: fastmath
// CHECK-LABEL: func.func @kept(
// CHECK-NOT: fastmath
// Of elements of 16 bits a sum of exponentials may be, of wider ones it is not.
// CHECK-LABEL: func.func @summed(
// CUDA: math.exp %{{.+}} fastmath<afn>
// CPU-NOT: fastmath
// CHECK-LABEL: func.func @summed_wide(
// CHECK-NOT: fastmath
fuseops.fusible @f(%x: tensor<?x64xbf16>, %u: tensor<?x64xf32>, %m: tensor<?x1xf32>) -> (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xf32>, tensor<?x1xf32>, tensor<?x1xf32>)
forward {
  %y = fuseops.group @rounded pointwise (%a = %x) : (tensor<?x64xbf16>) -> tensor<?x64xbf16> {
    %p = fuseops.pointwise (%v = %a) : (tensor<?x64xbf16>) -> tensor<?x64xbf16> {
      %s = arith.mulf %v, %v : f32
      %t = arith.addf %s, %v : f32
      %e = math.exp %t : f32
      fuseops.yield %e : f32
    }
    fuseops.yield %p : tensor<?x64xbf16>
  }
  %w = fuseops.group @sigmoid pointwise (%a = %x) : (tensor<?x64xbf16>) -> tensor<?x64xbf16> {
    %p = fuseops.pointwise (%v = %a) : (tensor<?x64xbf16>) -> tensor<?x64xbf16> {
      %one = arith.constant 1.0 : f32
      %e = math.exp %v : f32
      %d = arith.addf %e, %one : f32
      %s = arith.divf %one, %d : f32
      %t = arith.divf %v, %d : f32
      %r = arith.mulf %s, %t : f32
      fuseops.yield %r : f32
    }
    fuseops.yield %p : tensor<?x64xbf16>
  }
  %z = fuseops.group @kept pointwise (%a = %x) : (tensor<?x64xbf16>) -> tensor<?x64xf32> {
    %p = fuseops.pointwise (%v = %a) : (tensor<?x64xbf16>) -> tensor<?x64xf32> {
      %s = arith.mulf %v, %v : f32
      %t = arith.addf %s, %v : f32
      %e = math.exp %t : f32
      fuseops.yield %e : f32
    }
    fuseops.yield %p : tensor<?x64xf32>
  }
  %s = fuseops.group @summed row (%a = %x, %c = %m) : (tensor<?x64xbf16>, tensor<?x1xf32>) -> tensor<?x1xf32> {
    %p = fuseops.pointwise (%v = %a, %l = %c) : (tensor<?x64xbf16>, tensor<?x1xf32>) -> tensor<?x64xf32> {
      %d = arith.subf %v, %l : f32
      %e = math.exp %d : f32
      fuseops.yield %e : f32
    }
    %r = fuseops.reduce_columns sum %p : tensor<?x64xf32> -> tensor<?x1xf32>
    fuseops.yield %r : tensor<?x1xf32>
  }
  %t = fuseops.group @summed_wide row (%a = %u, %c = %m) : (tensor<?x64xf32>, tensor<?x1xf32>) -> tensor<?x1xf32> {
    %p = fuseops.pointwise (%v = %a, %l = %c) : (tensor<?x64xf32>, tensor<?x1xf32>) -> tensor<?x64xf32> {
      %d = arith.subf %v, %l : f32
      %e = math.exp %d : f32
      fuseops.yield %e : f32
    }
    %r = fuseops.reduce_columns sum %p : tensor<?x64xf32> -> tensor<?x1xf32>
    fuseops.yield %r : tensor<?x1xf32>
  }
  fuseops.return %y, %w, %z, %s, %t : tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xf32>, tensor<?x1xf32>, tensor<?x1xf32>
}
