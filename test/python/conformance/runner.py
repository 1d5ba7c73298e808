# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles programs and runs their entries on torch tensors with the package's own machinery.

Every output and the workspace lie between guard bytes and are poisoned first, so that what a kernel
leaves out or writes beside its tensor is seen, on the CPU and on a GPU.
"""

import functools
import hashlib
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from fuseops import _capi, emit
from fuseops.arrays import Allocation, TorchTensors
from fuseops.program import Context, Program
from torch import Tensor

DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f8E4M3FN": torch.float8_e4m3fn,
    "f8E5M2": torch.float8_e5m2,
    "f8E8M0FNU": torch.float8_e8m0fnu,
    "i1": torch.bool,
    "i8": torch.int8,
    "ui8": torch.uint8,
    "u8": torch.uint8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
}
FLOATS = ("f32", "bf16", "f16", "f64")
INTEGERS = ("i64", "i32", "i16", "i8", "ui8")
_GUARD = 512
# All bits set is a NaN; what lies around is a number, which arithmetic changes.
_POISON, _AROUND = 0xFF, 0xA5


def name_of(dtype: torch.dtype) -> str:
    """The IR's name of a dtype."""
    return next(name for name, kind in DTYPES.items() if kind == dtype)


def device_of(target: str) -> torch.device:
    """Where a target's programs run."""
    return torch.device("cuda" if target.startswith("cuda") else "cpu")


class _Guarded(TorchTensors):
    """Tensors that remember what lies around them."""

    def __init__(self, device: torch.device) -> None:
        super().__init__(device)
        self._device = device
        self._made: list[tuple[Tensor, int, int]] = []

    def _bytes(self, size: int) -> Tensor:
        buffer = torch.full((size + 3 * _GUARD,), _AROUND, dtype=torch.uint8, device=self._device)
        first = _GUARD + (-buffer.data_ptr()) % 256
        self._made.append((buffer, first, first + size))
        return buffer[first : first + size].fill_(_POISON)

    def allocation(self, shape: tuple[int, ...], dtype: str) -> Allocation:
        return self._empty, (shape, DTYPES[dtype]), {}

    def _empty(self, shape: tuple[int, ...], kind: torch.dtype) -> Tensor:
        return self._bytes(math.prod(shape) * kind.itemsize).view(kind).reshape(shape)

    def workspace(self, size: int) -> tuple[Any, int]:
        buffer = self._bytes(size)
        return buffer, self._made[-1][0].data_ptr() + self._made[-1][1]

    def check(self) -> None:
        """Fails where a guard byte has changed."""
        for buffer, first, last in self._made:
            intact = torch.cat([buffer[:first], buffer[last:]]).eq(_AROUND).all()
            assert intact, "a kernel wrote beside a tensor"


class Checked(Program):
    """A program whose runs are watched. A reference program takes f64 where its source says f32 or
    less, so arguments are converted to what an entry asks for."""

    def has(self, entry: str) -> bool:
        """Whether there is an entry of that name."""
        return self._program.describe(entry) is not None

    def gradients(self, incoming: list[Tensor], context: Context) -> list[Tensor | None]:
        """One gradient for each argument, None where there is none."""
        return list(self.backward(context, *incoming))

    def run_forward(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        return self._run(self._forward, tuple(tensors))

    def run_backward(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        return self._run(self._require_backward(), tuple(tensors))

    def _run(self, entry: _capi.EntryInfo, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        assert len(arrays) == len(entry.inputs), f"{len(arrays)} != {len(entry.inputs)}"
        device = device_of(self.target)
        self._guarded = _Guarded(device)
        given = tuple(
            torch.as_tensor(array).detach().to(device, DTYPES[info.dtype])
            for array, info in zip(arrays, entry.inputs, strict=True)
        )
        before = [array.clone() for array in given]
        outputs = super()._run(entry, given)
        self._guarded.check()
        for array, copy in zip(given, before, strict=True):
            same = torch.equal(_bits(array), _bits(copy))
            assert same, "an entry wrote to one of its inputs"
        return outputs

    def _framework(self, arrays: tuple[Any, ...]) -> TorchTensors:
        return self._guarded


def _bits(tensor: Tensor) -> Tensor:
    return tensor.contiguous().reshape(-1).view(torch.uint8)


class Programs:
    """Where program files are kept, if anywhere: a machine that cannot compile loads them."""

    folder: Path | None = None


def compile_bytes(text: str, target: str) -> bytes:
    """The program file of IR text; raises FuseOpsError."""
    if Programs.folder is None:
        return emit(text, target=target)
    # A location may name a path of the machine that imported the text.
    key = re.sub(r"loc\(.*|#loc.*", "", text)
    name = hashlib.sha256(f"{target}\n{key}".encode()).hexdigest()[:32]
    path = Programs.folder / f"{name}.fuseops"
    if not path.exists():
        data = emit(text, target=target)
        Programs.folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return path.read_bytes()


@functools.lru_cache(maxsize=16)
def compile_ir(text: str, target: str = "cpu") -> Checked:
    """Compiles IR text; raises FuseOpsError."""
    return Checked(compile_bytes(text, target))


def printed(text: str) -> str:
    """The IR as the compiler prints it before its first pass."""
    return emit(text, "ir", compile_to="input").decode()
