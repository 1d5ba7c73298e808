//===- TestKernels.c - Kernels of the CPU target for the runtime's tests -===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <stdint.h>

#define COLUMNS 4

static int64_t firstRow(int64_t rows, int64_t worker, int64_t workers) {
  int64_t each = (rows + workers - 1) / workers;
  int64_t first = each * worker;
  return first < rows ? first : rows;
}

/// y = 2 * x + b.
void scale_add(void *const *tensors, int64_t rows, int64_t count,
               int64_t worker, int64_t workers) {
  const float *x = tensors[0], *b = tensors[1];
  float *y = tensors[2];
  (void)count;
  for (int64_t i = firstRow(rows, worker, workers);
       i < firstRow(rows, worker + 1, workers); ++i)
    for (int64_t j = 0; j < COLUMNS; ++j)
      y[i * COLUMNS + j] = 2 * x[i * COLUMNS + j] + b[j];
}

/// partial[worker] = the sum of the worker's rows of x.
void column_partial(void *const *tensors, int64_t rows, int64_t count,
                    int64_t worker, int64_t workers) {
  const float *x = tensors[0];
  float *partial = (float *)tensors[1] + worker * COLUMNS;
  (void)count;
  for (int64_t j = 0; j < COLUMNS; ++j)
    partial[j] = 0;
  for (int64_t i = firstRow(rows, worker, workers);
       i < firstRow(rows, worker + 1, workers); ++i)
    for (int64_t j = 0; j < COLUMNS; ++j)
      partial[j] += x[i * COLUMNS + j];
}

/// sum = the sum of `count` partial rows. Its rows are the columns.
void finalize(void *const *tensors, int64_t rows, int64_t count, int64_t worker,
              int64_t workers) {
  const float *partial = tensors[0];
  float *sum = tensors[1];
  for (int64_t j = firstRow(rows, worker, workers);
       j < firstRow(rows, worker + 1, workers); ++j) {
    sum[j] = 0;
    for (int64_t i = 0; i < count; ++i)
      sum[j] += partial[i * COLUMNS + j];
  }
}
