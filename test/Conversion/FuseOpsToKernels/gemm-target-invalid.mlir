// RUN: not fuse-opt %s --convert-fuseops-to-kernels="target=cuda chip=sm_100" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not fuse-opt %s --convert-fuseops-to-kernels=target=cpu 2>&1 | FileCheck %s --check-prefix=CPU

// CHIP: 'fuseops.group' op expected chip sm_90a for template `gemm`, but got sm_100
// CPU: 'fuseops.group' op expected target `cuda` for template `gemm`
fuseops.fusible @linear(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xbf16>
forward {
  %y = fuseops.group @k gemm (%a = %x, %b = %w) : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16> {
    %z = fuseops.linear %a, %b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
    fuseops.yield %z : tensor<?x64xbf16>
  }
  fuseops.return %y : tensor<?x64xbf16>
}
