// RUN: fuse-opt %s --convert-kernel-to-llvm=chip=gfx90a --verify-diagnostics

// expected-error @below {{expected a chip such as `sm_90a`, but got `gfx90a`}}
module {
}
