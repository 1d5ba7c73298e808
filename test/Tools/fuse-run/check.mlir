// Runs against the reference, from source and from a compiled program.
// RUN: fuse-run %s --size 33 --check | FileCheck %s
// RUN: fuse-run %s --size 0 --check | FileCheck %s --check-prefix=EMPTY
// RUN: fuse-run %s --target=reference --size 5 --check | FileCheck %s --check-prefix=EXACT
// RUN: fuse-compile %s -o %t.fuseops
// RUN: fuse-run %t.fuseops --size 33 --check --source %s --seed 7 | FileCheck %s
// RUN: fuse-run %s --size 3 --check --time=2 --json | FileCheck %s --check-prefix=JSON

// CHECK: program f of {{.*}}, target cpu on {{.*}}, size 33, seed
// CHECK: entry{{ +}}kernel{{ +}}template{{ +}}members{{ +}}bytes
// CHECK: forward{{ +}}forward_0{{ +}}row{{ +}}rms_norm
// CHECK: library{{ +}}linear
// CHECK: backward{{ .*}}rms_norm_grad
// CHECK: forward: {{.*}} moved, floor {{.*}}, op by op
// CHECK: result0{{ +}}bf16{{ +}}[33x64]{{ +.*}}ok
// CHECK: grad_arg0
// CHECK: grad_arg1
// CHECK: grad_arg2{{ +}}bf16{{ +}}[64x32]
// CHECK: tolerance: u * (4 + 4 * sqrt(steps))
// CHECK: check: ok
// EMPTY: check: ok
// EXACT: result0{{ +}}f64{{ .*}}0.00e+00
// JSON: "ok": true
// JSON: "copy_tbps"
// JSON: "time_us"
fuseops.fusible @f(%x: tensor<?x32xbf16>, %g: tensor<32xbf16>, %w: tensor<64x32xbf16>) -> tensor<?x64xbf16>
forward {
  %n, %rstd = fuseops.rms_norm %x gamma(%g) eps(1.0e-6) : (tensor<?x32xbf16>, tensor<32xbf16>) -> (tensor<?x32xbf16>, tensor<?x1xf32>)
  %y = fuseops.linear %n, %w : (tensor<?x32xbf16>, tensor<64x32xbf16>) -> tensor<?x64xbf16>
  fuseops.return %y : tensor<?x64xbf16>
}
