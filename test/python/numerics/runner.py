# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles programs and runs their entries on numpy arrays with the package's own machinery.

Every output and the workspace lie between guard bytes and are poisoned first, so that what a kernel
leaves out or writes beside its tensor is seen. bf16 and FP8 arrays have the types of ml_dtypes.
"""

import functools
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

ROOT = Path(__file__).resolve().parents[3]
if str(ROOT / "python") not in sys.path:
    sys.path.insert(0, str(ROOT / "python"))

from fuseops import _capi, emit  # noqa: E402
from fuseops.arrays import NumpyArrays  # noqa: E402
from fuseops.program import Context, Program  # noqa: E402

DTYPES = {
    "f64": np.dtype(np.float64),
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "i64": np.dtype(np.int64),
    "i32": np.dtype(np.int32),
}
_GUARD = 256


class _Guarded(NumpyArrays):
    """numpy arrays that remember what lies around them."""

    def __init__(self) -> None:
        self._made: list[tuple[np.ndarray, np.ndarray]] = []

    def describe(self, array: np.ndarray, info: _capi.TensorInfo) -> _capi.DLTensor:
        assert array.dtype == DTYPES[info.dtype]
        strides = [stride // array.itemsize for stride in array.strides]
        address = array.ctypes.data
        return _capi.make_tensor(address, (_capi.CPU, 0), info.dl_dtype, array.shape, strides)

    def empty(self, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        kind = DTYPES[dtype]
        size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
        buffer = np.full(size + 3 * _GUARD, 0xFF, np.uint8)
        first = _GUARD + (-buffer.ctypes.data) % 64
        self._made.append((buffer, buffer[first : first + size]))
        return buffer[first : first + size].view(kind).reshape(shape)

    def workspace(self, size: int) -> tuple[Any, int]:
        array = self.empty((size // 8 + 1,), "i64")
        return array, array.ctypes.data

    def check(self) -> None:
        """Fails where a guard byte has changed."""
        for buffer, inner in self._made:
            first = inner.ctypes.data - buffer.ctypes.data
            around = np.concatenate([buffer[:first], buffer[first + inner.nbytes :]])
            assert (around == 0xFF).all(), "a kernel wrote beside a tensor"


class Checked(Program):
    """A program whose runs are watched. A reference program takes f64 where its source says f32 or
    less, so arguments are converted to what an entry asks for."""

    def has(self, entry: str) -> bool:
        """Whether there is an entry of that name."""
        return self._program.describe(entry) is not None

    def gradients(self, incoming: list[np.ndarray], context: Context) -> list[np.ndarray | None]:
        """One gradient for each argument, None where there is none."""
        return list(self.backward(context, *incoming))

    def _run(self, entry: _capi.EntryInfo, arrays: tuple[Any, ...]) -> list[Any]:
        assert len(arrays) == len(entry.inputs)
        guarded = _Guarded()
        packed = [
            np.asarray(array, dtype=DTYPES[info.dtype], order="C")
            for array, info in zip(arrays, entry.inputs, strict=True)
        ]
        before = [array.tobytes() for array in packed]
        inputs = [guarded.describe(a, i) for a, i in zip(packed, entry.inputs, strict=True)]
        symbol = self._program.infer_symbol(entry, inputs)
        outputs, tensors = self._allocate(entry, guarded, packed, symbol)
        size = self._program.workspace_bytes(entry, symbol, inputs)
        _, address = guarded.workspace(size)
        self._program.run(entry, inputs, tensors, (address, size))
        guarded.check()
        after = [array.tobytes() for array in packed]
        assert after == before, "an entry wrote to one of its inputs"
        return outputs


@functools.lru_cache(maxsize=16)
def compile_ir(text: str, target: str = "cpu") -> Checked:
    """Compiles IR text; raises FuseOpsError."""
    return Checked(emit(text, target=target))
