//===- StaticStandIns.cpp - What lld refers to and never calls here -------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Only in a static build. lld's driver refers to every target that LLVM was
// built with, and to Polly, for the sake of link-time optimisation. Linking
// machine code calls none of it, and all of it would triple our tools.
//
//===----------------------------------------------------------------------===//

#include "llvm/Plugins/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo();

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "None", "", [](llvm::PassBuilder &) {},
          nullptr};
}

// The lists below name X86 and NVPTX too, which are linked for real: here their
// functions get names that nobody calls.
#define LLVMInitializeX86TargetInfo fuseopsUnusedX86TargetInfo
#define LLVMInitializeX86Target fuseopsUnusedX86Target
#define LLVMInitializeX86TargetMC fuseopsUnusedX86TargetMC
#define LLVMInitializeX86AsmPrinter fuseopsUnusedX86AsmPrinter
#define LLVMInitializeX86AsmParser fuseopsUnusedX86AsmParser
#define LLVMInitializeNVPTXTargetInfo fuseopsUnusedNVPTXTargetInfo
#define LLVMInitializeNVPTXTarget fuseopsUnusedNVPTXTarget
#define LLVMInitializeNVPTXTargetMC fuseopsUnusedNVPTXTargetMC
#define LLVMInitializeNVPTXAsmPrinter fuseopsUnusedNVPTXAsmPrinter

#define LLVM_TARGET(name)                                                      \
  extern "C" void LLVMInitialize##name##TargetInfo() {}                        \
  extern "C" void LLVMInitialize##name##Target() {}                            \
  extern "C" void LLVMInitialize##name##TargetMC() {}
#include "llvm/Config/Targets.def"

#define LLVM_ASM_PRINTER(name)                                                 \
  extern "C" void LLVMInitialize##name##AsmPrinter() {}
#include "llvm/Config/AsmPrinters.def"

#define LLVM_ASM_PARSER(name)                                                  \
  extern "C" void LLVMInitialize##name##AsmParser() {}
#include "llvm/Config/AsmParsers.def"
