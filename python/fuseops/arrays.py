# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of NumPy and CuPy and tensors of PyTorch as the runtime takes and gives them.

NumPy has no bf16 and no FP8: there an array of uint16 or uint8 holds the bits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from fuseops import _capi
from fuseops.errors import FuseOpsError

if TYPE_CHECKING:
    import numpy as np

_NUMPY_NAMES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "uint16",
    "f8E4M3FN": "uint8",
    "f8E5M2": "uint8",
    "f8E8M0FNU": "uint8",
    "i1": "bool",
    "i8": "int8",
    "u8": "uint8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
}
_TORCH_NAMES = {
    **_NUMPY_NAMES,
    "bf16": "bfloat16",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2": "float8_e5m2",
    "f8E8M0FNU": "float8_e8m0fnu",
}

# A call that makes an array: function, arguments, keywords.
Allocation = tuple[Any, tuple[Any, ...], dict[str, Any]]


def torch_dtype(name: str) -> Any:
    """PyTorch's dtype of that name; PyTorch is imported already."""
    return getattr(sys.modules["torch"], _TORCH_NAMES[name])


class Framework(Protocol):
    """What a run needs from NumPy, CuPy or PyTorch."""

    def convert(self, array: Any) -> Any:
        """The array as one of the framework's, on its device."""

    def describe(self, array: Any, info: _capi.TensorInfo) -> _capi.DLTensor:
        """The C ABI's view of an array, of any strides."""

    def allocation(self, shape: tuple[int, ...], dtype: str) -> Allocation:
        """What makes a new array, packed and row-major."""

    def workspace(self, size: int) -> tuple[Any, int]:
        """Workspace and its address."""

    def stream(self) -> int:
        """The stream to launch on."""


class NumpyArrays:
    """CPU only."""

    def __init__(self) -> None:
        import numpy  # noqa: PLC0415 (not every user of PyTorch has it)

        self._module: Any = numpy

    def convert(self, array: Any) -> Any:
        if not isinstance(array, self._module.ndarray) and hasattr(array, "__dlpack__"):
            array = self._module.from_dlpack(array)
        return self._module.asarray(array)

    def describe(self, array: Any, info: _capi.TensorInfo) -> _capi.DLTensor:
        expected = self._module.dtype(_NUMPY_NAMES[info.dtype])
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
        address, device = self._place(array)
        return _capi.make_tensor(address, device, info.dl_dtype, array.shape, strides)

    def _place(self, array: Any) -> tuple[int, tuple[int, int]]:
        """Address and device."""
        return array.ctypes.data, (_capi.CPU, 0)

    def allocation(self, shape: tuple[int, ...], dtype: str) -> Allocation:
        return self._module.empty, (shape, _NUMPY_NAMES[dtype]), {}

    def workspace(self, size: int) -> tuple[Any, int]:
        buffer = self._module.empty(size + 256, "uint8")
        address, _ = self._place(buffer)
        return buffer, address + -address % 256

    def stream(self) -> int:
        return 0


class CupyArrays(NumpyArrays):
    """The current CUDA device only."""

    def __init__(self) -> None:
        self._module = sys.modules["cupy"]

    def convert(self, array: Any) -> Any:
        return self._module.asarray(array)

    def _place(self, array: Any) -> tuple[int, tuple[int, int]]:
        return array.data.ptr, (_capi.CUDA, array.device.id)

    def stream(self) -> int:
        return self._module.cuda.get_current_stream().ptr


class TorchTensors:
    """CPU or CUDA, through torch; imported by whoever made the tensors."""

    def __init__(self, device: Any) -> None:
        self._torch = sys.modules["torch"]
        self._device = device

    def convert(self, array: Any) -> Any:
        return self._torch.as_tensor(array, device=self._device).resolve_neg()

    def describe(self, array: Any, info: _capi.TensorInfo) -> _capi.DLTensor:
        expected = torch_dtype(info.dtype)
        if array.dtype != expected:
            raise FuseOpsError(
                f"expected `{info.name}` to have dtype {expected}, but got {array.dtype}"
            )
        is_cuda = array.device.type == "cuda"
        device = (_capi.CUDA, array.device.index or 0) if is_cuda else (_capi.CPU, 0)
        return _capi.make_tensor(
            array.data_ptr(), device, info.dl_dtype, tuple(array.shape), array.stride()
        )

    def allocation(self, shape: tuple[int, ...], dtype: str) -> Allocation:
        # Half the time of torch.empty, whose overloads are tried one by one.
        strides = [1] * len(shape)
        for i in range(len(shape) - 1, 0, -1):
            strides[i - 1] = strides[i] * max(shape[i], 1)
        kind = torch_dtype(dtype)
        keywords = {"dtype": kind, "device": self._device}
        return self._torch.empty_strided, (shape, tuple(strides)), keywords

    def workspace(self, size: int) -> tuple[Any, int]:
        # As aligned as torch's allocators give it, which is enough.
        buffer = self.bytes_allocator()(size)
        return buffer, buffer.data_ptr()

    def bytes_allocator(self) -> Callable[[int], Any]:
        """What makes a tensor of so many bytes."""
        make, _, keywords = self.allocation((), "u8")
        return lambda size: make((size,), (1,), **keywords)

    def stream(self) -> int:
        if self._device.type != "cuda":
            return 0
        return self._torch.cuda.current_stream(self._device).cuda_stream


def choose_framework(arrays: tuple[Any, ...], device_type: int = _capi.CPU) -> Framework:
    """PyTorch if an argument is one of its tensors, or if there are none for CUDA,
    which NumPy has no memory of; else CuPy if one is its array; else NumPy."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None:
        for array in arrays:
            if isinstance(array, torch.Tensor):
                return TorchTensors(array.device)
        if not arrays and device_type == _capi.CUDA:
            return TorchTensors(torch.device("cuda"))
    if cupy is not None and any(isinstance(array, cupy.ndarray) for array in arrays):
        return CupyArrays()
    return NumpyArrays()


def exchange_of(kind: type) -> tuple[Any, Any] | None:
    """How the native call reads arrays of a type: DLPack's C exchange API, and
    what tells that a tensor's memory is not its values. None where it does not;
    PyTorch's tensors have the API since 2.10."""
    torch = sys.modules.get("torch")
    if torch is None or not issubclass(kind, torch.Tensor):
        return None
    api = getattr(kind, "__dlpack_c_exchange_api__", None)
    return None if api is None else (api, torch.Tensor.is_neg)


def to_bf16(values: Any) -> np.ndarray:
    """The bits of bf16 nearest to float32 values, ties to even."""
    import numpy as np  # noqa: PLC0415

    bits = np.asarray(values, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) >> 16
    is_nan = (bits & 0x7FFFFFFF) > 0x7F800000
    return np.where(is_nan, (bits >> 16) | 0x40, rounded).astype(np.uint16)


def from_bf16(bits: np.ndarray) -> np.ndarray:
    """The float32 values of bf16 bits."""
    import numpy as np  # noqa: PLC0415

    return (np.asarray(bits, np.uint16).astype(np.uint32) << 16).view(np.float32)
