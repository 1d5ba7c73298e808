# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled program: forward, and backward from what forward saved."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuseops import _capi
from fuseops.arrays import Framework, choose_framework
from fuseops.errors import FuseOpsError


@dataclass(frozen=True)
class Context:
    """What one call of forward saved for its backward."""

    program: Program
    saved: tuple[Any, ...]

    def backward(self, *gradients: Any) -> tuple[Any, ...]:
        """One gradient for each argument, None where it has none. Takes the
        gradient of each floating-point result."""
        return self.program.backward(self, *gradients)


class Program:
    """A program, from the bytes of a program file."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._program = _capi.LoadedProgram(data)
        forward = self._program.describe("forward")
        if forward is None:
            raise FuseOpsError("expected a program with an entry `forward`, but it has none")
        self._forward = forward
        self._backward = self._program.describe("backward")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Program:
        """Loads a program file that fuse-compile or `save` wrote."""
        return cls(Path(path).read_bytes())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the program file."""
        Path(path).write_bytes(self._data)

    @property
    def name(self) -> str:
        """The symbol that was compiled."""
        return self._program.name

    @property
    def target(self) -> str:
        """cpu, cuda or reference."""
        return self._program.target

    @property
    def report(self) -> dict[str, Any]:
        """What the compiler says about it: kernels, bytes, what is saved."""
        return json.loads(self._program.report or "{}")

    @property
    def arguments(self) -> tuple[tuple[str, str, tuple[int | None, ...]], ...]:
        """Name, dtype and shape of each argument; a symbolic extent is None."""
        return tuple((i.name, i.dtype, i.shape) for i in self._forward.inputs)

    def __call__(self, *arrays: Any) -> Any:
        """The result of forward; a tuple where there is not exactly one."""
        results, _ = self.forward(*arrays)
        return results[0] if len(results) == 1 else results

    def forward(self, *arrays: Any) -> tuple[tuple[Any, ...], Context]:
        """The results, and what `Context.backward` needs."""
        outputs = self._run(self._forward, arrays)
        count = self._forward.num_results
        return tuple(outputs[:count]), Context(self, tuple(outputs[count:]))

    def backward(self, context: Context, *gradients: Any) -> tuple[Any, ...]:
        """See `Context.backward`."""
        if self._backward is None:
            raise FuseOpsError(f"program `{self.name}` has no backward")
        expected = self._backward.num_gradients
        if len(gradients) != expected:
            raise FuseOpsError(f"expected {expected} result gradients, but got {len(gradients)}")
        return tuple(self._run(self._backward, (*gradients, *context.saved)))

    def _run(self, entry: _capi.EntryInfo, arrays: tuple[Any, ...]) -> list[Any]:
        if len(arrays) != len(entry.inputs):
            raise FuseOpsError(f"expected {len(entry.inputs)} arguments, but got {len(arrays)}")
        framework = self._framework(arrays)
        given = [framework.convert(array) for array in arrays]
        inputs = [
            framework.describe(array, info) for array, info in zip(given, entry.inputs, strict=True)
        ]
        symbol = self._program.infer_symbol(entry, inputs)
        outputs, tensors = self._allocate(entry, framework, given, symbol)
        size = self._program.workspace_bytes(entry, symbol, inputs)
        buffer, address = framework.workspace(size)
        self._program.run(entry, inputs, tensors, (address, size), framework.stream())
        del buffer  # Held until here, and on CUDA freed in the stream's order.
        return outputs

    def _framework(self, arrays: tuple[Any, ...]) -> Framework:
        """Whose arrays a run allocates."""
        return choose_framework(arrays)

    def _allocate(
        self, entry: _capi.EntryInfo, framework: Framework, inputs: list[Any], symbol: int
    ) -> tuple[list[Any], list[_capi.DLTensor | None]]:
        """The outputs, where an alias is the array that it is one of, and what
        the run gets: nothing for those."""
        outputs: list[Any] = []
        tensors: list[_capi.DLTensor | None] = []
        for index, info in enumerate(entry.outputs):
            tensor = None
            if info.is_none:
                outputs.append(None)
            elif info.alias_input >= 0 or info.alias_output >= 0:
                shape = self._program.output_shape(entry, index, symbol)
                is_input = info.alias_input >= 0
                source = inputs[info.alias_input] if is_input else outputs[info.alias_output]
                outputs.append(source.reshape(shape))
            else:
                shape = self._program.output_shape(entry, index, symbol)
                outputs.append(framework.empty(shape, info.dtype))
                tensor = framework.describe(outputs[-1], info)
            tensors.append(tensor)
        return outputs, tensors
