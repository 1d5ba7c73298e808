//===- aot_program.c - Runs a compiled program from C ---------------------===//
//
// Part of the FuseOps project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// aot_program PROGRAM ROWS: loads examples/bias_gelu.mlir as fuse-compile or
// examples/aot_program.py compiled it for the CPU, runs it forward and backward
// on so many rows, and compares with plain C. Links libfuseops_runtime only.
//
//===----------------------------------------------------------------------===//

#include "FuseOps-c/Runtime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kColumns = 256, kMaxTensors = 8, kMaxRank = 4 };

// A tensor with its memory and shape.
typedef struct {
  DLTensor view;
  int64_t shape[kMaxRank];
} Tensor;

static void check(fuseopsStatus status) {
  if (status == FUSEOPS_OK)
    return;
  fprintf(stderr, "%s: %s\n", fuseopsStatusName(status), fuseopsLastError());
  exit(1);
}

static void *allocate(size_t bytes) {
  // Aligned as a workspace has to be; tensors need no more than their dtype.
  void *memory = aligned_alloc(64, (bytes + 64) / 64 * 64);
  if (!memory)
    exit(1);
  return memory;
}

// Makes output `index` of an entry for a symbol.
static void makeOutput(fuseopsProgram *program, int32_t entry, int32_t index,
                       int64_t symbol, Tensor *tensor) {
  fuseopsTensorInfo info;
  check(fuseopsEntryOutput(program, entry, index, &info));
  check(fuseopsEntryOutputShape(program, entry, index, symbol, tensor->shape));
  size_t bytes = fuseopsDTypeSize(info.dtype);
  for (int32_t i = 0; i < info.rank; ++i)
    bytes *= (size_t)tensor->shape[i];
  DLTensor view = {allocate(bytes), {kDLCPU, 0},      info.rank, info.dl_dtype,
                   tensor->shape,   /*strides=*/NULL, 0};
  tensor->view = view;
}

// Runs an entry on inputs, and makes its outputs. What the program says about
// an output that is an input or an earlier output is taken at its word.
static void run(fuseopsProgram *program, const char *name, Tensor **inputs,
                Tensor *outputs, fuseopsEntryInfo *info) {
  int32_t entry = fuseopsProgramFindEntry(program, name);
  check(fuseopsEntryDescribe(program, entry, info));
  if (info->num_inputs > kMaxTensors || info->num_outputs > kMaxTensors)
    exit(1);
  const DLTensor *given[kMaxTensors], *made[kMaxTensors];
  for (int32_t i = 0; i < info->num_inputs; ++i)
    given[i] = &inputs[i]->view;
  int64_t symbol = 0;
  check(fuseopsEntryInferSymbol(program, entry, given, info->num_inputs,
                                &symbol));
  for (int32_t i = 0; i < info->num_outputs; ++i) {
    fuseopsTensorInfo output;
    check(fuseopsEntryOutput(program, entry, i, &output));
    made[i] = NULL;
    if (output.alias_input >= 0) {
      outputs[i] = *inputs[output.alias_input];
    } else if (output.alias_output >= 0) {
      outputs[i] = outputs[output.alias_output];
    } else if (!output.is_none) {
      makeOutput(program, entry, i, symbol, &outputs[i]);
      made[i] = &outputs[i].view;
    }
    outputs[i].view.shape = outputs[i].shape;
  }
  size_t bytes = 0;
  check(fuseopsEntryWorkspaceBytesFor(program, entry, symbol, given,
                                      info->num_inputs, &bytes));
  void *workspace = allocate(bytes);
  check(fuseopsRun(program, entry, given, info->num_inputs, made,
                   info->num_outputs, workspace, bytes, /*stream=*/NULL));
  free(workspace);
}

// A tensor of f32 with values between -2 and 2.
static void makeInput(Tensor *tensor, int32_t rank, int64_t rows) {
  int64_t count = rank == 2 ? rows * kColumns : kColumns;
  float *values = allocate((size_t)count * sizeof(float));
  for (int64_t i = 0; i < count; ++i)
    values[i] = 4.0f * (float)rand() / (float)RAND_MAX - 2.0f;
  tensor->shape[0] = rank == 2 ? rows : kColumns;
  tensor->shape[1] = kColumns;
  DLTensor view = {values,        {kDLCPU, 0}, rank, {kDLFloat, 32, 1},
                   tensor->shape, NULL,        0};
  tensor->view = view;
}

// The larger of `error` and the distance of two values, measured in `scale`
// where that is above 1.
static double worst(double error, double got, double expected, double scale) {
  return fmax(error, fabs(got - expected) / fmax(1.0, scale));
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: aot_program PROGRAM ROWS\n");
    return 2;
  }
  int64_t rows = atoll(argv[2]);
  fuseopsProgram *program = NULL;
  check(fuseopsProgramLoadFile(argv[1], &program));

  Tensor x, bias, gradient, outputs[kMaxTensors], gradients[kMaxTensors];
  makeInput(&x, 2, rows);
  makeInput(&bias, 1, rows);
  makeInput(&gradient, 2, rows);
  fuseopsEntryInfo forward, backward;
  Tensor *arguments[kMaxTensors] = {&x, &bias};
  run(program, "forward", arguments, outputs, &forward);
  // Backward takes the gradient of each result, then what forward saved.
  Tensor *inputs[kMaxTensors] = {&gradient};
  for (int32_t i = forward.num_results; i < forward.num_outputs; ++i)
    inputs[1 + i - forward.num_results] = &outputs[i];
  run(program, "backward", inputs, gradients, &backward);

  const float *px = x.view.data, *pb = bias.view.data,
              *pdy = gradient.view.data;
  const float *y = outputs[0].view.data, *dx = gradients[0].view.data;
  const float *db = gradients[1].view.data;
  double forwardError = 0, backwardError = 0;
  for (int64_t column = 0; column < kColumns; ++column) {
    double sum = 0, magnitude = 0;
    for (int64_t row = 0; row < rows; ++row) {
      int64_t i = row * kColumns + column;
      double s = (double)px[i] + pb[column];
      double phi = 0.5 * (1 + erf(s / sqrt(2.0)));
      double slope = phi + s * exp(-s * s / 2) / sqrt(2 * 3.14159265358979324);
      forwardError = worst(forwardError, y[i], s * phi, 1);
      backwardError = worst(backwardError, dx[i], pdy[i] * slope, 1);
      sum += pdy[i] * slope;
      magnitude += fabs(pdy[i] * slope);
    }
    backwardError = worst(backwardError, db[column], sum, magnitude);
  }
  printf("%s from C, %lld rows: forward error %.1e, backward error %.1e\n",
         fuseopsProgramName(program), (long long)rows, forwardError,
         backwardError);
  fuseopsProgramDestroy(program);
  return forwardError < 1e-6 && backwardError < 1e-6 ? 0 : 1;
}
