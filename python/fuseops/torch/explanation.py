# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What became of the graphs of a model, as records, as text and as a log."""

from __future__ import annotations

import json
import logging
import operator
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import GraphModule, Node

from fuseops.torch.checkpointing import Checkpointed
from fuseops.torch.modes import is_mode_change
from fuseops.torch.symbols import hint
from fuseops.torch.text import align, format_bytes, format_shape
from fuseops.torch.trace import example_of

if TYPE_CHECKING:
    from fuseops.torch.backend import Compiled, Taken

# TORCH_LOGS="fuseops.torch" shows its lines, "+fuseops.torch" each operation too.
logger = logging.getLogger("fuseops.torch")

# Frames in them are no code of the user.
_OURS = tuple(str(Path(file).parent) + "/" for file in (torch.__file__, __file__))
_FRAME = re.compile(
    r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+), in .*\n\s*(?P<code>.*)$', re.M
)


@dataclass(frozen=True)
class Location:
    """A line of the user's."""

    file: str
    line: int
    code: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Operation:
    """A call in a graph of Dynamo. Either a pipeline has it, or there is a reason."""

    name: str
    location: Location | None
    # Which of the graph's pipelines.
    pipeline: int | None
    reason: str | None


@dataclass(frozen=True)
class Kernel:
    """What a step of a program computes, and the bytes that it reads and writes."""

    name: str
    template: str
    members: tuple[str, ...]
    bytes: int


@dataclass(frozen=True)
class Traffic:
    """Bytes read and written: by the kernels, at least, and op by op."""

    moved: int = 0
    floor: int = 0
    unfused: int = 0

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(
            self.moved + other.moved, self.floor + other.floor, self.unfused + other.unfused
        )

    def __str__(self) -> str:
        moved, floor, unfused = map(format_bytes, (self.moved, self.floor, self.unfused))
        text = f"{moved} moved, floor {floor}, op by op {unfused}"
        if self.moved == self.unfused or not self.unfused:
            return text
        share = abs(self.unfused - self.moved) / self.unfused
        return f"{text} ({share:.0%} {'saved' if self.moved < self.unfused else 'more'})"


@dataclass(frozen=True)
class Entry:
    """The forward or the backward of a pipeline."""

    name: str
    kernels: tuple[Kernel, ...]
    traffic: Traffic


@dataclass(frozen=True)
class Saved:
    """A tensor that forward keeps for backward. One that is an input or a result
    anyway has it as its source and costs nothing."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    source: str | None


@dataclass(frozen=True)
class PipelineExplanation:
    """A pipeline, for the sizes that the graph was compiled with."""

    name: str
    target: str
    inputs: tuple[str, ...]
    # Those of the inputs that get a gradient.
    differentiated: tuple[str, ...]
    entries: tuple[Entry, ...]
    saved: tuple[Saved, ...]
    # Why the compiler didn't put neighbours into one kernel.
    refused_fusions: tuple[str, ...]
    # What a recipe left in high precision, and why.
    high_precision: tuple[str, ...] = ()


@dataclass(frozen=True)
class GraphExplanation:
    """One graph of Dynamo."""

    operations: tuple[Operation, ...]
    pipelines: tuple[PipelineExplanation, ...]
    # Why Dynamo ended the graph before the model's end.
    graph_break: str | None = None

    @property
    def num_taken(self) -> int:
        """How many operations pipelines have."""
        return sum(operation.pipeline is not None for operation in self.operations)

    def __str__(self) -> str:
        parts = [_describe_pipeline(self, index) for index in range(len(self.pipelines))]
        refused = Counter(o for o in self.operations if o.reason is not None)
        if refused:
            rows = [
                (o.name, o.location or "", o.location.code if o.location else "", _times(count))
                for o, count in refused.items()
            ]
            lines = zip(align(rows), refused, strict=True)
            parts.append("not taken\n" + "\n".join(f"  {r}\n    {o.reason}" for r, o in lines))
        if self.graph_break:
            parts.append(f"the graph ends early\n  {self.graph_break}")
        return "\n".join(parts)


@dataclass(frozen=True)
class Explanation:
    """What became of a model: `str()` for reading, `to_dict()` for programs."""

    graphs: tuple[GraphExplanation, ...]

    @property
    def num_operations(self) -> int:
        """How many operations all graphs have."""
        return sum(len(graph.operations) for graph in self.graphs)

    @property
    def num_taken(self) -> int:
        """How many of them pipelines have."""
        return sum(graph.num_taken for graph in self.graphs)

    @property
    def share(self) -> float:
        """The share of the operations that pipelines have; 1 if there are none."""
        return self.num_taken / self.num_operations if self.num_operations else 1.0

    def traffic(self, entry: str | None = None) -> Traffic:
        """The bytes of all pipelines, or of their `forward` or `backward`."""
        entries = (e for g in self.graphs for p in g.pipelines for e in p.entries)
        return sum((e.traffic for e in entries if entry in (None, e.name)), Traffic())

    @property
    def saved_bytes(self) -> int:
        """The memory that pipelines keep from forward to backward."""
        saved = (s for g in self.graphs for p in g.pipelines for s in p.saved)
        return sum(s.bytes for s in saved if s.source is None)

    def to_dict(self) -> dict[str, Any]:
        """All of it as what JSON has, the sums included."""
        return {
            **asdict(self),
            "num_operations": self.num_operations,
            "num_taken": self.num_taken,
            "share": self.share,
            "traffic": {n: asdict(self.traffic(n)) for n in ("forward", "backward")},
            "saved_bytes": self.saved_bytes,
        }

    def to_json(self) -> str:
        """`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=2)

    def __str__(self) -> str:
        lines = []
        for index, graph in enumerate(self.graphs):
            counts = f"{graph.num_taken} of {len(graph.operations)} operations"
            lines.append(f"graph {index}: {counts} in {_count(graph.pipelines, 'pipeline')}")
            lines.append(str(graph) + "\n")
        counts = f"{self.num_taken} of {self.num_operations} operations ({self.share:.0%})"
        lines.append(f"total: {_count(self.graphs, 'graph')}, {counts} taken")
        for name in ("forward", "backward"):
            if self.traffic(name) != Traffic():
                lines.append(f"{name}: {self.traffic(name)}")
        if self.saved_bytes:
            lines.append(f"saved for backward: {format_bytes(self.saved_bytes)}")
        return "\n".join(lines)


def explain_graph(
    module: GraphModule, compiled: Compiled, names: Sequence[str | None]
) -> GraphExplanation:
    """The explanation of Dynamo's graph and what became of it; `names` are what the
    user calls its inputs, None where that isn't known."""
    inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
    called = {node: name for node, name in zip(inputs, names, strict=True) if name}
    _add_names(compiled, called)
    taken = (one for part in _parts(compiled) for one in part.taken)
    pipelines = tuple(_explain_pipeline(one, called) for one in taken)
    reason = getattr(module, "compile_subgraph_reason", None)
    graph_break = None
    if reason is not None and reason.graph_break:
        text = reason.reason.strip().partition("\n")[0]
        frames = reason.user_stack
        graph_break = f"{frames[-1].filename}:{frames[-1].lineno}: {text}" if frames else text
    return GraphExplanation(operations_of(compiled), pipelines, graph_break)


def _add_names(compiled: Compiled, names: dict[Node, str]) -> None:
    """Gives the inputs of parts under checkpoints the names that they have outside."""
    calls = [n for n in compiled.module.graph.nodes if isinstance(n.target, Checkpointed)]
    for call, part in zip(calls, compiled.parts, strict=True):
        inputs = [node for node in part.module.graph.nodes if node.op == "placeholder"]
        given = zip(inputs, call.args, strict=False)
        names.update({node: names[source] for node, source in given if source in names})
        _add_names(part, names)


def operations_of(compiled: Compiled) -> tuple[Operation, ...]:
    """The operations of a compiled graph, then of its checkpointed parts. Elements of
    tuples, sizes and changes of modes are none."""
    parts = _parts(compiled)
    taken = enumerate(one for part in parts for one in part.taken)
    pipelines = {node: index for index, one in taken for node in one.nodes}
    found = []
    for part in parts:
        for node in filter(_is_operation, part.module.graph.nodes):
            pipeline = pipelines.get(node)
            reason = part.refused.get(node, "the graph has no tensor on cpu or cuda")
            name = getattr(node.target, "__name__", str(node.target))
            reason = reason if pipeline is None else None
            found.append(Operation(name, locate(node), pipeline, reason))
    return tuple(found)


def _parts(compiled: Compiled) -> list[Compiled]:
    """A compiled graph and all under its checkpoints."""
    return [compiled, *(inner for part in compiled.parts for inner in _parts(part))]


def log_graph(compiled: Compiled, seconds: float) -> None:
    """Logs what became of a graph."""
    if not logger.isEnabledFor(logging.INFO):
        return
    operations = operations_of(compiled)
    pipelines = [taken for part in _parts(compiled) for taken in part.taken]
    logger.info(
        "graph: %d of %d operations in %s, compiled in %.2f s",
        sum(operation.pipeline is not None for operation in operations),
        len(operations),
        _count(pipelines, "pipeline"),
        seconds,
    )
    for operation in operations:
        became = operation.reason or f"in pipeline {operation.pipeline}"
        where = operation.location
        source = f" ({where}: {where.code})" if where else ""
        logger.debug("%s: %s%s", operation.name, became, source)


def locate(node: Node) -> Location | None:
    """The innermost line outside of PyTorch and FuseOps that a node stems from."""
    frames = list(_FRAME.finditer(node.meta.get("stack_trace") or ""))
    users = [frame for frame in frames if not frame["file"].startswith(_OURS)]
    if not users:
        return None
    return Location(users[-1]["file"], int(users[-1]["line"]), users[-1]["code"].strip())


def _is_operation(node: Node) -> bool:
    if not node.op.startswith("call_") or is_mode_change(node):
        return False
    if isinstance(node.target, Checkpointed):
        return False
    if isinstance(example_of(node), (int, torch.SymInt, torch.Size)):
        return False
    is_element = node.target is operator.getitem and isinstance(node.args[0], Node)
    return not (is_element and isinstance(example_of(node.args[0]), (tuple, list)))


def _explain_pipeline(taken: Taken, names: Mapping[Node, str]) -> PipelineExplanation:
    program = taken.pipeline.program(taken.needs)
    report = program.report
    # Dynamo's name of a local variable `x` is `l_x_`.
    inputs = [names.get(n) or n.name.removeprefix("l_").strip("_") for n in taken.inputs]
    # The state of random operations is no input of the user's.
    sources = inputs + [argument["role"] for argument in report["arguments"][len(inputs) :]]
    symbol = _symbol_of(report["arguments"], [example_of(node) for node in taken.inputs])

    def value(extent: Sequence[int]) -> int:
        factors = (1, symbol, -(-symbol // 32), -(-symbol // 128))
        return sum(map(operator.mul, extent, factors))

    def explain_entry(entry: dict[str, Any]) -> Entry:
        kernels = tuple(
            Kernel(
                kernel["name"],
                kernel["template"],
                tuple(member.removeprefix("fuseops.") for member in kernel["members"]),
                value(kernel["bytes"]),
            )
            for kernel in entry["kernels"]
        )
        moved = sum(kernel.bytes for kernel in kernels)
        traffic = Traffic(moved, value(entry["floor_bytes"]), value(entry["unfused_bytes"]))
        return Entry(entry["name"], kernels, traffic)

    saved = []
    for tensor, source in zip(report["saved"], program.saved_sources, strict=True):
        shape = tuple(map(value, tensor["shape"]))
        name = source and (sources[source[1]] if source[0] == "argument" else f"result {source[1]}")
        size = value(tensor["bytes"])
        saved.append(Saved(tensor["name"], tensor["dtype"], shape, size, name))
    return PipelineExplanation(
        name=taken.pipeline.name,
        target=f"{report['target']} ({report['arch']})",
        inputs=tuple(inputs),
        differentiated=tuple(n for n, needed in zip(inputs, taken.needs, strict=True) if needed),
        # Nothing calls a backward that gives no gradient.
        entries=tuple(
            explain_entry(entry)
            for entry in report["entries"]
            if entry["name"] == "forward" or any(taken.needs)
        ),
        saved=tuple(saved),
        refused_fusions=_texts(report["refused"]),
        high_precision=_texts(
            [r for r in report["quantized"] if r["kind"] != "Passed" and r["pass"] == _QUANTIZE]
        ),
    )


_QUANTIZE = "fuseops-quantize"


def _texts(remarks: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """What remarks say, with their places."""
    return tuple(dict.fromkeys(f"{r['location']}: {r['text']}" for r in remarks))


def _symbol_of(arguments: Sequence[dict[str, Any]], examples: Sequence[torch.Tensor]) -> int:
    """What `?` is in the graph's examples; 0 where nothing has it."""
    for argument, example in zip(arguments, examples, strict=False):
        for (constant, per_symbol, *_), size in zip(argument["shape"], example.shape, strict=True):
            if per_symbol:
                return (hint(size) - constant) // per_symbol
    return 0


def _describe_pipeline(graph: GraphExplanation, index: int) -> str:
    pipeline = graph.pipelines[index]
    operations = [o for o in graph.operations if o.pipeline == index]
    rows = []
    for where, group in groupby(operations, key=lambda operation: operation.location):
        names = ", ".join(operation.name for operation in group)
        rows.append((where or "", where.code if where else "", f"-> {names}"))
    lines = [f"pipeline {index}: {pipeline.name}, target {pipeline.target}"]
    lines += [f"  {row}" for row in align(rows)]
    for entry in pipeline.entries:
        lines.append(f"  {entry.name}: {_count(entry.kernels, 'kernel')}, {entry.traffic}")
        rows = [
            (k.name, k.template, format_bytes(k.bytes), " + ".join(k.members))
            for k in entry.kernels
        ]
        lines += [f"    {row}" for row in align(rows)]
    kept = [saved for saved in pipeline.saved if saved.source is None]
    if pipeline.saved:
        lines.append(f"  saved for backward: {format_bytes(sum(saved.bytes for saved in kept))}")
        rows = [(s.name, s.dtype, format_shape(s.shape), format_bytes(s.bytes)) for s in kept]
        lines += [f"    {row}" for row in align(rows)]
        shared = dict.fromkeys(s.source for s in pipeline.saved if s.source is not None)
        if shared:
            lines.append(f"    without memory of their own: {', '.join(shared)}")
    if pipeline.high_precision:
        lines.append("  without the recipe")
        lines += [f"    {reason}" for reason in pipeline.high_precision]
    return "\n".join(lines)


def _count(things: Sequence[Any], name: str) -> str:
    return f"{len(things)} {name}" + ("" if len(things) == 1 else "s")


def _times(count: int) -> str:
    return f"({count} times)" if count > 1 else ""
