//===- TestKernels.h - Kernels from text, compiled and opened -------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_UNITTESTS_TARGET_TESTKERNELS_H
#define FUSEOPS_UNITTESTS_TARGET_TESTKERNELS_H

#include "FuseOps/Conversion/KernelToLLVM.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace mlir::fuseops {

/// A context with every dialect that a kernel may use, whose diagnostics are
/// collected as text.
class TestContext {
public:
  TestContext();
  MLIRContext &get() { return context; }
  /// The text of all diagnostics so far, one a line.
  std::string &getDiagnostics() { return diagnostics; }
  /// Parses a module; a parse error fails the test.
  OwningOpRef<ModuleOp> parse(StringRef text);

private:
  MLIRContext context;
  std::string diagnostics;
};

/// A shared object, opened from memory.
class OpenedKernels {
public:
  /// Compiles and opens `kernels`, which are in the form the emitter gives
  /// them.
  OpenedKernels(TestContext &context, ModuleOp kernels, StringRef cpu);
  ~OpenedKernels();
  OpenedKernels(const OpenedKernels &) = delete;

  bool isOpen() const { return library != nullptr; }
  void *find(const char *name) const;

  /// Calls `name`(in, out, count), which works on 16 elements at a time.
  template <typename In, typename Out>
  std::vector<Out> map(const char *name, std::vector<In> in) const {
    size_t count = in.size();
    in.resize((count + 15) / 16 * 16);
    std::vector<Out> out(in.size(), Out(77));
    using Function = void (*)(const void *, void *, int64_t);
    if (auto function = reinterpret_cast<Function>(find(name)))
      function(in.data(), out.data(), in.size());
    out.resize(count);
    return out;
  }

private:
  void *library = nullptr;
};

/// A kernel `name`(in, out, count) that applies `body`, text that computes `%y`
/// from `%x`, to `width` elements at a time; `inType` and `outType` are the
/// memory's types. `VT(…)` in the body becomes the vector type of `…`.
std::string mapKernel(StringRef name, StringRef inType, StringRef outType,
                      StringRef body, unsigned width = 16);

} // namespace mlir::fuseops

#endif // FUSEOPS_UNITTESTS_TARGET_TESTKERNELS_H
