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
from fuseops.torch.builder import FLOATS, Builder, Type, Value, expect

_LIBRARY = torch.library.Library("fuseops", "FRAGMENT")


@dataclass(frozen=True)
class Tensor:
    """An argument or a result. `rows` are `[..., N]`, `statistic` `[..., 1]`, `values`
    `[...]`, all with the same leading sizes, and `fixed` has none of them."""

    name: str
    kind: str = "rows"
    is_optional: bool = False
    is_differentiable: bool = True


@dataclass(frozen=True)
class Operator:
    """An entry of the table.

    `build` gets a Builder, the arguments' values by name (None where absent) and
    the attributes, and returns a value for each result. `saved` names the arguments
    and results that backward gets: of those that are `rows` at least one, unless
    the gradient of a result has the shape and dtype of what isn't saved. The
    gradient of a key of `shared` is that of its value, an argument or a result, and
    a key of `saved_for` is saved only for the gradient of an argument of its value.
    `rank` is the number of trailing dimensions of `rows`. `validate` looks at the
    data of arguments on the CPU, and raises what eager execution does.
    """

    name: str
    arguments: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    build: Callable[..., Sequence[Value]]
    saved: tuple[str, ...]
    attributes: tuple[str, ...] = ()
    shared: Mapping[str, str] = field(default_factory=dict)
    saved_for: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    autocast: Mapping[str, torch.dtype] = field(default_factory=dict)
    rank: int = 1
    validate: Callable[..., None] | None = None


@dataclass(frozen=True)
class _Compiled:
    """A program. In it `saved` are the names of what backward reads, `gradients` the
    positions of the gradients that were asked for. Where backward reads something
    that is neither an argument nor a result, `computed` names the arguments from
    which forward makes what is saved again."""

    program: Program
    saved: tuple[str, ...] = ()
    gradients: tuple[int, ...] = ()
    computed: tuple[str, ...] | None = None


def register(operator: Operator) -> _Registered:
    """Makes an entry's two operators."""
    return _Registered(operator)


class _Registered:
    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self._programs: dict[Any, _Compiled] = {}
        self._reachable: dict[Any, frozenset[str]] = {}
        self._lock = threading.Lock()
        self._kinds = {entry.name: entry for entry in (*operator.arguments, *operator.results)}
        self._given = tuple(entry for entry in operator.results if entry.is_differentiable)
        self._wanted = tuple(entry for entry in operator.arguments if entry.is_differentiable)
        self._define()

    # Registration

    def _define(self) -> None:
        operator, name = self._operator, self._operator.name
        declared = [f"Tensor{'?' * entry.is_optional} {entry.name}" for entry in operator.arguments]
        results = ", ".join("Tensor" for _ in operator.results)
        returned = f"({results})" if len(operator.results) > 1 else results
        attributes = list(operator.attributes)
        _LIBRARY.define(f"{name}({', '.join(declared + attributes)}) -> {returned}")
        taken = [f"Tensor? {entry.name}_gradient" for entry in self._given]
        for saved in operator.saved:
            is_optional = self._kinds[saved].is_optional or saved in operator.saved_for
            taken.append(f"Tensor{'?' * is_optional} {saved}")
        taken += [*attributes, "bool[] needs"]
        _LIBRARY.define(f"{name}_backward({', '.join(taken)}) -> Tensor[]")
        for device in ("CPU", "CUDA"):
            _LIBRARY.impl(name, self._run_forward, device)
            _LIBRARY.impl(f"{name}_backward", self._run_backward, device)
        qualified = f"fuseops::{name}"
        register_fake, register_autograd = (
            torch.library.register_fake,
            torch.library.register_autograd,
        )
        register_fake(qualified, self._fake_forward, lib=_LIBRARY)
        register_fake(f"{qualified}_backward", self._fake_backward, lib=_LIBRARY)
        register_autograd(qualified, self._differentiate, setup_context=self._save, lib=_LIBRARY)
        register_autograd(f"{qualified}_backward", self._refuse_second, lib=_LIBRARY)
        for device, dtype in operator.autocast.items():
            torch.library.register_autocast(qualified, device, dtype, lib=_LIBRARY)
        packet = getattr(torch.ops.fuseops, f"{name}_backward")
        self._backward = packet.default

    # Shapes

    def _type(self, entry: Tensor, tensor: torch.Tensor) -> Type:
        if entry.kind == "values":
            return Type((None, 1), tensor.dtype)
        if entry.kind == "fixed":
            return Type(tuple(tensor.shape), tensor.dtype)
        return Type((None, *tensor.shape[tensor.dim() - self._operator.rank :]), tensor.dtype)

    def _leading(self, entry: Tensor, tensor: torch.Tensor) -> torch.Size:
        if entry.kind == "values":
            return tensor.shape
        return tensor.shape[: tensor.dim() - self._operator.rank]

    def _flatten(self, entry: Tensor, tensor: torch.Tensor, rows: int) -> torch.Tensor:
        """As the program takes it."""
        if entry.kind == "fixed":
            return tensor
        if entry.kind == "values":
            return tensor.reshape(rows, 1)
        rank = self._operator.rank
        if tensor.dim() == rank + 1:
            return tensor
        return tensor.reshape(rows, *tensor.shape[tensor.dim() - rank :])

    def _unflatten(
        self, entry: Tensor, leading: Sequence[int], tensor: torch.Tensor
    ) -> torch.Tensor:
        """As PyTorch gets it from the program."""
        if entry.kind == "fixed" or (entry.kind != "values" and len(leading) == 1):
            return tensor
        return tensor.view(self._sizes(entry, leading, tensor.shape))

    def _sizes(
        self, entry: Tensor, leading: Sequence[int], shape: Sequence[int | None]
    ) -> tuple[int, ...]:
        if entry.kind == "fixed":
            return tuple(shape)
        return tuple(leading) if entry.kind == "values" else (*leading, *shape[1:])

    def _check(self, given: Mapping[str, torch.Tensor | None]) -> torch.Size:
        """The leading sizes; raises FuseOpsError where arguments don't go together."""
        first, leading = None, None
        for entry in self._operator.arguments:
            name, tensor = entry.name, given[entry.name]
            if tensor is None:
                continue
            if first is None:
                first = tensor
            device = first.device
            expect(tensor.device == device, name, f"be on {device}", tensor.device)
            if entry.is_differentiable:
                names = ", ".join(FLOATS.values())
                expect(tensor.dtype in FLOATS, name, f"have one of {names}", tensor.dtype)
            if entry.kind == "fixed":
                continue
            rank = self._operator.rank if entry.kind == "rows" else 0
            shape = tuple(tensor.shape)
            expect(len(shape) >= rank, name, f"have {rank} or more dimensions", shape)
            found = self._leading(entry, tensor)
            leading = found if leading is None else leading
            expect(found == leading, name, f"have the leading sizes {tuple(leading)}", shape)
        return leading

    # Programs

    def _build(
        self, types: Mapping[str, Type], attributes: Mapping[str, Any]
    ) -> tuple[Builder, list[Value]]:
        builder = Builder()
        values = {
            entry.name: builder.argument(entry.name, types[entry.name])
            if entry.name in types
            else None
            for entry in self._operator.arguments
        }
        return builder, list(self._operator.build(builder, **values, **attributes))

    def _forward_types(self, given: Mapping[str, torch.Tensor | None]) -> dict[str, Type]:
        return {
            entry.name: self._type(entry, tensor)
            for entry in self._operator.arguments
            if (tensor := given[entry.name]) is not None
        }

    def _backward_types(
        self, gradients: Sequence[torch.Tensor | None], saved: Mapping[str, torch.Tensor | None]
    ) -> dict[str, Type]:
        """The types of all arguments, of those that aren't saved, too."""
        like, _ = self._reference(gradients, saved)
        types = {}
        for entry in self._operator.arguments:
            if saved.get(entry.name) is None and not entry.is_optional:
                types[entry.name] = like
            elif saved.get(entry.name) is not None:
                types[entry.name] = self._type(entry, saved[entry.name])
        return types

    def _reference(
        self, gradients: Sequence[torch.Tensor | None], saved: Mapping[str, torch.Tensor | None]
    ) -> tuple[Type, torch.Size]:
        """Type and leading sizes of the rows that backward has."""
        found = [(self._kinds[name], tensor) for name, tensor in saved.items()]
        found += zip(self._given, gradients, strict=True)
        for entry, tensor in found:
            if tensor is not None and entry.kind == "rows":
                return self._type(entry, tensor), self._leading(entry, tensor)
        raise FuseOpsError(f"expected `{self._operator.name}_backward` to get rows")

    def _attributes(self, values: Sequence[Any]) -> dict[str, Any]:
        names = [declared.split()[1] for declared in self._operator.attributes]
        return dict(zip(names, values, strict=True))

    def _compile(self, key: Any, make: Callable[[], _Compiled]) -> _Compiled:
        with self._lock:
            if key not in self._programs:
                self._programs[key] = make()
            return self._programs[key]

    def _compile_forward(
        self, types: Mapping[str, Type], attributes: Mapping[str, Any], target: str
    ) -> _Compiled:
        builder, results = self._build(types, attributes)
        text = builder.text(results, set(types), set())
        return _Compiled(compile_ir(text, target=target))

    def _compile_backward(
        self,
        types: Mapping[str, Type],
        attributes: Mapping[str, Any],
        given: Sequence[bool],
        needs: Sequence[bool],
        target: str,
    ) -> _Compiled:
        builder, results = self._build(types, attributes)
        wanted = {entry.name for entry, need in zip(self._wanted, needs, strict=True) if need}
        names = [entry.name for entry, is_given in zip(self._given, given, strict=True) if is_given]
        frozen = {
            index for index, entry in enumerate(self._operator.results) if entry.name not in names
        }
        program = compile_ir(builder.text(results, set(types) - wanted, frozen), target=target)
        arguments = [value.name for value in builder.arguments]
        names = {"argument": arguments, "result": [entry.name for entry in self._operator.results]}
        sources = program.saved_sources
        computed = tuple(arguments) if None in sources else None
        saved = () if computed else tuple(names[kind][index] for kind, index in sources)
        missing = {*saved, *(computed or ())} - set(self._operator.saved)
        if missing:
            raise FuseOpsError(f"`{self._operator.name}` doesn't save {sorted(missing)}")
        gradients = tuple(index for index, name in enumerate(arguments) if name in wanted)
        return _Compiled(program, saved, gradients, computed)

    # Kernels

    def _split(self, values: Sequence[Any]) -> tuple[dict[str, Any], tuple[Any, ...]]:
        count = len(self._operator.arguments)
        names = (entry.name for entry in self._operator.arguments)
        return dict(zip(names, values[:count], strict=True)), tuple(values[count:])

    def _key(self, tensors: Mapping[str, torch.Tensor | None]) -> tuple[Any, ...]:
        return tuple(
            None if tensor is None else self._type(self._kinds[name], tensor)
            for name, tensor in tensors.items()
        )

    def _run_forward(self, *values: Any) -> Any:
        given, attributes = self._split(values)
        leading = self._check(given)
        device = values[0].device
        if self._operator.validate is not None and device.type == "cpu":
            self._operator.validate(**given, **self._attributes(attributes))
        key = (device.type, attributes, self._key(given))
        compiled = self._programs.get(key)
        if compiled is None:
            types, named = self._forward_types(given), self._attributes(attributes)
            compiled = self._compile(key, lambda: self._compile_forward(types, named, device.type))
        rows = math.prod(leading)
        inputs = [
            self._flatten(self._kinds[name], tensor, rows)
            for name, tensor in given.items()
            if tensor is not None
        ]
        made = compiled.program.run_forward(inputs)
        results = [
            self._unflatten(entry, leading, tensor)
            for entry, tensor in zip(self._operator.results, made, strict=True)
        ]
        return results[0] if len(results) == 1 else tuple(results)

    def _fake_forward(self, *values: Any) -> Any:
        given, attributes = self._split(values)
        leading = self._check(given)
        _, made = self._build(self._forward_types(given), self._attributes(attributes))
        results = [
            values[0].new_empty(self._sizes(entry, leading, made.type.shape), dtype=made.type.dtype)
            for entry, made in zip(self._operator.results, made, strict=True)
        ]
        return results[0] if len(results) == 1 else tuple(results)

    def _split_backward(self, values: Sequence[Any]) -> Any:
        gradients = values[: len(self._given)]
        end = len(self._given) + len(self._operator.saved)
        saved = dict(zip(self._operator.saved, values[len(self._given) : end], strict=True))
        return gradients, saved, tuple(values[end:-1]), tuple(values[-1])

    def _run_backward(self, *values: Any) -> list[torch.Tensor]:
        gradients, saved, attributes, needs = self._split_backward(values)
        given = tuple(gradient is not None for gradient in gradients)
        like, leading = self._reference(gradients, saved)
        device = next(gradient for gradient in gradients if gradient is not None).device
        key = (device.type, attributes, self._key(saved), like, given, needs)
        compiled = self._programs.get(key)
        if compiled is None:
            types, named = self._backward_types(gradients, saved), self._attributes(attributes)
            compiled = self._compile(
                key, lambda: self._compile_backward(types, named, given, needs, device.type)
            )
        rows = math.prod(leading)
        inputs = [
            self._flatten(entry, gradient, rows)
            for entry, gradient in zip(self._given, gradients, strict=True)
            if gradient is not None
        ]
        names = compiled.saved if compiled.computed is None else compiled.computed
        read = [self._flatten(self._kinds[name], saved[name], rows) for name in names]
        if compiled.computed is not None:
            read = compiled.program.run_forward(read)[compiled.program.num_results :]
        inputs += read
        made = compiled.program.run_backward(inputs)
        entries = [entry for entry, need in zip(self._wanted, needs, strict=True) if need]
        return [
            self._unflatten(entry, leading, made[position])
            for entry, position in zip(entries, compiled.gradients, strict=True)
        ]

    def _fake_backward(self, *values: Any) -> list[torch.Tensor]:
        gradients, saved, _, needs = self._split_backward(values)
        types = self._backward_types(gradients, saved)
        _, leading = self._reference(gradients, saved)
        gradient = next(gradient for gradient in gradients if gradient is not None)
        return [
            gradient.new_empty(
                self._sizes(entry, leading, types[entry.name].shape), dtype=types[entry.name].dtype
            )
            for entry, need in zip(self._wanted, needs, strict=True)
            if need
        ]

    # Autograd

    def _save(self, ctx: Any, inputs: Sequence[Any], output: Any) -> None:
        given, ctx.attributes = self._split(inputs)
        results = output if isinstance(output, (tuple, list)) else (output,)
        named = {
            **given,
            **{e.name: t for e, t in zip(self._operator.results, results, strict=True)},
        }
        needs = dict(zip(given, ctx.needs_input_grad, strict=False))
        for name, wanted in self._operator.saved_for.items():
            if not any(needs[other] for other in wanted):
                named[name] = None
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*(named[name] for name in self._operator.saved))

    def _differentiate(self, ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        operator = self._operator
        named = {
            entry.name: gradient
            for entry, gradient in zip(operator.results, gradients, strict=True)
            if entry.is_differentiable and gradient is not None
        }
        found: dict[str, Any] = {}
        if named:
            saved = dict(zip(operator.saved, ctx.saved_tensors, strict=True))
            asked = {
                entry.name
                for entry, need in zip(operator.arguments, ctx.needs_input_grad, strict=False)
                if need and entry.is_differentiable
            }
            asked = {operator.shared.get(name, name) for name in asked}
            taken = [named.get(entry.name) for entry in self._given]
            reachable = self._reach(taken, saved, self._attributes(ctx.attributes))
            needs = [entry.name in asked and entry.name in reachable for entry in self._wanted]
            made = ()
            if any(needs):
                made = self._backward(*taken, *saved.values(), *ctx.attributes, needs)
            names = [entry.name for entry, need in zip(self._wanted, needs, strict=True) if need]
            found = {**named, **dict(zip(names, made, strict=True))}
        results = [
            found.get(operator.shared.get(entry.name, entry.name)) if need else None
            for entry, need in zip(operator.arguments, ctx.needs_input_grad, strict=False)
        ]
        return (*results, *(None for _ in operator.attributes))

    def _reach(
        self, gradients: Sequence[Any], saved: Mapping[str, Any], attributes: Mapping[str, Any]
    ) -> frozenset[str]:
        """The arguments that the results with a gradient depend on."""
        given = tuple(gradient is not None for gradient in gradients)
        key = (given, tuple(tensor is None for tensor in saved.values()))
        if key not in self._reachable:
            builder, results = self._build(self._backward_types(gradients, saved), attributes)
            names = {entry.name for entry, ok in zip(self._given, given, strict=True) if ok}
            self._reachable[key] = frozenset().union(
                *(
                    builder.depends_on(value)
                    for entry, value in zip(self._operator.results, results, strict=True)
                    if entry.name in names
                )
            )
        return self._reachable[key]

    def _refuse_second(self, ctx: Any, *gradients: Any) -> None:
        raise FuseOpsError(
            f"expected `{self._operator.name}` to be differentiated once, but got a second time"
        )
