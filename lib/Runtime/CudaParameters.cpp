//===- CudaParameters.cpp - The parameters of a kernel on CUDA
//---------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaParameters.h"
#include "DType.h"
#include "Status.h"

#include <algorithm>

using namespace fuseops::runtime;

// CUtensorMapDataType of each element type, by its bits: FP8 and bool are
// UINT8, i16 is UINT16.
static constexpr int kMapTypes[kNumDTypes] = {8, 7, 6, 9, 0, 0, 0,
                                              0, 0, 0, 1, 3, 5};
// CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_256B and
// CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, which is zeros.
static constexpr int kMapInterleave = 0;
static constexpr int kMapPromotion = 3;
static constexpr int kMapFill = 0;

/// CUtensorMapSwizzle.
static int getSwizzle(int32_t bytes) {
  return bytes == 128 ? 3 : bytes == 64 ? 2 : bytes == 32 ? 1 : 0;
}

/// The memory of a tensor of the step that is not empty; NULL if all are.
static void *findMemory(const Entry &entry, const Step &step,
                        const Binding &binding) {
  for (int32_t index : step.kernel.tensors) {
    int64_t elements;
    if (entry.tensors[index].countElements(binding.symbol, elements) &&
        elements != 0)
      return binding.pointers[index];
  }
  return nullptr;
}

/// Encodes one map. The driver refuses one of nothing, so that an empty matrix
/// is one of a single row, column and matrix at `memory`, which no kernel
/// reads.
static fuseopsStatus encode(const CudaDriver &driver, const Entry &entry,
                            const Step &step, const TensorMap &map,
                            const Binding &binding, void *memory,
                            CudaTensorMap &encoded) {
  TensorMapSizes found;
  if (fuseopsStatus status =
          entry.sizeTensorMap(step, map, binding.symbol, found))
    return status;
  int32_t index = step.kernel.tensors[map.tensor];
  fuseopsDType dtype = entry.tensors[index].dtype;
  uint64_t bytes = fuseopsDTypeSize(dtype);
  uint64_t sizes[3] = {1, 1, 1};
  uint64_t strides[2] = {kCudaAlignment, map.batchPitch * bytes};
  if (!found.isEmpty()) {
    sizes[0] = found.columns;
    sizes[1] = found.rows;
    sizes[2] = found.batch;
    strides[0] = found.pitch * bytes;
  }
  // Tensors and rows begin where a map wants them; see `bindArguments`.
  uint32_t box[3] = {static_cast<uint32_t>(map.boxColumns),
                     static_cast<uint32_t>(map.boxRows), 1};
  uint32_t elementStrides[3] = {1, 1, 1};
  CudaResult result = driver.tensorMapEncode(
      &encoded, kMapTypes[dtype], map.batchPitch != 0 ? 3 : 2,
      found.isEmpty() ? memory : binding.pointers[index], sizes, strides, box,
      elementStrides, kMapInterleave, getSwizzle(map.swizzle), kMapPromotion,
      kMapFill);
  if (fuseopsStatus status = driver.check(result, "encoding its tensor map"))
    return addContext(status, ("`" + entry.tensors[index].name + "`").c_str());
  return FUSEOPS_OK;
}

fuseopsStatus CudaParameters::bind(const CudaDriver &driver, const Entry &entry,
                                   const Step &step, const Binding &binding,
                                   int64_t &workers) {
  const KernelStep &kernel = step.kernel;
  if (fuseopsStatus status = bindKernel(step, binding, rows, count))
    return status;
  workers = kernel.grid.countWorkers(rows);
  if (workers == 0)
    return FUSEOPS_OK;
  maps.resize(kernel.maps.size());
  if (!maps.empty() && !driver.tensorMapEncode)
    return fail(FUSEOPS_UNAVAILABLE,
                "expected a CUDA driver of version 12 or later: this one has "
                "no `cuTensorMapEncodeTiled`");
  void *memory = maps.empty() ? nullptr : findMemory(entry, step, binding);
  if (!maps.empty() && !memory) {
    // All of its tensors are empty: it has nothing to do.
    workers = 0;
    return FUSEOPS_OK;
  }
  for (size_t i = 0; i < maps.size(); ++i)
    if (fuseopsStatus status = encode(driver, entry, step, kernel.maps[i],
                                      binding, memory, maps[i]))
      return status;
  pointers.clear();
  for (int32_t index : kernel.tensors)
    pointers.push_back(const_cast<void **>(&binding.pointers[index]));
  for (CudaTensorMap &map : maps)
    pointers.push_back(&map);
  pointers.push_back(&rows);
  pointers.push_back(&count);
  return FUSEOPS_OK;
}
