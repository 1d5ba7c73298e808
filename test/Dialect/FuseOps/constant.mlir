// RUN: fuse-opt %s | fuse-opt | FileCheck %s

// CHECK-LABEL: fuseops.fusible @constants
// CHECK: %[[A:.+]] = fuseops.constant dense<[1, 2]> : tensor<2xui8>
// CHECK: %[[B:.+]] = fuseops.constant dense_resource<two> : tensor<2xf8E4M3FN>
// CHECK: two: "0x010000003840"
fuseops.fusible @constants(%x: tensor<2xf32>) -> (tensor<2xui8>, tensor<2xf8E4M3FN>)
forward {
  %a = fuseops.constant dense<[1, 2]> : tensor<2xui8>
  %b = fuseops.constant dense_resource<two> : tensor<2xf8E4M3FN>
  fuseops.return %a, %b : tensor<2xui8>, tensor<2xf8E4M3FN>
}

{-#
  dialect_resources: { builtin: { two: "0x010000003840" } }
#-}
