# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C ABI (include/FuseOps-c), and the only module that knows it."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Callable, Sequence
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_size_t, c_void_p
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ExtensionFileLoader
from typing import Any

from fuseops.errors import FuseOpsError
from fuseops.options import find_library

CPU = 1
CUDA = 2


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLDevice(ctypes.Structure):
    _fields_ = [("device_type", c_int32), ("device_id", c_int32)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device", DLDevice),
        ("ndim", c_int32),
        ("dtype", DLDataType),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _CompileOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("target", c_char_p),
        ("emit", c_char_p),
        ("compile_to", c_char_p),
        ("recipe", c_char_p),
        ("entry", c_char_p),
        ("python_sites", c_char_p),
        ("prepare", ctypes.c_int),
        ("schedules", c_char_p),
    ]


class _EntryInfo(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("num_inputs", c_int32),
        ("num_outputs", c_int32),
        ("num_results", c_int32),
        ("num_gradients", c_int32),
        ("num_steps", c_int32),
    ]


class _Extent(ctypes.Structure):
    _fields_ = [
        ("constant", c_int64),
        ("per_symbol", c_int64),
        ("per_block32", c_int64),
        ("per_block128", c_int64),
    ]

    @property
    def is_symbolic(self) -> bool:
        return bool(self.per_symbol or self.per_block32 or self.per_block128)


class _TensorInfo(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("dl_dtype", DLDataType),
        ("dtype", c_int32),
        ("rank", c_int32),
        ("shape", POINTER(_Extent)),
        ("alias_input", c_int32),
        ("alias_output", c_int32),
        ("is_none", c_int32),
    ]


@dataclass(frozen=True)
class TensorInfo:
    """An input or output; `shape` has `?` as None."""

    name: str
    dtype: str
    dl_dtype: DLDataType
    shape: tuple[int | None, ...]
    # Of each extent the factors of 1, `?`, ceil(?/32) and ceil(?/128).
    extents: tuple[tuple[int, int, int, int], ...]
    alias_input: int
    alias_output: int
    is_none: bool


@dataclass(frozen=True)
class EntryInfo:
    """An entry with its inputs and outputs."""

    index: int
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    num_results: int
    num_gradients: int


def _load(name: str) -> ctypes.CDLL:
    path = find_library(name)
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise FuseOpsError(f"cannot load {path}: {error}") from error


@cache
def _native() -> Any:
    """The extension module `fuseops._native` (lib/Python)."""
    path = find_library("fuseops_native")
    spec = importlib.util.spec_from_file_location(
        "fuseops._native", path, loader=ExtensionFileLoader("fuseops._native", str(path))
    )
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError as error:
        raise FuseOpsError(f"cannot load {path}: {error}") from error
    return module


@cache
def _compiler() -> ctypes.CDLL:
    library = _load("fuseops_compiler")
    library.fuseopsCompile.argtypes = [
        c_char_p,
        c_size_t,
        c_char_p,
        POINTER(_CompileOptions),
        POINTER(c_void_p),
    ]
    library.fuseopsCompilationOutput.argtypes = [c_void_p, POINTER(c_size_t)]
    library.fuseopsCompilationOutput.restype = c_void_p
    library.fuseopsCompilationDiagnostics.argtypes = [c_void_p]
    library.fuseopsCompilationDiagnostics.restype = c_char_p
    library.fuseopsCompilationDestroy.argtypes = [c_void_p]
    library.fuseopsCompilationDestroy.restype = None
    return library


@cache
def _runtime() -> ctypes.CDLL:
    library = _load("fuseops_runtime")
    tensors = POINTER(POINTER(DLTensor))
    library.fuseopsLastError.restype = c_char_p
    library.fuseopsDTypeName.restype = c_char_p
    library.fuseopsDTypeName.argtypes = [c_int32]
    library.fuseopsProgramLoad.argtypes = [c_char_p, c_size_t, POINTER(c_void_p)]
    library.fuseopsProgramDestroy.argtypes = [c_void_p]
    library.fuseopsProgramDestroy.restype = None
    for name in ("Target", "Name", "Report"):
        function = getattr(library, f"fuseopsProgram{name}")
        function.argtypes = [c_void_p]
        function.restype = c_char_p
    library.fuseopsProgramDeviceType.argtypes = [c_void_p]
    library.fuseopsProgramFindEntry.argtypes = [c_void_p, c_char_p]
    library.fuseopsEntryDescribe.argtypes = [c_void_p, c_int32, POINTER(_EntryInfo)]
    for name in ("Input", "Output"):
        function = getattr(library, f"fuseopsEntry{name}")
        function.argtypes = [c_void_p, c_int32, c_int32, POINTER(_TensorInfo)]
        shape = getattr(library, f"fuseopsEntry{name}Shape")
        shape.argtypes = [c_void_p, c_int32, c_int32, c_int64, POINTER(c_int64)]
    library.fuseopsEntryInferSymbol.argtypes = [
        c_void_p,
        c_int32,
        tensors,
        c_int32,
        POINTER(c_int64),
    ]
    library.fuseopsEntryWorkspaceBytesFor.argtypes = [
        c_void_p,
        c_int32,
        c_int64,
        tensors,
        c_int32,
        POINTER(c_size_t),
    ]
    library.fuseopsRun.argtypes = [
        c_void_p,
        c_int32,
        tensors,
        c_int32,
        tensors,
        c_int32,
        c_void_p,
        c_size_t,
        c_void_p,
    ]
    return library


def _check(status: int) -> None:
    if status != 0:
        raise FuseOpsError(_runtime().fuseopsLastError().decode())


def compile_source(
    source: bytes, name: str, **options: str | bool | None
) -> tuple[bytes | None, str]:
    """What was emitted, None after a failure, and the diagnostics."""
    library = _compiler()
    given = _CompileOptions(struct_size=ctypes.sizeof(_CompileOptions))
    for key, value in options.items():
        setattr(given, key, value.encode() if isinstance(value, str) else value)
    compilation = c_void_p()
    status = library.fuseopsCompile(
        source, len(source), name.encode(), byref(given), byref(compilation)
    )
    try:
        diagnostics = library.fuseopsCompilationDiagnostics(compilation).decode(errors="replace")
        if status != 0:
            return None, diagnostics
        size = c_size_t()
        data = library.fuseopsCompilationOutput(compilation, byref(size))
        return ctypes.string_at(data, size.value), diagnostics
    finally:
        library.fuseopsCompilationDestroy(compilation)


def make_tensor(
    data: int,
    device: tuple[int, int],
    dtype: DLDataType,
    shape: Sequence[int],
    strides: Sequence[int],
) -> DLTensor:
    """A tensor; `strides` count elements."""
    extents, steps = ((c_int64 * len(shape))(*values) for values in (shape, strides))
    return DLTensor(data, DLDevice(*device), len(shape), dtype, extents, steps, 0)


class LoadedProgram:
    """A program of the runtime."""

    def __init__(self, data: bytes) -> None:
        self._handle = c_void_p()
        self._library = _runtime()
        _check(self._library.fuseopsProgramLoad(data, len(data), byref(self._handle)))
        self.name: str = self._library.fuseopsProgramName(self._handle).decode()
        self.target: str = self._library.fuseopsProgramTarget(self._handle).decode()
        self.report: str = self._library.fuseopsProgramReport(self._handle).decode()
        self.device_type: int = self._library.fuseopsProgramDeviceType(self._handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._library.fuseopsProgramDestroy(self._handle)

    def describe(self, name: str) -> EntryInfo | None:
        """The entry of that name, None if there is none."""
        index = self._library.fuseopsProgramFindEntry(self._handle, name.encode())
        if index < 0:
            return None
        info = _EntryInfo()
        _check(self._library.fuseopsEntryDescribe(self._handle, index, byref(info)))
        ask = self._library.fuseopsEntryInput
        inputs = [self._describe_tensor(ask, index, i) for i in range(info.num_inputs)]
        ask = self._library.fuseopsEntryOutput
        outputs = [self._describe_tensor(ask, index, i) for i in range(info.num_outputs)]
        return EntryInfo(index, tuple(inputs), tuple(outputs), info.num_results, info.num_gradients)

    def _describe_tensor(self, ask: Any, entry: int, index: int) -> TensorInfo:
        info = _TensorInfo()
        _check(ask(self._handle, entry, index, byref(info)))
        extents = [info.shape[i] for i in range(info.rank)]
        return TensorInfo(
            name=info.name.decode(),
            dtype=self._library.fuseopsDTypeName(info.dtype).decode(),
            dl_dtype=info.dl_dtype,
            shape=tuple(None if e.is_symbolic else e.constant for e in extents),
            extents=tuple(
                (e.constant, e.per_symbol, e.per_block32, e.per_block128) for e in extents
            ),
            alias_input=info.alias_input,
            alias_output=info.alias_output,
            is_none=bool(info.is_none),
        )

    def make_call(
        self, entry: EntryInfo, exchange: Callable[..., Any], plan: Callable[..., Any]
    ) -> Callable[[Sequence[Any]], tuple[Any, ...] | None]:
        """Runs an entry without Python in between: outputs from inputs, None
        where that cannot be. `exchange` says how tensors of a type are read, `plan`
        how outputs are made; `fuseops.arrays` has both."""
        inputs = tuple(
            (i.name, (i.dl_dtype.code, i.dl_dtype.bits, i.dl_dtype.lanes)) for i in entry.inputs
        )
        library, handle = self._library._handle, self._handle.value
        call = _native().Call(
            library, FuseOpsError, self, handle, entry.index, inputs, exchange, plan
        )
        return call.run

    def infer_symbol(self, entry: EntryInfo, inputs: Sequence[DLTensor]) -> int:
        """The value of `?` that the inputs' shapes give."""
        symbol = c_int64()
        array = _pointers(inputs)
        _check(
            self._library.fuseopsEntryInferSymbol(
                self._handle, entry.index, array, len(inputs), byref(symbol)
            )
        )
        return symbol.value

    def output_shape(self, entry: EntryInfo, index: int, symbol: int) -> tuple[int, ...]:
        """The shape of an output for a value of `?`."""
        shape = (c_int64 * len(entry.outputs[index].shape))()
        _check(
            self._library.fuseopsEntryOutputShape(self._handle, entry.index, index, symbol, shape)
        )
        return tuple(shape)

    def workspace_bytes(self, entry: EntryInfo, symbol: int, inputs: Sequence[DLTensor]) -> int:
        """The bytes of workspace that a run with these inputs needs."""
        size = c_size_t()
        _check(
            self._library.fuseopsEntryWorkspaceBytesFor(
                self._handle, entry.index, symbol, _pointers(inputs), len(inputs), byref(size)
            )
        )
        return size.value

    def run(
        self,
        entry: EntryInfo,
        inputs: Sequence[DLTensor],
        outputs: Sequence[DLTensor | None],
        workspace: tuple[int, int],
        stream: int = 0,
    ) -> None:
        """Runs an entry; `workspace` is an address and its size."""
        _check(
            self._library.fuseopsRun(
                self._handle,
                entry.index,
                _pointers(inputs),
                len(inputs),
                _pointers(outputs),
                len(outputs),
                workspace[0],
                workspace[1],
                stream,
            )
        )


def _pointers(tensors: Sequence[DLTensor | None]) -> Any:
    kind = POINTER(DLTensor)
    return (kind * len(tensors))(*[ctypes.pointer(t) if t else kind() for t in tensors])
