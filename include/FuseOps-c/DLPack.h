//===- DLPack.h - The part of DLPack that the C ABI speaks ----------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensors cross the C ABI as `DLTensor` of DLPack 1.x. This header declares
// the same binary layout, so that nothing has to be installed to call FuseOps.
// Where `dlpack/dlpack.h` (or a framework's copy of it) is included too, it has
// to come first: this header then declares nothing.
//
//===----------------------------------------------------------------------===//

#ifndef FUSEOPS_C_DLPACK_H
#define FUSEOPS_C_DLPACK_H

#ifndef DLPACK_DLPACK_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
/// Where memory lives.
typedef enum : int32_t {
#else
typedef enum {
#endif
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLCUDAManaged = 13
} DLDeviceType;

/// A device: its kind and its number.
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;

/// Kinds of element. The FP8 codes are those of DLPack 1.1.
typedef enum {
  kDLInt = 0U,
  kDLUInt = 1U,
  kDLFloat = 2U,
  kDLBfloat = 4U,
  kDLBool = 6U,
  kDLFloat8_e4m3fn = 10U,
  kDLFloat8_e5m2 = 12U,
  kDLFloat8_e8m0fnu = 14U
} DLDataTypeCode;

/// An element type: a `DLDataTypeCode`, its width, and its number of lanes.
typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;

/// A strided view of memory that it does not own. `strides` count elements and
/// may be NULL for a packed row-major tensor.
typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
} DLTensor;

/// A tensor with its owner; `deleter` gives it back.
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

#ifdef __cplusplus
}
#endif

#endif // DLPACK_DLPACK_H_

#endif // FUSEOPS_C_DLPACK_H
