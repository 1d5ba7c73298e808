# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A traced graph as a differentiable call of compiled programs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import torch
from torch.fx import GraphModule, Node
from torch.fx.experimental.symbolic_shapes import is_symbolic

from fuseops.arrays import torch_dtype
from fuseops.compiler import compile_ir
from fuseops.errors import FuseOpsError
from fuseops.program import Program
from fuseops.torch import calls, symbols
from fuseops.torch.fp8 import Quantization
from fuseops.torch.fp8_calls import Bound, Keeper
from fuseops.torch.importer import Gradients, import_graph
from fuseops.torch.trace import Split

# Compiles text for a target; raises FuseOpsError.
Compile = Callable[[str, str], Program]


@dataclass(frozen=True)
class Argument:
    """What the program takes of an input."""

    # The permutation of the input that is row-major where the gradient is as in
    # eager mode.
    order: tuple[int, ...] | None = None
    # The size that it then has as two.
    split: Split | None = None
    # Whether it's a copy, since what the program saves of it would be written.
    is_copied: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it's the caller's as it is."""
        return self.order is None and self.split is None and not self.is_copied

    def to_program(self, tensor: torch.Tensor) -> torch.Tensor:
        """What the program takes."""
        if self.is_copied:
            tensor = tensor.clone()
        if self.order is not None:
            tensor = tensor.permute(self.order)
        return tensor if self.split is None else self.split.apply(tensor)


@dataclass(frozen=True)
class Result:
    """What the caller gets of a result."""

    # Whether a gradient flows back from it.
    has_gradient: bool
    # The permutation of the program's result that has eager's strides.
    order: tuple[int, ...] | None = None
    # The two of the program's sizes that are one, before it's permuted.
    split: Split | None = None
    # Whether it's a copy, since what the program saves of it would be written.
    is_copied: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it's the program's as it is."""
        return self.order is None and self.split is None and not self.is_copied

    def from_program(self, tensor: torch.Tensor) -> torch.Tensor:
        """What the caller gets."""
        if self.is_copied:
            tensor = tensor.clone()
        if self.split is not None:
            tensor = self.split.undo(tensor)
        return tensor if self.order is None else tensor.permute(self.order)


# Programs that are in use, by text and target: equal layers share one.
_PROGRAMS: WeakValueDictionary[tuple[str, str], Program] = WeakValueDictionary()


def compile_text(text: str, target: str) -> Program:
    """Compiles, once while a program is in use; weights are quantized apart."""
    found = _PROGRAMS.get((text, target))
    if found is None:
        found = _PROGRAMS[text, target] = compile_ir(text, target=target, prepare=True)
    return found


class Pipeline:
    """Calls of one traced graph, forward and backward.

    A call takes the graph's inputs and gives a tuple of its results. Programs are
    compiled for the gradients that are asked for and for those that arrive, each
    when it's first needed, and kept.
    """

    def __init__(
        self,
        name: str,
        graph: GraphModule,
        arguments: Sequence[Argument],
        results: Sequence[Result],
        target: str,
        *,
        is_grad_enabled: bool = True,
        quantization: Quantization | None = None,
        nodes: Sequence[Node] = (),
        compile_program: Compile = compile_text,
    ) -> None:
        # FX names what it calls.
        self.name = self.__name__ = self.__qualname__ = name
        self.graph = graph
        self.arguments = tuple(arguments)
        self.results = tuple(results)
        self.target = target
        # The mode that the graph was traced in, whatever it's called in.
        self._is_grad_enabled = is_grad_enabled
        self.quantization = quantization
        # Other graphs may narrow them later, but not the key.
        self._bounds = symbols.find(node.meta.get("val") for node in graph.graph.nodes)
        self._keeper = quantization and Keeper(graph, nodes, quantization)
        self._compile = compile_program
        self._programs: dict[tuple[Any, ...], Program] = {}
        # The results that a program gives as an input or as another result, by the
        # inputs that need a gradient. In eager mode each has memory of its own.
        self._aliases: dict[tuple[bool, ...], tuple[int, ...]] = {}
        # Results without a gradient.
        self.constants = tuple(i for i, r in enumerate(self.results) if not r.has_gradient)
        # Those that are not plain, of which there are few.
        self._changed_inputs = [(i, a) for i, a in enumerate(arguments) if not a.is_plain]
        self._changed_results = [(i, r) for i, r in enumerate(results) if not r.is_plain]
        self._rows_at = _find_symbol(graph)
        text = f"{target}\n{self.source((True,) * self.num_inputs)}"
        self._key = hashlib.sha256(text.encode()).hexdigest()
        calls.register(self._key, self)

    @property
    def num_inputs(self) -> int:
        """How many tensors a call takes."""
        return sum(node.op == "placeholder" for node in self.graph.graph.nodes)

    def source(self, needs: Sequence[bool], missing: Sequence[int] = ()) -> str:
        """The text of the program for which inputs need a gradient, and the
        results whose gradient doesn't arrive."""
        frozen = tuple(index for index, needed in enumerate(needs) if not needed)
        gradients = Gradients(frozen, self.constants, missing)
        recipe = self.quantization and self.quantization.recipe
        return import_graph(self.graph, self.name, gradients, recipe, self._bounds)

    def program(self, needs: tuple[bool, ...], missing: tuple[int, ...] = ()) -> Program:
        """The program for these gradients; compiles it if it's the first time."""
        found = self._programs.get((needs, missing))
        if found is None:
            # Two threads may compile one program: either is right.
            found = self._compile(self.source(needs, missing), self.target)
            if not missing:
                results = enumerate(found.forward_outputs[: len(self.results)])
                self._aliases[needs] = tuple(i for i, info in results if not calls.is_made(info))
            self._programs[needs, missing] = found
        return found

    def __call__(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The results."""
        if self._is_grad_enabled and not torch.is_grad_enabled():
            # The rest may have turned it off already.
            with torch.inference_mode(False), torch.enable_grad():
                return self._call(inputs)
        return self._call(inputs)

    def _call(self, inputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        kept = None if self._keeper is None else self._keeper.bind(inputs)
        # Views are no part of the autograd function, so that they may be written.
        if self._changed_inputs:
            inputs = list(inputs)
            for index, argument in self._changed_inputs:
                inputs[index] = argument.to_program(inputs[index])
        results = self._run_or_apply(inputs, kept)
        if self._changed_results:
            results = list(results)
            for index, result in self._changed_results:
                results[index] = result.from_program(results[index])
        return tuple(results)

    def _run_or_apply(
        self, inputs: Sequence[torch.Tensor], kept: Bound | None
    ) -> tuple[torch.Tensor, ...]:
        if self._is_grad_enabled and any(tensor.requires_grad for tensor in inputs):
            return _Call.apply(self, kept, *inputs)
        return self.run((False,) * len(inputs), inputs, kept)[: len(self.results)]

    def rows_of(self, inputs: Sequence[torch.Tensor]) -> int:
        """The size of a call that was symbolic when the graph was traced."""
        if self._rows_at is None:
            return 0
        index, dim = self._rows_at
        return inputs[index].shape[dim]

    def run(
        self,
        needs: tuple[bool, ...],
        inputs: Sequence[torch.Tensor],
        kept: Bound | None = None,
    ) -> tuple[Any, ...]:
        """The outputs of forward: the pipeline's results, then what is saved for the
        gradients of the inputs that need one."""
        program = self.program(needs)
        run = partial(self._run_forward, program, needs, inputs)
        if kept is None:
            return run(())
        outputs = kept.forward(
            program,
            run,
            partial(self._run_prepare, program, needs),
            inputs,
            is_trained=any(needs),
            is_traced=calls.is_traced(inputs),
        )
        # What is a result of the program only is state.
        return (*outputs[: len(self.results)], *outputs[program.num_results :])

    def _run_forward(
        self,
        program: Program,
        needs: tuple[bool, ...],
        inputs: Sequence[torch.Tensor],
        others: Sequence[torch.Tensor],
    ) -> tuple[Any, ...]:
        """All that the program gives, with further arguments behind the inputs."""
        # Random operations take a seed and an offset from PyTorch's generator.
        if len(program.forward_inputs) > len(inputs) + len(others):
            device = inputs[0].device
            inputs = (*inputs, torch.empty(2, dtype=torch.int64, device=device).random_())
        inputs = (*inputs, *others)
        if calls.is_traced(inputs):
            outputs = calls.forward(self._key, needs, inputs)
        else:
            outputs = program.run_forward(inputs)
        aliases = self._aliases[needs]
        if not aliases:
            return outputs
        # What a program gives is row-major, unlike maybe what it takes.
        row_major = torch.contiguous_format
        return tuple(
            out.clone(memory_format=row_major) if index in aliases else out
            for index, out in enumerate(outputs)
        )

    def _run_prepare(
        self, program: Program, needs: tuple[bool, ...], inputs: Sequence[torch.Tensor]
    ) -> tuple[Any, ...]:
        """What the program makes of weights."""
        if calls.is_traced(inputs):
            return calls.prepare(self._key, needs, inputs)
        return program.run_prepare(inputs)

    def run_backward(
        self,
        needs: tuple[bool, ...],
        gradients: Sequence[torch.Tensor | None],
        saved: Sequence[torch.Tensor],
        rows: int,
        kept: Bound | None = None,
    ) -> tuple[torch.Tensor | None, ...]:
        """The gradients of the inputs; None for those that don't need one, or
        that only results without a gradient depend on. `rows` is the size that
        was symbolic when the graph was traced."""
        given, missing = self._split(gradients)
        if not given:
            return (None,) * len(needs)
        if missing and self.quantization is not None:
            # What is quantized depends on what arrives, and its state on that.
            given, missing = self._filled(needs, gradients, rows), ()
        program = self.program(needs, missing)
        run = partial(self._run_backward, program, needs, missing, rows)
        if kept is None:
            return run((*given, *saved))[: len(needs)]
        return kept.backward(program, run, given, saved)[: len(needs)]

    def _filled(
        self, needs: tuple[bool, ...], gradients: Sequence[torch.Tensor | None], rows: int
    ) -> list[torch.Tensor]:
        """The gradients that the program takes, zeros where none arrived."""
        found = [g for g, r in zip(gradients, self.results, strict=True) if r.has_gradient]
        device = next(gradient.device for gradient in found if gradient is not None)
        infos = self.program(needs).backward_inputs
        for index, info in enumerate(infos[: len(found)]):
            if found[index] is None:
                shape = [rows if size is None else size for size in info.shape]
                dtype = torch_dtype(info.dtype)
                found[index] = torch.zeros(shape, dtype=dtype, device=device)
        return found

    def _run_backward(
        self,
        program: Program,
        needs: tuple[bool, ...],
        missing: tuple[int, ...],
        rows: int,
        inputs: Sequence[torch.Tensor],
    ) -> tuple[Any, ...]:
        """All that the program gives."""
        expected = program.backward_inputs
        if len(expected) > len(inputs):
            # Nothing else that is left says how many rows there are.
            shape = [rows if size is None else size for size in expected[-1].shape]
            dtype = torch_dtype(expected[-1].dtype)
            inputs = (*inputs, torch.empty(1, dtype=dtype, device=inputs[0].device).expand(shape))
        if calls.is_traced(inputs):
            return calls.backward(self._key, needs, missing, rows, inputs)
        return program.run_backward(inputs)

    def _split(
        self, gradients: Sequence[torch.Tensor | None]
    ) -> tuple[Sequence[torch.Tensor], tuple[int, ...]]:
        """The gradients that the program takes, and which results have none."""
        if not self.constants and all(g is not None for g in gradients):
            return gradients, ()
        given, missing = [], []
        for index, (result, gradient) in enumerate(zip(self.results, gradients, strict=True)):
            if result.has_gradient and gradient is None:
                missing.append(index)
            elif result.has_gradient:
                given.append(gradient)
        return given, tuple(missing)


def _find_symbol(graph: GraphModule) -> tuple[int, int] | None:
    """The first input with a symbolic size, and that size's dimension."""
    inputs = [node for node in graph.graph.nodes if node.op == "placeholder"]
    for index, node in enumerate(inputs):
        for dim, size in enumerate(node.meta["val"].shape):
            if is_symbolic(size):
                return index, dim
    return None


class _Call(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, pipeline: Pipeline, kept: Bound | None, *inputs: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        outputs = pipeline.run(ctx.needs_input_grad[2:], inputs, kept)
        count = len(pipeline.results)
        ctx.set_materialize_grads(False)
        ctx.pipeline = pipeline
        ctx.kept = kept
        ctx.rows = pipeline.rows_of(inputs)
        ctx.save_for_backward(*outputs[count:])
        if pipeline.constants:
            ctx.mark_non_differentiable(*(outputs[index] for index in pipeline.constants))
        return outputs[:count]

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        needs = ctx.needs_input_grad[2:]
        given = (needs, gradients, ctx.saved_tensors, ctx.rows, ctx.kept)
        if not torch.is_grad_enabled():
            return None, None, *ctx.pipeline.run_backward(*given)
        with torch.no_grad():
            found = ctx.pipeline.run_backward(*given)
        return None, None, *_Gradients.apply(torch.empty(0, requires_grad=True), *found)


class _Gradients(torch.autograd.Function):
    """Gradients that are part of a graph, as `create_graph` asks for. Without it
    they would pass for constants."""

    @staticmethod
    def forward(
        ctx: Any, marker: torch.Tensor, *gradients: torch.Tensor | None
    ) -> tuple[torch.Tensor | None, ...]:
        return gradients

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        raise FuseOpsError("expected gradients of first order, but got one of a gradient")
