# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a program with fuse-compile and runs its entries on numpy arrays.

Every output lies between guard bytes and is poisoned first, so that what a kernel leaves out or
writes beside its tensor is seen.
"""

import ctypes
import functools
import os
import subprocess
import tempfile
from pathlib import Path

import ml_dtypes
import numpy as np

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("FUSEOPS_BUILD_DIR", ROOT / "build" / "dev"))

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
# In the order of fuseopsDType.
_BY_CODE = ["f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", None, None, None, None, None]
_BY_CODE += ["i32", "i64"]
_GUARD = 256


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("index", ctypes.c_int32))


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _EntryInfo(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("num_inputs", ctypes.c_int32),
        ("num_outputs", ctypes.c_int32),
        ("num_results", ctypes.c_int32),
        ("num_gradients", ctypes.c_int32),
        ("num_steps", ctypes.c_int32),
    )


class _TensorInfo(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("dl_dtype", _DataType),
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("shape", ctypes.c_void_p),
        ("alias_input", ctypes.c_int32),
        ("alias_output", ctypes.c_int32),
        ("is_none", ctypes.c_int32),
    )


@functools.cache
def _runtime() -> ctypes.CDLL:
    library = ctypes.CDLL(str(BUILD / "lib" / "libfuseops_runtime.so"))
    library.fuseopsLastError.restype = ctypes.c_char_p
    return library


def _check(status: int) -> None:
    if status:
        raise RuntimeError(_runtime().fuseopsLastError().decode())


class CompileError(Exception):
    """The sentence of a compiler that refuses a program."""


@functools.lru_cache(maxsize=16)
def compile_ir(text: str, target: str = "cpu") -> "Program":
    """Compiles IR text; raises CompileError."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "program.mlir"), Path(folder, "program.fuseops")
        source.write_text(text)
        tool = BUILD / "bin" / "fuse-compile"
        command = [tool, source, f"--target={target}", "-o", program]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CompileError(f"{done.stderr}\nin\n{text}")
        return Program(program.read_bytes())


def _describe(array: np.ndarray, dtype: _DataType) -> _Tensor:
    shape = (ctypes.c_int64 * max(1, array.ndim))(*array.shape)
    return _Tensor(array.ctypes.data, _Device(1, 0), array.ndim, dtype, shape, None, 0)


def _poisoned(shape: tuple[int, ...], dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """An array of 0xFF bytes, and the bytes around it."""
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    buffer = np.full(size + 3 * _GUARD, 0xFF, np.uint8)
    first = _GUARD + (-buffer.ctypes.data) % 64
    return buffer[first : first + size].view(dtype).reshape(shape), buffer


class Program:
    """A loaded program, with its entries `forward` and `backward`."""

    def __init__(self, data: bytes) -> None:
        self._handle = ctypes.c_void_p()
        _check(_runtime().fuseopsProgramLoad(data, len(data), ctypes.byref(self._handle)))

    def __del__(self) -> None:
        if self._handle:
            _runtime().fuseopsProgramDestroy(self._handle)

    def has(self, entry: str) -> bool:
        """Whether there is an entry of that name."""
        return _runtime().fuseopsProgramFindEntry(self._handle, entry.encode()) >= 0

    def info(self, entry: str) -> _EntryInfo:
        """Numbers of inputs, outputs and steps of an entry."""
        info = _EntryInfo()
        _check(
            _runtime().fuseopsEntryDescribe(self._handle, self._index(entry), ctypes.byref(info))
        )
        return info

    def inputs(self, entry: str) -> list[_TensorInfo]:
        """Describes the inputs of an entry."""
        return [
            self._tensor("fuseopsEntryInput", entry, i) for i in range(self.info(entry).num_inputs)
        ]

    def input_shape(self, entry: str, index: int, size: int) -> tuple[int, ...]:
        """The shape of an input where `?` is `size`."""
        rank = self.inputs(entry)[index].rank
        shape = (ctypes.c_int64 * max(1, rank))()
        number, symbol = self._index(entry), ctypes.c_int64(size)
        _check(_runtime().fuseopsEntryInputShape(self._handle, number, index, symbol, shape))
        return tuple(shape[:rank])

    def input_dtype(self, entry: str, index: int) -> np.dtype:
        """The dtype of an input."""
        return DTYPES[_BY_CODE[self.inputs(entry)[index].dtype]]

    def forward(self, *arguments: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The results, and what is saved for backward."""
        outputs = self._run("forward", list(arguments))
        count = self.info("forward").num_results
        return outputs[:count], outputs[count:]

    def backward(
        self, gradients: list[np.ndarray], saved: list[np.ndarray]
    ) -> list[np.ndarray | None]:
        """One gradient for each argument, None where there is none."""
        return self._run("backward", [*gradients, *saved])

    def _index(self, entry: str) -> int:
        return _runtime().fuseopsProgramFindEntry(self._handle, entry.encode())

    def _tensor(self, function: str, entry: str, index: int) -> _TensorInfo:
        info = _TensorInfo()
        call = getattr(_runtime(), function)
        _check(call(self._handle, self._index(entry), index, ctypes.byref(info)))
        return info

    def _run(self, entry: str, arguments: list[np.ndarray]) -> list[np.ndarray | None]:
        library, number = _runtime(), self._index(entry)
        infos = self.inputs(entry)
        if len(infos) != len(arguments):
            raise ValueError(f"expected {len(infos)} inputs of {entry}, got {len(arguments)}")
        arrays = []
        for info, argument in zip(infos, arguments, strict=True):
            # A reference program takes f64 where the source says f32 or less.
            arrays.append(np.ascontiguousarray(argument, DTYPES[_BY_CODE[info.dtype]]))
            arrays[-1] = arrays[-1].reshape(np.shape(argument))
        before = [array.tobytes() for array in arrays]
        tensors = [_describe(a, i.dl_dtype) for a, i in zip(arrays, infos, strict=True)]
        pointers = (ctypes.POINTER(_Tensor) * max(1, len(tensors)))(*map(ctypes.pointer, tensors))
        symbol = ctypes.c_int64()
        _check(
            library.fuseopsEntryInferSymbol(
                self._handle, number, pointers, len(tensors), ctypes.byref(symbol)
            )
        )
        outputs, buffers, output_tensors = [], [], []
        for index in range(self.info(entry).num_outputs):
            info = self._tensor("fuseopsEntryOutput", entry, index)
            if info.is_none:
                outputs.append(None)
                output_tensors.append(None)
                continue
            shape = (ctypes.c_int64 * max(1, info.rank))()
            _check(library.fuseopsEntryOutputShape(self._handle, number, index, symbol, shape))
            extents = tuple(shape[: info.rank])
            if info.alias_input >= 0 or info.alias_output >= 0:
                source = arrays if info.alias_input >= 0 else outputs
                alias = source[max(info.alias_input, info.alias_output)]
                outputs.append(alias.reshape(extents))
                output_tensors.append(None)
                continue
            array, buffer = _poisoned(extents, DTYPES[_BY_CODE[info.dtype]])
            outputs.append(array)
            buffers.append((array, buffer))
            output_tensors.append(_describe(array, info.dl_dtype))
        output_pointers = (ctypes.POINTER(_Tensor) * max(1, len(outputs)))(
            *(ctypes.pointer(t) if t is not None else None for t in output_tensors)
        )
        size = ctypes.c_size_t()
        _check(
            library.fuseopsEntryWorkspaceBytes(self._handle, number, symbol, ctypes.byref(size))
        )
        workspace, around = _poisoned((size.value,), np.dtype(np.uint8))
        buffers.append((workspace, around))
        _check(
            library.fuseopsRun(
                self._handle,
                number,
                pointers,
                len(tensors),
                output_pointers,
                len(outputs),
                ctypes.c_void_p(workspace.ctypes.data),
                size,
                None,
            )
        )
        if any(a.tobytes() != b for a, b in zip(arrays, before, strict=True)):
            raise AssertionError(f"{entry} wrote to one of its inputs")
        for array, buffer in buffers:
            first = array.ctypes.data - buffer.ctypes.data
            if np.any(buffer[:first] != 0xFF) or np.any(buffer[first + array.nbytes :] != 0xFF):
                raise AssertionError(f"{entry} wrote beside one of its outputs")
        return outputs
