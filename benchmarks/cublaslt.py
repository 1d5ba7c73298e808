# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of cuBLASLt that PyTorch does not make."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import byref, c_float, c_int, c_int8, c_int64, c_size_t, c_uint64, c_void_p, sizeof

import torch

# The one that PyTorch has loaded.
LIBRARY = f"libcublasLt.so.{(torch.version.cuda or '13').partition('.')[0]}"
# Of library_types.h, cublas_api.h and cublasLt.h.
F32, COMPUTE_F32 = 0, 68
TYPES = {torch.float8_e4m3fn: 28, torch.float8_e5m2: 29, torch.float32: F32}
TRANSPOSE_A, SCALE_A, SCALE_B, FAST_ACCUMULATION, MODE_A, MODE_B = 3, 17, 18, 25, 31, 32
VECTORS_OF_128 = 4
MOST_WORKSPACE = 1
WORKSPACE_BYTES = 32 << 20
ALGORITHMS = 4


class Heuristic(ctypes.Structure):
    """A cublasLtMatmulHeuristicResult_t."""

    _fields_ = (
        ("algorithm", c_uint64 * 8),
        ("workspace_bytes", c_size_t),
        ("state", c_int),
        ("waves", c_float),
        ("reserved", c_int * 4),
    )


class Library:
    """cuBLASLt; a call that fails is a RuntimeError. What it makes stays until the process ends."""

    def __init__(self) -> None:
        self.functions = ctypes.CDLL(LIBRARY)

    def call(self, name: str, *arguments: object) -> None:
        if status := getattr(self.functions, f"cublasLt{name}")(*arguments):
            raise RuntimeError(f"cublasLt{name}: status {status}")

    def make(self, name: str, *arguments: object) -> c_void_p:
        made = c_void_p()
        self.call(name, byref(made), *arguments)
        return made

    def set(self, kind: str, of: c_void_p, attribute: int, value: ctypes._SimpleCData) -> None:
        size = c_size_t(sizeof(value))
        self.call(f"Matmul{kind}SetAttribute", of, attribute, byref(value), size)


def list_accumulations(
    a: torch.Tensor, s: torch.Tensor, b: torch.Tensor, t: torch.Tensor, c: torch.Tensor
) -> list[Callable[[], torch.Tensor]]:
    """Calls that add a b^T to a copy of the f32 c, each by another algorithm that cuBLASLt
    proposes; they return the copy. The scales s and t are of whole tensors, with fast
    accumulation, or [k / 128, rows] of 128 along k, without; they must outlive the calls."""
    library = Library()
    handle = library.make("Create")
    sums = c.clone()
    workspace = torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device=c.device)
    # It sees columns first, so that this is c^T = b a^T.
    description = library.make("MatmulDescCreate", COMPUTE_F32, F32)
    library.set("Desc", description, TRANSPOSE_A, c_int(1))
    library.set("Desc", description, SCALE_A, c_void_p(t.data_ptr()))
    library.set("Desc", description, SCALE_B, c_void_p(s.data_ptr()))
    if s.ndim == 0:
        library.set("Desc", description, FAST_ACCUMULATION, c_int8(1))
    else:
        library.set("Desc", description, MODE_A, c_int(VECTORS_OF_128))
        library.set("Desc", description, MODE_B, c_int(VECTORS_OF_128))
    layouts = []
    for matrix in (b, a, sums):
        rows, columns = matrix.shape
        extents = c_uint64(columns), c_uint64(rows), c_int64(matrix.stride(0))
        layouts.append(library.make("MatrixLayoutCreate", TYPES[matrix.dtype], *extents))
    left, right, result = layouts
    preference = library.make("MatmulPreferenceCreate")
    library.set("Preference", preference, MOST_WORKSPACE, c_size_t(WORKSPACE_BYTES))
    found, count = (Heuristic * ALGORITHMS)(), c_int()
    problem = handle, description, left, right, result, result, preference
    library.call("MatmulAlgoGetHeuristic", *problem, ALGORITHMS, found, byref(count))

    def multiply(heuristic: Heuristic) -> torch.Tensor:
        stream = torch.cuda.current_stream().cuda_stream if c.is_cuda else None
        one, into = c_float(1), c_void_p(sums.data_ptr())
        library.call(
            "Matmul",
            handle,
            description,
            byref(one),
            c_void_p(b.data_ptr()),
            left,
            c_void_p(a.data_ptr()),
            right,
            byref(one),
            into,
            result,
            into,
            result,
            byref(heuristic.algorithm),
            c_void_p(workspace.data_ptr()),
            c_size_t(WORKSPACE_BYTES),
            c_void_p(stream),
        )
        return sums

    usable = [one for one in found[: count.value] if one.state == 0]
    if not usable:
        raise RuntimeError("cuBLASLt proposes no algorithm")
    return [lambda heuristic=one: multiply(heuristic) for one in usable]
