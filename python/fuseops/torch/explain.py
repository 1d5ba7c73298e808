# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`fuseops.explain`: what the backend makes of a model."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch.fx import GraphModule

from fuseops.torch.backend import Options, compile_graph
from fuseops.torch.explanation import Explanation, GraphExplanation, explain_graph


def explain(
    model: Callable[..., Any],
    *inputs: Any,
    options: Mapping[str, Any] | None = None,
    **keywords: Any,
) -> Explanation:
    """What `torch.compile(model, backend="fuseops", options=options)` would do in a
    call `model(*inputs, **keywords)`.

    Compiles each graph, forward and, where gradients are on and needed, backward,
    and runs the model once in eager mode, so that what follows a graph break is
    explained too. Random generators and the model's buffers are then as before;
    `.grad` isn't touched. A model that is compiled already is taken as it was before.

    Sizes are those of the inputs; a dimension that torch._dynamo.mark_dynamic marked
    is symbolic. Raises FuseOpsError for an unknown option, and what the model raises.
    """
    # What Inductor would make of the rest isn't asked.
    parsed = replace(Options.parse(options), rest="eager")
    original = _original(model)
    known = _known(original, inputs, keywords)
    graphs: list[GraphExplanation] = []

    def backend(module: GraphModule, examples: Sequence[Any]) -> Callable[..., Any]:
        _, compiled = compile_graph(module, parsed)
        names = [known.get(id(example)) for example in examples]
        graphs.append(explain_graph(module, compiled, names))
        return module.forward

    def call(*args: Any, **kwargs: Any) -> Any:
        return original(*args, **kwargs)

    # Each call compiles anew: Dynamo must not count them as recompilations.
    limits = {"recompile_limit": 1 << 16, "accumulated_recompile_limit": 1 << 16}
    with torch._dynamo.config.patch(limits), _unchanged(original):
        torch.compile(call, backend=backend, dynamic=False)(*inputs, **keywords)
    return Explanation(tuple(graphs))


def _original(model: Callable[..., Any]) -> Callable[..., Any]:
    """The model before torch.compile."""
    if isinstance(model, torch.nn.Module):
        return getattr(model, "_orig_mod", model)
    return getattr(model, "_torchdynamo_orig_callable", model)


@contextlib.contextmanager
def _unchanged(model: Callable[..., Any]) -> Iterator[None]:
    """Undoes what a run of the model does to generators and buffers."""
    buffers = list(model.buffers()) if isinstance(model, torch.nn.Module) else []
    before = [buffer.clone() for buffer in buffers]
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    with torch.random.fork_rng(devices):
        try:
            yield
        finally:
            with torch.no_grad():
                for buffer, value in zip(buffers, before, strict=True):
                    buffer.copy_(value)


def _known(
    model: Callable[..., Any], inputs: Sequence[Any], keywords: Mapping[str, Any]
) -> dict[int, str]:
    """What the user calls tensors, by their identity: the name of an argument, of a
    parameter or of a buffer."""
    is_module = isinstance(model, torch.nn.Module)
    known: dict[int, str] = {}
    # A builtin has no signature.
    with contextlib.suppress(ValueError):
        signature = inspect.signature(model.forward if is_module else model)
        arguments = signature.bind(*inputs, **keywords).arguments
        known = {id(value): name for name, value in arguments.items()}
    if is_module:
        for name, tensor in (*model.named_parameters(), *model.named_buffers()):
            known[id(tensor)] = name
    return known
