# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled program: forward, and backward from what forward saved."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuseops import _capi
from fuseops.arrays import Allocation, Framework, TorchTensors, choose_framework, exchange_of
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
        self._call_forward = _native_call(self._program, forward)
        if self._backward is not None:
            self._call_backward = _native_call(self._program, self._backward)
        self._prepare = self._program.describe("prepare")
        if self._prepare is not None:
            self._call_prepare = _native_call(self._program, self._prepare)

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

    @property
    def results(self) -> tuple[tuple[str, str, tuple[int | None, ...]], ...]:
        """Name, dtype and shape of each result, as `arguments`."""
        outputs = self._forward.outputs[: self.num_results]
        return tuple((o.name, o.dtype, o.shape) for o in outputs)

    @property
    def num_results(self) -> int:
        """How many outputs of `run_forward` are results; saved values follow."""
        return self._forward.num_results

    @property
    def saved_sources(self) -> tuple[tuple[str, int] | None, ...]:
        """Which argument or result each saved value is: ("argument", index),
        ("result", index), or None where it is neither."""
        saved = self._forward.outputs[self.num_results :]
        arguments = [("argument", i.alias_input) if i.alias_input >= 0 else None for i in saved]
        results = [("result", i.alias_output) if i.alias_output >= 0 else None for i in saved]
        return tuple(a or r for a, r in zip(arguments, results, strict=True))

    @property
    def forward_inputs(self) -> tuple[_capi.TensorInfo, ...]:
        """What `run_forward` takes."""
        return self._forward.inputs

    @property
    def forward_outputs(self) -> tuple[_capi.TensorInfo, ...]:
        """What `run_forward` gives."""
        return self._forward.outputs

    @property
    def backward_inputs(self) -> tuple[_capi.TensorInfo, ...]:
        """What `run_backward` takes."""
        return self._require_backward().inputs

    @property
    def backward_outputs(self) -> tuple[_capi.TensorInfo, ...]:
        """What `run_backward` gives."""
        return self._require_backward().outputs

    def __call__(self, *arrays: Any) -> Any:
        """The result of forward; a tuple where there is not exactly one."""
        results, _ = self.forward(*arrays)
        return results[0] if len(results) == 1 else results

    def forward(self, *arrays: Any) -> tuple[tuple[Any, ...], Context]:
        """The results, and what `Context.backward` needs."""
        outputs = self.run_forward(arrays)
        count = self.num_results
        return outputs[:count], Context(self, outputs[count:])

    def backward(self, context: Context, *gradients: Any) -> tuple[Any, ...]:
        """See `Context.backward`."""
        expected = self._require_backward().num_gradients
        if len(gradients) != expected:
            raise FuseOpsError(f"expected {expected} result gradients, but got {len(gradients)}")
        return self.run_backward((*gradients, *context.saved))

    def run_forward(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """The results, then what backward needs saved. An output that is an
        input is the same object, or a view of it where its shape is another."""
        outputs = self._call_forward(tensors)
        return outputs if outputs is not None else self._run(self._forward, tuple(tensors))

    def run_backward(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """One gradient for each argument, None where it has none, from the
        gradient of each floating-point result and what forward saved."""
        entry = self._require_backward()
        outputs = self._call_backward(tensors)
        return outputs if outputs is not None else self._run(entry, tuple(tensors))

    def run_prepare(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """The quantized weights, and their scales' next state, from the arguments
        that the report's `prepare` lists. Raises FuseOpsError where the program has
        nothing to prepare."""
        if self._prepare is None:
            raise FuseOpsError(f"program `{self.name}` has no weights to prepare")
        outputs = self._call_prepare(tensors)
        return outputs if outputs is not None else self._run(self._prepare, tuple(tensors))

    @property
    def prepare_outputs(self) -> tuple[_capi.TensorInfo, ...]:
        """What `run_prepare` gives."""
        return self._prepare.outputs if self._prepare is not None else ()

    @property
    def prepare_inputs(self) -> tuple[_capi.TensorInfo, ...]:
        """What `run_prepare` takes; nothing where there is nothing to prepare."""
        return self._prepare.inputs if self._prepare is not None else ()

    def _require_backward(self) -> _capi.EntryInfo:
        if self._backward is None:
            raise FuseOpsError(f"program `{self.name}` has no backward")
        return self._backward

    def _run(self, entry: _capi.EntryInfo, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        """A run of any arrays, by a framework's means."""
        framework = self._framework(arrays)
        for array, info in zip(arrays, entry.inputs, strict=True):
            if array is None:
                raise FuseOpsError(f"expected `{info.name}` to be a tensor, but got None")
        given = tuple(framework.convert(array) for array in arrays)
        inputs = [
            framework.describe(array, info) for array, info in zip(given, entry.inputs, strict=True)
        ]
        symbol = self._program.infer_symbol(entry, inputs)
        plan = _plan_outputs(self._program, entry, framework, given, symbol)
        outputs: list[Any] = []
        tensors: list[_capi.DLTensor | None] = [None] * len(plan)
        for index, step in enumerate(plan):
            outputs.append(None if step is None else _make(step, (*given, *outputs)))
            if step is not None and not isinstance(step[0], int):
                tensors[index] = framework.describe(outputs[index], entry.outputs[index])
        size = self._program.workspace_bytes(entry, symbol, inputs)
        buffer, address = framework.workspace(size) if size else (None, 0)
        self._program.run(entry, inputs, tensors, (address, size), framework.stream())
        del buffer  # Held until here, and on CUDA freed in the stream's order.
        return tuple(outputs)

    def _framework(self, arrays: tuple[Any, ...]) -> Framework:
        """Whose arrays a run allocates."""
        return choose_framework(arrays, self._program.device_type)


# How an output comes to be: a call that allocates it, or an alias: the index of
# its source among the inputs and then the outputs, and its shape if another.
_Step = Allocation | tuple[int, tuple[int, ...] | None, None]


def _plan_outputs(
    program: _capi.LoadedProgram,
    entry: _capi.EntryInfo,
    framework: Framework,
    inputs: tuple[Any, ...],
    symbol: int,
) -> tuple[_Step | None, ...]:
    """How to make each output of an entry; None makes None."""
    shapes = [tuple(array.shape) for array in inputs]
    steps: list[_Step | None] = []
    for index, info in enumerate(entry.outputs):
        shape = () if info.is_none else program.output_shape(entry, index, symbol)
        source = info.alias_input
        if info.alias_output >= 0:
            source = len(inputs) + info.alias_output
        if info.is_none:
            steps.append(None)
        elif source >= 0:
            steps.append((source, None if shapes[source] == shape else shape, None))
        else:
            steps.append(framework.allocation(shape, info.dtype))
        shapes.append(shape)
    return tuple(steps)


def _make(step: _Step, sources: tuple[Any, ...]) -> Any:
    """The output that a step of a plan describes."""
    first, arguments, keywords = step
    if not isinstance(first, int):
        return first(*arguments, **keywords)
    return sources[first] if arguments is None else sources[first].reshape(arguments)


def _native_call(
    program: _capi.LoadedProgram, entry: _capi.EntryInfo
) -> Callable[[Sequence[Any]], tuple[Any, ...] | None]:
    """The call of an entry that does without `Program._run`."""

    def plan(inputs: tuple[Any, ...], symbol: int) -> tuple[tuple[_Step | None, ...], Any]:
        framework = TorchTensors(inputs[0].device)
        steps = _plan_outputs(program, entry, framework, inputs, symbol)
        return steps, framework.bytes_allocator()

    return program.make_call(entry, exchange_of, plan)
