//===- Compiler.h - C ABI of the compiler ---------------------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles source text to a program file, code, IR or a report, in
// libfuseops_compiler. What it makes, libfuseops_runtime loads (Runtime.h);
// neither library needs the other.
//
// Any thread may compile; one compilation runs at a time. A failed one leaves
// nothing behind. No function throws or ends the process.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_C_COMPILER_H
#define FUSEOPS_C_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define FUSEOPS_COMPILER_API __attribute__((visibility("default")))
#else
#define FUSEOPS_COMPILER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// What a compilation came to.
typedef enum fuseopsCompileStatus {
  FUSEOPS_COMPILE_OK = 0,
  /// The source is at fault, or this machine lacks a tool; see the diagnostics.
  FUSEOPS_COMPILE_FAILED = 1,
  /// An option is wrong; the diagnostics say which.
  FUSEOPS_COMPILE_INVALID_OPTIONS = 2
} fuseopsCompileStatus;

/// How to compile. A string that is NULL is its default.
typedef struct fuseopsCompileOptions {
  /// sizeof(fuseopsCompileOptions) of the caller.
  size_t struct_size;
  /// cpu (the default), cpu:x86-64-v3, cuda, cuda:sm_90a, reference.
  const char *target;
  /// program (the default), report, ptx, cubin, obj, ir.
  const char *emit;
  /// With `ir`: the phase to stop after, by default the last.
  const char *compile_to;
  /// The recipe of programs that carry none, as `#fuseops.recipe<>` has it
  /// (`block`; `delayed, history = 16`); none by default.
  const char *recipe;
  /// The fusible to compile; by default the only public one.
  const char *entry;
  /// Folders of Python packages, `:` between them, which may hold a CUDA
  /// assembler; looked at before those of VIRTUAL_ENV.
  const char *python_sites;
  /// Whether weights are quantized in an entry of their own, `prepare`.
  int prepare;
  /// The file of measured schedules that kernels get, as `fuse-compile --tune`
  /// writes it; none by default.
  const char *schedules;
} fuseopsCompileOptions;

/// The outcome of a compilation.
typedef struct fuseopsCompilation fuseopsCompilation;

/// Compiles `size` bytes of source text, which diagnostics call `name`.
/// `options` may be NULL. Writes to `result` what fuseopsCompilationDestroy
/// frees, whatever the status.
FUSEOPS_COMPILER_API fuseopsCompileStatus fuseopsCompile(
    const char *source, size_t size, const char *name,
    const fuseopsCompileOptions *options, fuseopsCompilation **result);

/// What was emitted, `size` bytes followed by a zero; empty after a failure.
FUSEOPS_COMPILER_API const char *
fuseopsCompilationOutput(const fuseopsCompilation *compilation, size_t *size);

/// The compiler's report, JSON; empty after a failure and for IR.
FUSEOPS_COMPILER_API const char *
fuseopsCompilationReport(const fuseopsCompilation *compilation);

/// Errors, warnings and notes, `file:line:column: error: text`, one a line.
FUSEOPS_COMPILER_API const char *
fuseopsCompilationDiagnostics(const fuseopsCompilation *compilation);

/// Frees a compilation and its strings. NULL is fine.
FUSEOPS_COMPILER_API void
fuseopsCompilationDestroy(fuseopsCompilation *compilation);

/// The version of this library, such as "0.1.0".
FUSEOPS_COMPILER_API const char *fuseopsCompilerVersion(void);

#ifdef __cplusplus
}
#endif

#endif // FUSEOPS_C_COMPILER_H
