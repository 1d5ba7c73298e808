// A printed plan compiles to the plan that it is, and runs as its program does:
// also against the reference, which sees the operations without their groups.
// RUN: fuse-compile %s --target=cpu --compile-to=fusion -o %t.plan.mlir
// RUN: fuse-compile %t.plan.mlir --target=cpu --compile-to=fusion -o %t.again.mlir
// RUN: diff %t.plan.mlir %t.again.mlir
// RUN: fuse-compile %s --target=cpu --compile-to=lowering -o %t.kernels.mlir
// RUN: fuse-compile %t.plan.mlir --target=cpu --compile-to=lowering -o %t.again.mlir
// RUN: diff %t.kernels.mlir %t.again.mlir
// RUN: fuse-run %t.plan.mlir --target=cpu --size 70 --check
// RUN: FileCheck %s --input-file=%t.plan.mlir

// What it is said to have been computed from is the same, so the tolerance is.
// RUN: fuse-compile %s --target=cpu --report=json -o %t.json
// RUN: fuse-compile %t.plan.mlir --target=cpu --report=json -o %t.again.json
// RUN: %python -c "import json, sys; a, b = (json.load(open(p)) for p in sys.argv[1:]); assert all(a[k] == b[k] for k in ('arguments', 'precisions', 'reductions')), (a, b)" %t.json %t.again.json

// CHECK: fuseops.group @forward_0 row
// CHECK: fuseops.group @forward_1 library
// CHECK: fuseops.group @backward_0
fuseops.fusible @norm_linear(%x: tensor<?x64xbf16>, %g: tensor<64xbf16>, %w: tensor<32x64xbf16>) -> tensor<?x32xbf16>
forward {
  %n, %r = fuseops.rms_norm %x gamma(%g) eps(1.0e-5) : (tensor<?x64xbf16>, tensor<64xbf16>) -> (tensor<?x64xbf16>, tensor<?x1xf32>)
  %y = fuseops.linear %n, %w : (tensor<?x64xbf16>, tensor<32x64xbf16>) -> tensor<?x32xbf16>
  fuseops.return %y : tensor<?x32xbf16>
}
