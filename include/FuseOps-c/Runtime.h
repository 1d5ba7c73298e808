//===- Runtime.h - C ABI of the runtime: load, describe, run --------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the programs that fuse-compile writes. A program has entries (`forward`,
// `backward`), each a list of steps over tensors whose extents are
// `constant + per_symbol * S`, maybe plus multiples of the number of blocks of
// 32 and 128 that S has, for one size S that the inputs decide.
//
// Every function that can fail returns a status; `fuseopsLastError` then gives
// the sentence. No function throws or ends the process. A program may be used
// by any number of threads at once; only `fuseopsProgramDestroy` must be alone.
// Strings and arrays that are returned belong to the program and live as long.
//
// Environment: FUSEOPS_NUM_THREADS (CPU threads, read once), FUSEOPS_CUBLASLT
// (path of libcublasLt), FUSEOPS_PYTHON_SITE (folders, `:` between them, whose
// nvidia/*/lib is searched for it).
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_C_RUNTIME_H
#define FUSEOPS_C_RUNTIME_H

#include "FuseOps-c/DLPack.h"

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define FUSEOPS_RUNTIME_API __attribute__((visibility("default")))
#else
#define FUSEOPS_RUNTIME_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// What a call came to.
typedef enum fuseopsStatus {
  FUSEOPS_OK = 0,
  /// The caller's arguments are at fault: index, shape, dtype, device, …
  FUSEOPS_INVALID_ARGUMENT = 1,
  /// The program's bytes are damaged, or not a program of this version.
  FUSEOPS_INVALID_PROGRAM = 2,
  /// This machine lacks what the program needs: a driver, a device, a library.
  FUSEOPS_UNAVAILABLE = 3,
  /// Something failed while it ran, such as a launch or an allocation.
  FUSEOPS_RUNTIME_ERROR = 4
} fuseopsStatus;

/// Element types, with the values that the program file uses.
typedef enum fuseopsDType {
  FUSEOPS_F64 = 0,
  FUSEOPS_F32 = 1,
  FUSEOPS_F16 = 2,
  FUSEOPS_BF16 = 3,
  FUSEOPS_F8E4M3FN = 4,
  FUSEOPS_F8E5M2 = 5,
  FUSEOPS_F8E8M0FNU = 6,
  FUSEOPS_I1 = 7,
  FUSEOPS_I8 = 8,
  FUSEOPS_U8 = 9,
  FUSEOPS_I16 = 10,
  FUSEOPS_I32 = 11,
  FUSEOPS_I64 = 12
} fuseopsDType;

/// A loaded program.
typedef struct fuseopsProgram fuseopsProgram;

/// A size: `constant + per_symbol * S + per_block32 * ceil(S / 32) +
/// per_block128 * ceil(S / 128)`.
typedef struct fuseopsExtent {
  int64_t constant;
  int64_t per_symbol;
  int64_t per_block32;
  int64_t per_block128;
} fuseopsExtent;

/// An entry of a program.
typedef struct fuseopsEntryInfo {
  const char *name;
  int32_t num_inputs;
  int32_t num_outputs;
  /// How many outputs are results; the ones after them are saved values.
  int32_t num_results;
  /// Of a backward entry: how many inputs are gradients; saved values follow.
  int32_t num_gradients;
  int32_t num_steps;
} fuseopsEntryInfo;

/// An input or an output of an entry.
typedef struct fuseopsTensorInfo {
  /// Empty for an output that is none.
  const char *name;
  /// The DLPack type that a tensor must have (FP8 and bool also pass as
  /// `uint8`).
  DLDataType dl_dtype;
  /// A `fuseopsDType`.
  int32_t dtype;
  int32_t rank;
  /// `rank` extents.
  const fuseopsExtent *shape;
  /// Of an output that is an input: the index of that input, else -1.
  int32_t alias_input;
  /// Of an output that is an earlier output: that output's index, else -1.
  int32_t alias_output;
  /// Whether an output does not exist (an argument without a gradient).
  int32_t is_none;
} fuseopsTensorInfo;

/// A step of an entry, for a given symbol.
typedef struct fuseopsStepInfo {
  /// Name of the kernel or library call, unique in the program.
  const char *name;
  /// pointwise, row, row_column, finalize, library, …; empty where not said.
  const char *template_name;
  int32_t num_members;
  /// Names of the operations that are fused in the step.
  const char *const *members;
  /// Whether a library runs it (a matrix product), not a generated kernel.
  int32_t is_library;
  /// Bytes that it reads and writes in memory.
  int64_t bytes;
  /// Floating-point operations of a contraction, else 0.
  int64_t flops;
} fuseopsStepInfo;

/// The sentence for the last call of this thread that failed; empty before the
/// first. Valid until the thread's next call that fails.
FUSEOPS_RUNTIME_API const char *fuseopsLastError(void);

/// The version of this library, such as "0.1.0".
FUSEOPS_RUNTIME_API const char *fuseopsRuntimeVersion(void);

/// A word for a status, such as "invalid argument".
FUSEOPS_RUNTIME_API const char *fuseopsStatusName(fuseopsStatus status);

/// The spelling of a `fuseopsDType`, such as "bf16"; "unknown" if none.
FUSEOPS_RUNTIME_API const char *fuseopsDTypeName(int32_t dtype);

/// Bytes of one element of a `fuseopsDType`; 0 if there is none such.
FUSEOPS_RUNTIME_API size_t fuseopsDTypeSize(int32_t dtype);

//===----------------------------------------------------------------------===//
// Load
//===----------------------------------------------------------------------===//

/// Checks the `size` bytes of a program file and loads it; `data` is copied.
/// Neither executes nor needs the program's target: see fuseopsProgramPrepare.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsProgramLoad(const void *data,
                                                     size_t size,
                                                     fuseopsProgram **program);

/// The same from a file.
FUSEOPS_RUNTIME_API fuseopsStatus
fuseopsProgramLoadFile(const char *path, fuseopsProgram **program);

/// Frees the program and the code it loaded. NULL is fine. Work that it
/// launched must have ended.
FUSEOPS_RUNTIME_API void fuseopsProgramDestroy(fuseopsProgram *program);

/// Loads the code for a device, which else the first run does: kernels, and
/// cuBLASLt where a step needs it. After it a run of a known shape neither
/// loads nor allocates on the device, so that it can be captured in a graph.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsProgramPrepare(fuseopsProgram *program,
                                                        int32_t device_id);

//===----------------------------------------------------------------------===//
// Describe
//===----------------------------------------------------------------------===//

/// "cpu", "cuda" or "reference".
FUSEOPS_RUNTIME_API const char *
fuseopsProgramTarget(const fuseopsProgram *program);

/// The device type that its tensors live on: kDLCPU or kDLCUDA.
FUSEOPS_RUNTIME_API int32_t
fuseopsProgramDeviceType(const fuseopsProgram *program);

/// The symbol of the fusible that was compiled.
FUSEOPS_RUNTIME_API const char *
fuseopsProgramName(const fuseopsProgram *program);

/// Version of the compiler that wrote it.
FUSEOPS_RUNTIME_API const char *
fuseopsProgramCompiler(const fuseopsProgram *program);

/// The compiler's report, JSON; empty if it wrote none.
FUSEOPS_RUNTIME_API const char *
fuseopsProgramReport(const fuseopsProgram *program);

/// Smallest and largest value that the symbol may take.
FUSEOPS_RUNTIME_API void
fuseopsProgramSymbolRange(const fuseopsProgram *program, int64_t *minimum,
                          int64_t *maximum);

/// Number of entries.
FUSEOPS_RUNTIME_API int32_t
fuseopsProgramNumEntries(const fuseopsProgram *program);

/// Index of the entry of that name, -1 if there is none.
FUSEOPS_RUNTIME_API int32_t
fuseopsProgramFindEntry(const fuseopsProgram *program, const char *name);

/// Describes entry `entry`.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsEntryDescribe(
    const fuseopsProgram *program, int32_t entry, fuseopsEntryInfo *info);

/// Describes input `index` of an entry.
FUSEOPS_RUNTIME_API fuseopsStatus
fuseopsEntryInput(const fuseopsProgram *program, int32_t entry, int32_t index,
                  fuseopsTensorInfo *info);

/// Describes output `index` of an entry.
FUSEOPS_RUNTIME_API fuseopsStatus
fuseopsEntryOutput(const fuseopsProgram *program, int32_t entry, int32_t index,
                   fuseopsTensorInfo *info);

/// Writes the shape of input `index` for a symbol; `shape` holds its rank.
FUSEOPS_RUNTIME_API fuseopsStatus
fuseopsEntryInputShape(const fuseopsProgram *program, int32_t entry,
                       int32_t index, int64_t symbol, int64_t *shape);

/// Writes the shape of output `index` for a symbol; `shape` holds its rank.
FUSEOPS_RUNTIME_API fuseopsStatus
fuseopsEntryOutputShape(const fuseopsProgram *program, int32_t entry,
                        int32_t index, int64_t symbol, int64_t *shape);

/// Describes step `index` of an entry for a symbol.
FUSEOPS_RUNTIME_API fuseopsStatus
fuseopsEntryStep(const fuseopsProgram *program, int32_t entry, int32_t index,
                 int64_t symbol, fuseopsStepInfo *info);

/// The least bytes that the entry can move (each input read once, each output
/// written once), and what the same program moves op by op. Either may be NULL.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsEntryTraffic(
    const fuseopsProgram *program, int32_t entry, int64_t symbol,
    int64_t *floor_bytes, int64_t *unfused_bytes);

/// The symbol that these inputs' shapes give. Where no input has a symbolic
/// extent, it is the smallest that the program allows.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsEntryInferSymbol(
    const fuseopsProgram *program, int32_t entry, const DLTensor *const *inputs,
    int32_t num_inputs, int64_t *symbol);

/// Bytes of workspace that a run with these inputs needs for a symbol: those of
/// fuseopsEntryWorkspaceBytes, and a copy of each input that fuseopsRun packs.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsEntryWorkspaceBytesFor(
    const fuseopsProgram *program, int32_t entry, int64_t symbol,
    const DLTensor *const *inputs, int32_t num_inputs, size_t *bytes);

/// The same where every input is packed, and on CUDA aligned to 16 bytes.
FUSEOPS_RUNTIME_API fuseopsStatus
fuseopsEntryWorkspaceBytes(const fuseopsProgram *program, int32_t entry,
                           int64_t symbol, size_t *bytes);

//===----------------------------------------------------------------------===//
// Run
//===----------------------------------------------------------------------===//

/// Runs an entry.
///
/// Inputs and outputs are tensors on the program's device. Inputs may have any
/// strides (NULL: packed), also 0 and negative ones. What is not packed and
/// row-major, or on CUDA not aligned to 16 bytes, is first copied into the
/// workspace, as a part of the run but of none of its steps. Outputs are packed
/// and row-major. An output that is none, an input or an earlier output may be
/// NULL: the caller has its value already, and nothing is copied. No output may
/// overlap the span of an input, another output or the workspace.
///
/// `workspace` has at least fuseopsEntryWorkspaceBytesFor bytes on that device,
/// aligned to 256 bytes (CUDA) or 16 bytes (CPU). `stream` is a CUDA stream,
/// NULL the default one; on the CPU it is ignored and the call returns when
/// the work is done. On CUDA the call returns once everything is enqueued.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsRun(
    fuseopsProgram *program, int32_t entry, const DLTensor *const *inputs,
    int32_t num_inputs, const DLTensor *const *outputs, int32_t num_outputs,
    void *workspace, size_t workspace_bytes, void *stream);

/// Runs an entry and writes how long each of its steps took, in microseconds,
/// between CUDA events or by the steady clock. Waits for the work to end.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsRunProfiled(
    fuseopsProgram *program, int32_t entry, const DLTensor *const *inputs,
    int32_t num_inputs, const DLTensor *const *outputs, int32_t num_outputs,
    void *workspace, size_t workspace_bytes, void *stream,
    double *step_microseconds);

/// Runs an entry `repetitions` times back to back, and writes the mean time of
/// one run in microseconds. Waits for the work to end.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsRunRepeated(
    fuseopsProgram *program, int32_t entry, const DLTensor *const *inputs,
    int32_t num_inputs, const DLTensor *const *outputs, int32_t num_outputs,
    void *workspace, size_t workspace_bytes, void *stream, int32_t repetitions,
    double *microseconds);

//===----------------------------------------------------------------------===//
// Devices, for tools that have no framework
//===----------------------------------------------------------------------===//

/// Number of devices of a kind (kDLCPU or kDLCUDA). Without a CUDA driver it
/// writes 0 and returns FUSEOPS_UNAVAILABLE with the reason.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsDeviceCount(int32_t device_type,
                                                     int32_t *count);

/// Writes the device's name into `name`, `size` bytes with the final zero.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsDeviceName(int32_t device_type,
                                                    int32_t device_id,
                                                    char *name, size_t size);

/// Writes the architecture that code for this device names: sm_90, x86-64-v4.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsDeviceArch(int32_t device_type,
                                                    int32_t device_id,
                                                    char *arch, size_t size);

/// Allocates device memory, aligned to 256 bytes. No bytes give NULL.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsDeviceAllocate(int32_t device_type,
                                                        int32_t device_id,
                                                        size_t bytes,
                                                        void **pointer);

/// Frees what fuseopsDeviceAllocate gave.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsDeviceFree(int32_t device_type,
                                                    int32_t device_id,
                                                    void *pointer);

/// Copies from the host; the bytes have arrived when it returns.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsDeviceCopyToDevice(int32_t device_type,
                                                            int32_t device_id,
                                                            void *destination,
                                                            const void *source,
                                                            size_t bytes);

/// Copies to the host, after all work on the device has ended.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsDeviceCopyToHost(int32_t device_type,
                                                          int32_t device_id,
                                                          void *destination,
                                                          const void *source,
                                                          size_t bytes);

/// Measures the bandwidth of a copy of `bytes` bytes within the device: bytes
/// read plus bytes written in TB/s, by the median of `runs` copies after a
/// warm-up (CUDA: the driver's own copy between events; CPU: memcpy on the
/// runtime's threads). Allocates twice `bytes` for as long as it takes.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsDeviceMeasureCopy(int32_t device_type,
                                                           int32_t device_id,
                                                           size_t bytes,
                                                           int32_t runs,
                                                           double *tbps);

/// Sets `bytes` bytes to `value`.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsDeviceMemset(int32_t device_type,
                                                      int32_t device_id,
                                                      void *pointer,
                                                      uint8_t value,
                                                      size_t bytes);

/// Waits for all work on the device.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsDeviceSynchronize(int32_t device_type,
                                                           int32_t device_id);

/// Waits for a CUDA stream, NULL the default one; on the CPU does nothing.
FUSEOPS_RUNTIME_API fuseopsStatus fuseopsStreamSynchronize(int32_t device_type,
                                                           int32_t device_id,
                                                           void *stream);

#ifdef __cplusplus
}
#endif

#endif // FUSEOPS_C_RUNTIME_H
