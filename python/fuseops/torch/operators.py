# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators `torch.ops.fuseops.<name>` and `<name>_backward`, each from one entry of a table.

An entry says what the arguments and results are, builds the program, and names
what backward gets. From it come schemas, kernels for CPU and CUDA, fake kernels,
autograd and autocast, the same for all.

A program has one symbolic size, the number of rows: leading dimensions are
flattened to it, the trailing ones specialise.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from fuseops.compiler import compile_ir
from fuseops.errors import FuseOpsError
from fuseops.program import Program
from fuseops.torch.builder import Builder, Type, Value
from fuseops.torch.signature import Signature, Tensor, choose

_LIBRARY = torch.library.Library("fuseops", "FRAGMENT")
# How many sizes an operator remembers what to do for.
_MAX_PLANS = 4096


@dataclass(frozen=True)
class Operator:
    """An entry of the table.

    `build` gets a Builder, the arguments' values by name (None where absent) and
    the attributes, and returns a value for each result. `saved` names the arguments
    and results that backward gets; those `rows` that it doesn't get have the type of
    the gradient of a result. A key of `saved_for` is saved only for the gradient of
    an argument of its value. `rank` is the number of trailing dimensions of `rows`.
    `validate` looks at the data of arguments on the CPU, and raises what eager
    execution does.
    """

    name: str
    arguments: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    build: Callable[..., Sequence[Value]]
    saved: tuple[str, ...]
    attributes: tuple[str, ...] = ()
    saved_for: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    autocast: Mapping[str, torch.dtype] = field(default_factory=dict)
    rank: int = 1
    validate: Callable[..., None] | None = None


# A tensor, by its position, and the shape that it gets; None where it has it.
_Use = tuple[int, tuple[int, ...] | None]


@dataclass(frozen=True)
class _Compiled:
    """A program of a backward. It reads `saved`, arguments and results by name, but
    where it reads something else `saved` are all arguments, from which forward makes
    that again. `gradients` are the positions of those that were asked for."""

    program: Program
    saved: tuple[str, ...]
    is_computed: bool
    gradients: tuple[int, ...]


@dataclass(frozen=True)
class _Plan:
    """What to do for arguments of given sizes: which of them an entry of a program
    reads, and what becomes a result. What forward makes of `computed` is read last."""

    run: Callable[[Sequence[torch.Tensor]], tuple[Any, ...]]
    inputs: tuple[_Use, ...]
    outputs: tuple[_Use, ...]
    computed: tuple[_Use, ...] = ()
    program: Program | None = None

    def execute(self, values: Sequence[Any]) -> list[torch.Tensor]:
        read = _use(values, self.inputs)
        if self.computed:
            made = self.program.run_forward(_use(values, self.computed))
            read += made[self.program.num_results :]
        return _use(self.run(read), self.outputs)


def _use(values: Sequence[Any], uses: tuple[_Use, ...]) -> list[torch.Tensor]:
    return [
        values[index] if shape is None else values[index].reshape(shape) for index, shape in uses
    ]


def _describe(value: Any) -> Any:
    """What a plan depends on."""
    if isinstance(value, torch.Tensor):
        return value.shape, value.dtype, value.device
    return tuple(value) if isinstance(value, list) else value


def register(operator: Operator) -> None:
    """Makes an entry's two operators."""
    _Registered(operator)


class _Registered:
    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self._signature = Signature(
            operator.name, operator.arguments, operator.results, operator.saved, operator.rank
        )
        self._num_given = len(self._signature.given)
        self._wanted = [entry.name for entry in self._signature.wanted]
        self._plans: dict[Any, _Plan] = {}
        self._programs: dict[Any, Program | _Compiled] = {}
        self._sources: dict[Any, dict[str, str]] = {}
        self._lock = threading.Lock()
        self._define()

    def _define(self) -> None:
        operator, name = self._operator, self._operator.name
        declared = [f"Tensor{'?' * entry.is_optional} {entry.name}" for entry in operator.arguments]
        returned = f"({', '.join(f'Tensor {entry.name}' for entry in operator.results)})"
        attributes = list(operator.attributes)
        _LIBRARY.define(f"{name}({', '.join(declared + attributes)}) -> {returned}")
        taken = [f"Tensor? {entry.name}_gradient" for entry in self._signature.given]
        for saved in operator.saved:
            is_optional = self._signature.entry(saved).is_optional or saved in operator.saved_for
            taken.append(f"Tensor{'?' * is_optional} {saved}")
        taken += [*attributes, "bool[] needs"]
        _LIBRARY.define(f"{name}_backward({', '.join(taken)}) -> Tensor[]")
        # Dynamo looks at each Python frame, also at one that a kernel is.
        forward = torch.compiler.disable(self._run_forward)
        backward = torch.compiler.disable(self._run_backward)
        for device in ("CPU", "CUDA"):
            _LIBRARY.impl(name, forward, device)
            _LIBRARY.impl(f"{name}_backward", backward, device)
        qualified = f"fuseops::{name}"
        library = torch.library
        library.register_fake(qualified, self._fake_forward, lib=_LIBRARY)
        library.register_fake(f"{qualified}_backward", self._fake_backward, lib=_LIBRARY)
        library.register_autograd(
            qualified, self._differentiate, setup_context=self._save, lib=_LIBRARY
        )
        library.register_autograd(f"{qualified}_backward", self._refuse_second, lib=_LIBRARY)
        for device, dtype in operator.autocast.items():
            library.register_autocast(qualified, device, dtype, lib=_LIBRARY)
        self._backward = getattr(torch.ops.fuseops, f"{name}_backward").default

    # Programs

    def _build(
        self, types: Mapping[str, Type], attributes: Sequence[Any]
    ) -> tuple[Builder, dict[str, Value]]:
        """The program and its results by name."""
        builder = Builder()
        values = {
            entry.name: builder.argument(entry.name, types[entry.name])
            if entry.name in types
            else None
            for entry in self._operator.arguments
        }
        made = self._operator.build(builder, **values, **self._named(attributes))
        return builder, dict(zip((e.name for e in self._operator.results), made, strict=True))

    def _named(self, attributes: Sequence[Any]) -> dict[str, Any]:
        names = (declared.split()[1] for declared in self._operator.attributes)
        return dict(zip(names, attributes, strict=True))

    def _compile(self, key: Any, make: Callable[[], Any]) -> Any:
        with self._lock:
            if key not in self._programs:
                self._programs[key] = make()
            return self._programs[key]

    def _compile_forward(
        self, types: Mapping[str, Type], attributes: Sequence[Any], target: str
    ) -> Program:
        builder, results = self._build(types, attributes)
        return compile_ir(builder.text([*results.values()], set(types), set()), target=target)

    def _compile_backward(
        self,
        types: Mapping[str, Type],
        attributes: Sequence[Any],
        given: Sequence[bool],
        needs: Sequence[bool],
        target: str,
    ) -> _Compiled:
        builder, results = self._build(types, attributes)
        wanted = choose(self._wanted, needs)
        present = [entry.name for entry in choose(self._signature.given, given)]
        frozen = {index for index, name in enumerate(results) if name not in present}
        text = builder.text([*results.values()], set(types) - set(wanted), frozen)
        program = compile_ir(text, target=target)
        arguments = [value.name for value in builder.arguments]
        sources = program.saved_sources
        names = {"argument": arguments, "result": list(results)}
        is_computed = None in sources
        read = arguments if is_computed else [names[kind][index] for kind, index in sources]
        missing = set(read) - set(self._operator.saved)
        if missing:
            raise FuseOpsError(f"`{self._operator.name}` doesn't save {sorted(missing)}")
        gradients = tuple(arguments.index(name) for name in wanted)
        return _Compiled(program, tuple(read), is_computed, gradients)

    # Kernels

    def _flatten(self, position: int, name: str, tensor: torch.Tensor, rows: int) -> _Use:
        """A tensor as the program takes it."""
        shape = self._signature.type_of(self._signature.entry(name), tensor).shape
        flat = tuple(rows if size is None else size for size in shape)
        return position, None if flat == tuple(tensor.shape) else flat

    def _unflatten(self, position: int, entry: Tensor, leading: Sequence[int], shape: Any) -> _Use:
        """A tensor as PyTorch gets it."""
        flat = tuple(math.prod(leading) if size is None else size for size in shape)
        sizes = self._signature.sizes(entry, leading, shape)
        return position, None if sizes == flat else sizes

    def _plan(self, values: Sequence[Any], make: Callable[..., _Plan]) -> _Plan:
        key = (make, *map(_describe, values))
        plan = self._plans.get(key)
        if plan is None:
            plan = make(values)
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            self._plans[key] = plan
        return plan

    def _run_forward(self, *values: Any) -> Any:
        plan = self._plan(values, self._plan_forward)
        if self._operator.validate is not None and values[0].device.type == "cpu":
            self._operator.validate(*values)
        results = plan.execute(values)
        return results[0] if len(results) == 1 else tuple(results)

    def _plan_forward(self, values: Sequence[Any]) -> _Plan:
        count = len(self._operator.arguments)
        tensors, attributes = values[:count], values[count:]
        leading, target = self._signature.check(tensors), values[0].device.type
        types = self._signature.forward_types(tensors)
        key = (target, tuple(types.items()), attributes)
        program = self._compile(key, lambda: self._compile_forward(types, attributes, target))
        rows = math.prod(leading)
        inputs = [
            self._flatten(index, entry.name, tensor, rows)
            for index, (entry, tensor) in enumerate(
                zip(self._operator.arguments, tensors, strict=True)
            )
            if tensor is not None
        ]
        outputs = [
            self._unflatten(index, entry, leading, program.results[index][2])
            for index, entry in enumerate(self._operator.results)
        ]
        return _Plan(program.run_forward, tuple(inputs), tuple(outputs))

    def _fake_forward(self, *values: Any) -> Any:
        count = len(self._operator.arguments)
        leading = self._signature.check(values[:count])
        _, made = self._build(self._signature.forward_types(values[:count]), values[count:])
        results = [
            values[0].new_empty(
                self._signature.sizes(entry, leading, value.type.shape), dtype=value.type.dtype
            )
            for entry, value in zip(self._operator.results, made.values(), strict=True)
        ]
        return results[0] if len(results) == 1 else tuple(results)

    def _split_backward(self, values: Sequence[Any]) -> Any:
        """Gradients, what is saved by name, attributes, and what is asked for."""
        end = self._num_given + len(self._operator.saved)
        saved = dict(zip(self._operator.saved, values[self._num_given : end], strict=True))
        return values[: self._num_given], saved, values[end:-1], tuple(values[-1])

    def _run_backward(self, *values: Any) -> list[torch.Tensor]:
        return self._plan(values, self._plan_backward).execute(values)

    def _plan_backward(self, values: Sequence[Any]) -> _Plan:
        gradients, saved, attributes, needs = self._split_backward(values)
        types, leading = self._signature.backward_types(gradients, saved)
        given = tuple(gradient is not None for gradient in gradients)
        target = choose(gradients, given)[0].device.type
        key = (target, tuple(types.items()), attributes, given, needs)
        compiled = self._compile(
            key, lambda: self._compile_backward(types, attributes, given, needs, target)
        )
        rows = math.prod(leading)
        inputs = [
            self._flatten(index, entry.name, gradient, rows)
            for index, (entry, gradient) in enumerate(
                zip(self._signature.given, gradients, strict=True)
            )
            if gradient is not None
        ]
        positions = {name: self._num_given + index for index, name in enumerate(saved)}
        read = tuple(
            self._flatten(positions[name], name, saved[name], rows) for name in compiled.saved
        )
        outputs = [
            self._unflatten(position, entry, leading, types[entry.name].shape)
            for entry, position in zip(
                choose(self._signature.wanted, needs), compiled.gradients, strict=True
            )
        ]
        run, is_computed = compiled.program.run_backward, compiled.is_computed
        inputs += () if is_computed else read
        computed = read if is_computed else ()
        return _Plan(run, tuple(inputs), tuple(outputs), computed, compiled.program)

    def _fake_backward(self, *values: Any) -> list[torch.Tensor]:
        gradients, saved, _, needs = self._split_backward(values)
        types, leading = self._signature.backward_types(gradients, saved)
        gradient = next(gradient for gradient in gradients if gradient is not None)
        return [
            gradient.new_empty(
                self._signature.sizes(entry, leading, types[entry.name].shape),
                dtype=types[entry.name].dtype,
            )
            for entry in choose(self._signature.wanted, needs)
        ]

    # Autograd

    def _save(self, ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        operator, count = self._operator, len(self._operator.arguments)
        names = [entry.name for entry in operator.arguments]
        results = output if isinstance(output, (tuple, list)) else (output,)
        named = dict(zip(names, inputs[:count], strict=True))
        named.update((e.name, t) for e, t in zip(operator.results, results, strict=True))
        if operator.saved_for:
            needs = dict(zip(names, ctx.needs_input_grad, strict=False))
            for name, wanted in operator.saved_for.items():
                if not any(needs[other] for other in wanted):
                    named[name] = None
        ctx.attributes = inputs[count:]
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*(named[name] for name in operator.saved))

    def _differentiate(self, ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        operator = self._operator
        named = {
            entry.name: gradient
            for entry, gradient in zip(operator.results, gradients, strict=True)
            if entry.is_differentiable and gradient is not None
        }
        if not named:
            return (None,) * len(ctx.needs_input_grad)
        saved = ctx.saved_tensors
        taken = [named.get(entry.name) for entry in self._signature.given]
        sources = self._find_sources(taken, saved, ctx.attributes)
        asked = [
            sources.get(entry.name) if need else None
            for entry, need in zip(operator.arguments, ctx.needs_input_grad, strict=False)
        ]
        needs = [name in asked for name in self._wanted]
        if any(needs):
            made = self._backward(*taken, *saved, *ctx.attributes, needs)
            named.update(zip(choose(self._wanted, needs), made, strict=True))
        return (*(named.get(name) for name in asked), *(None for _ in operator.attributes))

    def _find_sources(
        self, gradients: Sequence[Any], tensors: Sequence[Any], attributes: Sequence[Any]
    ) -> dict[str, str]:
        """Whose gradient each argument has, by name; those that have none aren't there.
        A gradient that is another's is no result of an operator, which may not return
        what it gets."""
        given = tuple(gradient is not None for gradient in gradients)
        key = (given, tuple(tensor is None for tensor in tensors))
        if key not in self._sources:
            saved = dict(zip(self._operator.saved, tensors, strict=True))
            types, _ = self._signature.backward_types(gradients, saved)
            builder, values = self._build(types, attributes)
            present = [values[entry.name] for entry in choose(self._signature.given, given)]
            names = {value.name: name for name, value in values.items()}
            self._sources[key] = {
                argument.name: names.get(source.name, source.name)
                for argument in builder.arguments
                if (source := builder.gradient_source(argument, present)) is not None
            }
        return self._sources[key]

    def _refuse_second(self, ctx: Any, *gradients: Any) -> None:
        raise FuseOpsError(
            f"expected `{self._operator.name}` to be differentiated once, but got a second time"
        )
