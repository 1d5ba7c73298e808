# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of NumPy and tensors of PyTorch as the runtime takes and gives them.

NumPy has no bf16 and no FP8: there an array of uint16 or uint8 holds the bits.
"""

from __future__ import annotations

import sys
from typing import Any, Protocol

import numpy as np

from fuseops import _capi
from fuseops.errors import FuseOpsError

_NUMPY_TYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": np.uint16,
    "f8E4M3FN": np.uint8,
    "f8E5M2": np.uint8,
    "f8E8M0FNU": np.uint8,
    "i1": np.bool_,
    "i8": np.int8,
    "u8": np.uint8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
}
_TORCH_NAMES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2": "float8_e5m2",
    "f8E8M0FNU": "float8_e8m0fnu",
    "i1": "bool",
    "i8": "int8",
    "u8": "uint8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
}


class Framework(Protocol):
    """What a run needs from NumPy or PyTorch."""

    def convert(self, array: Any) -> Any:
        """The array as one of the framework's, on its device."""

    def describe(self, array: Any, info: _capi.TensorInfo) -> _capi.DLTensor:
        """The C ABI's view of an array, of any strides."""

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        """A new array."""

    def workspace(self, size: int) -> tuple[Any, int]:
        """Workspace and its address."""

    def stream(self) -> int:
        """The stream to launch on."""


class NumpyArrays:
    """CPU only."""

    def convert(self, array: Any) -> Any:
        if not isinstance(array, np.ndarray) and hasattr(array, "__dlpack__"):
            array = np.from_dlpack(array)
        return np.asarray(array)

    def describe(self, array: np.ndarray, info: _capi.TensorInfo) -> _capi.DLTensor:
        expected = np.dtype(_NUMPY_TYPES[info.dtype])
        if array.dtype != expected:
            raise FuseOpsError(
                f"expected `{info.name}` to have dtype {expected} for {info.dtype}, "
                f"but got {array.dtype}"
            )
        # A field of a structured array may lie at odd distances.
        if any(stride % array.itemsize for stride in array.strides):
            raise FuseOpsError(
                f"expected the strides of `{info.name}` to be multiples of {array.itemsize} "
                f"bytes, but got {array.strides}"
            )
        strides = [stride // array.itemsize for stride in array.strides]
        return _capi.make_tensor(
            array.ctypes.data, (_capi.CPU, 0), info.dl_dtype, array.shape, strides
        )

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        return np.empty(shape, _NUMPY_TYPES[dtype])

    def workspace(self, size: int) -> tuple[Any, int]:
        buffer = np.empty(size + 64, np.uint8)
        address = buffer.ctypes.data
        return buffer, address + -address % 64

    def stream(self) -> int:
        return 0


class TorchTensors:
    """CPU or CUDA, through torch; imported by whoever made the tensors."""

    def __init__(self, device: Any) -> None:
        self._torch = sys.modules["torch"]
        self._device = device

    def convert(self, array: Any) -> Any:
        return self._torch.as_tensor(array, device=self._device).detach().resolve_neg()

    def describe(self, array: Any, info: _capi.TensorInfo) -> _capi.DLTensor:
        expected = getattr(self._torch, _TORCH_NAMES[info.dtype])
        if array.dtype != expected:
            raise FuseOpsError(
                f"expected `{info.name}` to have dtype {expected}, but got {array.dtype}"
            )
        is_cuda = array.device.type == "cuda"
        device = (_capi.CUDA, array.device.index or 0) if is_cuda else (_capi.CPU, 0)
        return _capi.make_tensor(
            array.data_ptr(), device, info.dl_dtype, tuple(array.shape), array.stride()
        )

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        kind = getattr(self._torch, _TORCH_NAMES[dtype])
        return self._torch.empty(shape, dtype=kind, device=self._device)

    def workspace(self, size: int) -> tuple[Any, int]:
        buffer = self._torch.empty(size + 256, dtype=self._torch.uint8, device=self._device)
        address = buffer.data_ptr()
        return buffer, address + -address % 256

    def stream(self) -> int:
        if self._device.type != "cuda":
            return 0
        return self._torch.cuda.current_stream(self._device).cuda_stream


def choose_framework(arrays: tuple[Any, ...]) -> Framework:
    """PyTorch if an argument is one of its tensors, else NumPy."""
    torch = sys.modules.get("torch")
    if torch is not None:
        for array in arrays:
            if isinstance(array, torch.Tensor):
                return TorchTensors(array.device)
    return NumpyArrays()


def to_bf16(values: Any) -> np.ndarray:
    """The bits of bf16 nearest to float32 values, ties to even."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) >> 16
    is_nan = (bits & 0x7FFFFFFF) > 0x7F800000
    return np.where(is_nan, (bits >> 16) | 0x40, rounded).astype(np.uint16)


def from_bf16(bits: np.ndarray) -> np.ndarray:
    """The float32 values of bf16 bits."""
    return (np.asarray(bits, np.uint16).astype(np.uint32) << 16).view(np.float32)
