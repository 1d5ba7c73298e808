// Gradients of slices of one value: joined, and not added to zeros.
// RUN: fuse-opt %s --fuseops-differentiate | FileCheck %s

// CHECK-LABEL: fuseops.fusible @slices_that_tile(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x12xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(0) : tensor<?x12xf32> -> tensor<?x4xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(4) : tensor<?x12xf32> -> tensor<?x4xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(8) : tensor<?x12xf32> -> tensor<?x4xf32>
// CHECK-NEXT:   fuseops.return %[[V2]], %[[V0]], %[[V1]] : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x4xf32>, %[[ARG1:.+]]: tensor<?x4xf32>, %[[ARG2:.+]]: tensor<?x4xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.concat %[[ARG1]], %[[ARG2]], %[[ARG0]] dim(1) : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x12xf32>
// CHECK-NEXT:   fuseops.return %[[V0]] : tensor<?x12xf32>
// CHECK-NEXT: }
fuseops.fusible @slices_that_tile(%x: tensor<?x12xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>)
forward {
  %a = fuseops.slice %x dim(1) offset(0) : tensor<?x12xf32> -> tensor<?x4xf32>
  %b = fuseops.slice %x dim(1) offset(4) : tensor<?x12xf32> -> tensor<?x4xf32>
  %c = fuseops.slice %x dim(1) offset(8) : tensor<?x12xf32> -> tensor<?x4xf32>
  fuseops.return %c, %a, %b : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: fuseops.fusible @gaps_are_zeros(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x12xf32>) -> (tensor<?x2xf32>, tensor<?x4xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(1) : tensor<?x12xf32> -> tensor<?x2xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(6) : tensor<?x12xf32> -> tensor<?x4xf32>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V1]] : tensor<?x2xf32>, tensor<?x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x2xf32>, %[[ARG1:.+]]: tensor<?x4xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise () : () -> tensor<?x1xf32> {
// CHECK: fuseops.yield %{{.+}} : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.pointwise () : () -> tensor<?x3xf32> {
// CHECK: fuseops.yield %{{.+}} : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V2:.+]] = fuseops.pointwise () : () -> tensor<?x2xf32> {
// CHECK: fuseops.yield %{{.+}} : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V3:.+]] = fuseops.concat %[[V0]], %[[ARG0]], %[[V1]], %[[ARG1]], %[[V2]] dim(1) : (tensor<?x1xf32>, tensor<?x2xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x2xf32>) -> tensor<?x12xf32>
// CHECK-NEXT:   fuseops.return %[[V3]] : tensor<?x12xf32>
// CHECK-NEXT: }
fuseops.fusible @gaps_are_zeros(%x: tensor<?x12xf32>) -> (tensor<?x2xf32>, tensor<?x4xf32>)
forward {
  %a = fuseops.slice %x dim(1) offset(1) : tensor<?x12xf32> -> tensor<?x2xf32>
  %b = fuseops.slice %x dim(1) offset(6) : tensor<?x12xf32> -> tensor<?x4xf32>
  fuseops.return %a, %b : tensor<?x2xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: fuseops.fusible @equal_slices_are_added(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(0) : tensor<?x8xf32> -> tensor<?x4xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(0) : tensor<?x8xf32> -> tensor<?x4xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(4) : tensor<?x8xf32> -> tensor<?x4xf32>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V1]], %[[V2]] : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x4xf32>, %[[ARG1:.+]]: tensor<?x4xf32>, %[[ARG2:.+]]: tensor<?x4xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.add %[[ARG1]], %[[ARG0]] : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.concat %[[V0]], %[[ARG2]] dim(1) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
// CHECK-NEXT:   fuseops.return %[[V1]] : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @equal_slices_are_added(%x: tensor<?x8xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>)
forward {
  %a = fuseops.slice %x dim(1) offset(0) : tensor<?x8xf32> -> tensor<?x4xf32>
  %b = fuseops.slice %x dim(1) offset(0) : tensor<?x8xf32> -> tensor<?x4xf32>
  %c = fuseops.slice %x dim(1) offset(4) : tensor<?x8xf32> -> tensor<?x4xf32>
  fuseops.return %a, %b, %c : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: fuseops.fusible @overlapping_slices_are_added(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>) -> (tensor<?x5xf32>, tensor<?x5xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(0) : tensor<?x8xf32> -> tensor<?x5xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(3) : tensor<?x8xf32> -> tensor<?x5xf32>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V1]] : tensor<?x5xf32>, tensor<?x5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x5xf32>, %[[ARG1:.+]]: tensor<?x5xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.pointwise () : () -> tensor<?x3xf32> {
// CHECK: fuseops.yield %{{.+}} : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V1:.+]] = fuseops.concat %[[V0]], %[[ARG1]] dim(1) : (tensor<?x3xf32>, tensor<?x5xf32>) -> tensor<?x8xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.pointwise () : () -> tensor<?x3xf32> {
// CHECK: fuseops.yield %{{.+}} : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[V3:.+]] = fuseops.concat %[[ARG0]], %[[V2]] dim(1) : (tensor<?x5xf32>, tensor<?x3xf32>) -> tensor<?x8xf32>
// CHECK-NEXT:   %[[V4:.+]] = fuseops.add %[[V1]], %[[V3]] : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK-NEXT:   fuseops.return %[[V4]] : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @overlapping_slices_are_added(%x: tensor<?x8xf32>) -> (tensor<?x5xf32>, tensor<?x5xf32>)
forward {
  %a = fuseops.slice %x dim(1) offset(0) : tensor<?x8xf32> -> tensor<?x5xf32>
  %b = fuseops.slice %x dim(1) offset(3) : tensor<?x8xf32> -> tensor<?x5xf32>
  fuseops.return %a, %b : tensor<?x5xf32>, tensor<?x5xf32>
}

// CHECK-LABEL: fuseops.fusible @every_other_element(
// CHECK-SAME: %[[ARG0:.+]]: tensor<?x8xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
// CHECK-NEXT: forward {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(0) step(2) : tensor<?x8xf32> -> tensor<?x4xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.slice %[[ARG0]] dim(1) offset(1) step(2) : tensor<?x8xf32> -> tensor<?x4xf32>
// CHECK-NEXT:   fuseops.return %[[V0]], %[[V1]] : tensor<?x4xf32>, tensor<?x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: backward (%[[ARG0:.+]]: tensor<?x4xf32>, %[[ARG1:.+]]: tensor<?x4xf32>) {
// CHECK-NEXT:   %[[V0:.+]] = fuseops.reshape %[[ARG1]] : tensor<?x4xf32> -> tensor<?x4x1xf32>
// CHECK-NEXT:   %[[V1:.+]] = fuseops.reshape %[[ARG0]] : tensor<?x4xf32> -> tensor<?x4x1xf32>
// CHECK-NEXT:   %[[V2:.+]] = fuseops.concat %[[V1]], %[[V0]] dim(2) : (tensor<?x4x1xf32>, tensor<?x4x1xf32>) -> tensor<?x4x2xf32>
// CHECK-NEXT:   %[[V3:.+]] = fuseops.reshape %[[V2]] : tensor<?x4x2xf32> -> tensor<?x8xf32>
// CHECK-NEXT:   fuseops.return %[[V3]] : tensor<?x8xf32>
// CHECK-NEXT: }
fuseops.fusible @every_other_element(%x: tensor<?x8xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
forward {
  %a = fuseops.slice %x dim(1) offset(0) step(2) : tensor<?x8xf32> -> tensor<?x4xf32>
  %b = fuseops.slice %x dim(1) offset(1) step(2) : tensor<?x8xf32> -> tensor<?x4xf32>
  fuseops.return %a, %b : tensor<?x4xf32>, tensor<?x4xf32>
}
