#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the programs of large.mlir on tensors of more than 2^31 elements, packed
and strided, and compares some elements. Needs the runtime's library and nothing
else.

    large.py PREFIX    (of the program files)
"""

from __future__ import annotations

import ctypes
import math
import random
import struct
import sys
from collections.abc import Callable
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_size_t, c_uint64, c_void_p

COLUMNS = 1040
# More than 2^31 elements, and no multiple of anything that a schedule cuts by.
ROWS = 2**31 // COLUMNS + 1237
PERIOD = 251
CUDA = 2
SAMPLES = 300


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class EntryInfo(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("num_inputs", c_int32),
        ("num_outputs", c_int32),
        ("num_results", c_int32),
        ("num_gradients", c_int32),
        ("num_steps", c_int32),
    ]


TYPES = {"bf16": (4, 16), "f32": (2, 32), "i8": (0, 8)}
LIBRARY = ctypes.CDLL("libfuseops_runtime.so")
LIBRARY.fuseopsLastError.restype = c_char_p


def check(status: int) -> None:
    if status:
        sys.exit(f"error: {LIBRARY.fuseopsLastError().decode()}")


class Buffer:
    """Memory of the device."""

    def __init__(self, size: int) -> None:
        self.data = c_void_p()
        self.size = size
        check(LIBRARY.fuseopsDeviceAllocate(CUDA, 0, c_size_t(size), byref(self.data)))

    def free(self) -> None:
        check(LIBRARY.fuseopsDeviceFree(CUDA, 0, self.data))

    def read(self, offset: int, size: int) -> bytes:
        assert 0 <= offset <= self.size - size
        into = ctypes.create_string_buffer(size)
        source = c_void_p(self.data.value + offset)
        check(LIBRARY.fuseopsDeviceCopyToHost(CUDA, 0, into, source, c_size_t(size)))
        return into.raw


def tensor(
    buffer: Buffer, dtype: str, shape: list[int], strides: list[int] | None = None, offset: int = 0
) -> DLTensor:
    code, bits = TYPES[dtype]
    extents = (c_int64 * len(shape))(*shape)
    steps = (c_int64 * len(shape))(*strides) if strides else None
    return DLTensor(
        buffer.data, CUDA, 0, len(shape), code, bits, 1, extents, steps, offset * bits // 8
    )


class Stream:
    """A stream whose work becomes a graph, which then runs: so nothing that a
    run does needs more than the stream."""

    def __init__(self) -> None:
        self.driver = ctypes.CDLL("libcuda.so.1")
        context, self.handle = c_void_p(), c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", byref(context), 0)
        self.call("cuCtxSetCurrent", context)
        self.call("cuStreamCreate", byref(self.handle), 1)

    def call(self, name: str, *arguments: object) -> None:
        status = getattr(self.driver, name)(*arguments)
        if status:
            sys.exit(f"error: {name} failed with {status}")

    def begin(self) -> None:
        self.call("cuStreamBeginCapture_v2", self.handle, 0)

    def end(self) -> None:
        graph, runnable = c_void_p(), c_void_p()
        self.call("cuStreamEndCapture", self.handle, byref(graph))
        self.call("cuGraphInstantiateWithFlags", byref(runnable), graph, c_uint64(0))
        self.call("cuGraphLaunch", runnable, self.handle)
        self.call("cuStreamSynchronize", self.handle)


def run(prefix: str, name: str, source: DLTensor, result: DLTensor) -> None:
    program = c_void_p()
    path = f"{prefix}.{name}.fuseops".encode()
    check(LIBRARY.fuseopsProgramLoadFile(path, byref(program)))
    check(LIBRARY.fuseopsProgramPrepare(program, 0))
    inputs = (POINTER(DLTensor) * 1)(ctypes.pointer(source))
    info = EntryInfo()
    check(LIBRARY.fuseopsEntryDescribe(program, 0, byref(info)))
    # What comes after the result is saved: the input itself.
    outputs = (POINTER(DLTensor) * info.num_outputs)(ctypes.pointer(result))
    symbol, size = c_int64(), c_size_t()
    check(LIBRARY.fuseopsEntryInferSymbol(program, 0, inputs, 1, byref(symbol)))
    check(LIBRARY.fuseopsEntryWorkspaceBytesFor(program, 0, symbol, inputs, 1, byref(size)))
    workspace = Buffer(max(size.value, 1))
    stream = Stream()
    stream.begin()
    check(
        LIBRARY.fuseopsRun(
            program, 0, inputs, 1, outputs, info.num_outputs, workspace.data, size, stream.handle
        )
    )
    stream.end()
    workspace.free()
    LIBRARY.fuseopsProgramDestroy(program)


def x(index: int) -> float:
    return index % PERIOD / 128


def compare(
    name: str, buffer: Buffer, count: int, expected: Callable[[int], float], relative: float
) -> None:
    """Compares bf16 elements at some places; `expected` gives them by index."""
    generator = random.Random(name)
    places = {0, count - 1, count - 2}
    places |= {p for p in range(2**31 - 3, 2**31 + 3) if p < count}
    places |= {generator.randrange(count) for _ in range(SAMPLES)}
    for place in sorted(places):
        (bits,) = struct.unpack("<H", buffer.read(2 * place, 2))
        (value,) = struct.unpack("<f", struct.pack("<I", bits << 16))
        wanted = expected(place)
        if not abs(value - wanted) <= relative * abs(wanted):
            sys.exit(f"error: {name}: expected {wanted} at {place}, but got {value}")
    print(f"{name}: {len(places)} of {count} elements are right")


def row(index: int) -> list[float]:
    first = index // COLUMNS * COLUMNS
    return [x(first + i) for i in range(COLUMNS)]


def norm(index: int) -> float:
    return x(index) / math.sqrt(sum(v * v for v in row(index)) / COLUMNS)


def softmax(index: int) -> float:
    return math.exp(x(index)) / sum(math.exp(v) for v in row(index))


def check_sums(buffer: Buffer) -> None:
    """The sums of columns, from how often each residue is in one."""
    sums = struct.unpack(f"<{COLUMNS}f", buffer.read(0, 4 * COLUMNS))
    rounds, rest = divmod(ROWS, PERIOD)
    for column, value in enumerate(sums):
        # The residues go round with the rows.
        total = rounds * sum(x(i) for i in range(PERIOD))
        total += sum(x(r * COLUMNS + column) for r in range(rest))
        # The rows beyond 2^31 elements are six times as many as that.
        if abs(value - total) > 1e-4 * total:
            sys.exit(f"error: column_sums: expected {total} at {column}, but got {value}")
    print(f"column_sums: {COLUMNS} sums over {ROWS} rows are right")


def main() -> None:
    prefix = sys.argv[1]
    count = ROWS * COLUMNS
    like = Buffer(16)
    given, made = Buffer(2 * count), Buffer(2 * count)
    whole = [ROWS, COLUMNS]
    # One byte for all rows: the runtime packs an input of stride 0.
    run(prefix, "fill", tensor(like, "i8", [ROWS, 1], [0, 0]), tensor(given, "bf16", whole))
    compare("fill", given, count, x, 0)
    source, result = tensor(given, "bf16", whole), tensor(made, "bf16", whole)
    run(prefix, "pointwise", source, result)
    compare("pointwise", made, count, lambda i: -x(i) / 2, 0)
    run(prefix, "norm", source, result)
    compare("norm", made, count, norm, 2**-7)
    run(prefix, "softmax", source, result)
    compare("softmax", made, count, softmax, 2**-7)
    run(prefix, "column_sums", source, tensor(made, "f32", [COLUMNS]))
    check_sums(made)
    run(prefix, "slice", source, tensor(made, "bf16", [ROWS, 519]))
    compare("slice", made, ROWS * 519, lambda i: 2 * x(i // 519 * COLUMNS + 3 + 2 * (i % 519)), 0)
    split = tensor(given, "bf16", [ROWS, 8, 130])
    run(prefix, "permute", split, tensor(made, "bf16", [8, ROWS, 130]))

    def permuted(index: int) -> float:
        head, rest = divmod(index, ROWS * 130)
        return 2 * x(rest // 130 * COLUMNS + head * 130 + rest % 130)

    compare("permute", made, count, permuted, 0)
    # The rows in reverse order, through strides.
    reverse = tensor(given, "bf16", whole, [-COLUMNS, 1], (ROWS - 1) * COLUMNS)
    run(prefix, "pointwise", reverse, result)
    compare(
        "strided",
        made,
        count,
        lambda i: -x((ROWS - 1 - i // COLUMNS) * COLUMNS + i % COLUMNS) / 2,
        0,
    )
    for buffer in (like, given, made):
        buffer.free()


if __name__ == "__main__":
    main()
