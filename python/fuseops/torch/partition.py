# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cuts Dynamo's graph into pipelines and the rest.

Nodes get levels. Those of the rest at a level need pipelines of lower levels
only, those of a pipeline also the rest of its own level, so that running level
after level is an order without cycles. The supported nodes of a level that are
connected and run in the same modes are one pipeline.

What reads or writes memory that another node writes keeps its place beside it,
and so does everything beside a node of which nobody knows what it writes. The rest
does not move past a change of modes or among random operators either; a pipeline
knows its modes and draws its own numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

import torch
from torch.fx import Graph, Node

from fuseops.torch.modes import Modes, is_mode_change
from fuseops.torch.trace import tensors_of


class Effect(Enum):
    """What a node does beside making its results."""

    NONE = "none"
    # Draws from a generator.
    RANDOM = "random"
    # Writes an argument.
    WRITES = "writes"
    # Nobody knows.
    UNKNOWN = "unknown"


@dataclass
class Part:
    """The nodes of one pipeline, in order."""

    level: int
    nodes: list[Node] = field(default_factory=list)

    def inputs(self) -> list[Node]:
        """What comes from outside, in order of first use."""
        inside = set(self.nodes)
        found = {}
        for node in self.nodes:
            for source in node.all_input_nodes:
                if source not in inside:
                    found[source] = None
        return list(found)

    def results(self) -> list[Node]:
        """What is used outside. A view isn't among them but what it is one of:
        it is made again where it's used."""
        inside = set(self.nodes)
        found = dict.fromkeys(
            base
            for node in self.nodes
            if any(user not in inside for user in node.users)
            for base in bases_of(node, inside)
        )
        return [node for node in self.nodes if node in found]


@dataclass
class Partition:
    """Pipelines and the rest, each with its level."""

    parts: list[Part]
    rest: dict[Node, int]

    # Those of the rest that write an argument.
    writers: list[Node]

    @property
    def num_levels(self) -> int:
        """One more than the highest level."""
        return 1 + max([0, *self.rest.values(), *(part.level for part in self.parts)])

    def is_written_after(self, node: Node, level: int) -> bool:
        """Whether the rest above a level may write what a node makes."""
        memory = {_storage(tensor) for tensor in tensors_of(node)}
        return any(
            self.rest[writer] > level and not memory.isdisjoint(memory_of(writer))
            for writer in self.writers
        )


def is_view(node: Node) -> bool:
    """Whether what a node makes shares memory with an argument."""
    sources = node.all_input_nodes
    memory = {_storage(tensor) for source in sources for tensor in tensors_of(source)}
    return any(_storage(tensor) in memory for tensor in tensors_of(node))


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata


def memory_of(node: Node) -> set[int]:
    """The memory of a node's arguments and results."""
    nodes = (*node.all_input_nodes, node)
    return {_storage(tensor) for one in nodes for tensor in tensors_of(one)}


def bases_of(node: Node, inside: set[Node]) -> list[Node]:
    """What a node is a view of: nodes inside of a pipeline that are no views."""
    if node not in inside:
        return []
    if not is_view(node):
        return [node]
    return [base for source in node.all_input_nodes for base in bases_of(source, inside)]


class _Levels:
    """Gives nodes their levels, one after another."""

    def __init__(self, modes: Mapping[Node, Modes]) -> None:
        self._modes = modes
        self.of: dict[Node, int] = {}
        self.supported: set[Node] = set()
        # The least levels of all that follows, and of the rest of it.
        self._floor = self._rest_floor = 0
        # By memory, the level at which it was written last, and after which it
        # was used last.
        self._written: dict[int, int] = {}
        self._used: dict[int, int] = {}

    def _after(self, node: Node) -> int:
        """The first level at which the rest may use what a node made."""
        return self.of[node] + (node in self.supported)

    def add_supported(self, node: Node) -> None:
        self.supported.add(node)
        modes = self._modes
        needed = [
            self.of[source] + (source in self.supported and modes[source] != modes[node])
            for source in node.all_input_nodes
        ]
        memory = memory_of(node)
        written = [self._written.get(storage, 0) for storage in memory]
        self._set(node, max([self._floor, *needed, *written]), memory)

    def add_rest(self, node: Node, effect: Effect) -> None:
        memory = memory_of(node)
        needed = [self._after(source) for source in node.all_input_nodes]
        written = [self._written.get(storage, 0) for storage in memory]
        level = max([self._floor, self._rest_floor, *needed, *written])
        if effect is Effect.WRITES:
            level = max([level, *(self._used.get(storage, 0) for storage in memory)])
            self._written.update(dict.fromkeys(memory, level))
        elif effect is Effect.UNKNOWN:
            level = self._floor = max([level, *map(self._after, self.of)])
        elif effect is Effect.RANDOM or is_mode_change(node):
            rest = [self.of[other] for other in self.of if other not in self.supported]
            level = self._rest_floor = max([level, *rest])
        self._set(node, level, memory)

    def _set(self, node: Node, level: int, memory: set[int]) -> None:
        self.of[node] = level
        for storage in memory:
            self._used[storage] = max(self._used.get(storage, 0), self._after(node))


def partition(
    graph: Graph,
    is_supported: Callable[[Node], bool],
    effect: Callable[[Node], Effect],
    modes: Mapping[Node, Modes],
) -> Partition:
    """The partition of a graph."""
    levels = _Levels(modes)
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            levels.add_rest(node, Effect.NONE)
        elif node.op != "output":
            if is_supported(node):
                levels.add_supported(node)
            else:
                levels.add_rest(node, effect(node))
    rest = {node: level for node, level in levels.of.items() if node not in levels.supported}
    writers = [node for node in rest if effect(node) is Effect.WRITES]
    return Partition(_components(levels.supported, levels.of, modes), rest, writers)


def _components(
    supported: Iterable[Node], level: Mapping[Node, int], modes: Mapping[Node, Modes]
) -> list[Part]:
    """The connected ones of each level."""
    leader: dict[Node, Node] = {}

    def find(node: Node) -> Node:
        while leader[node] is not node:
            leader[node] = leader[leader[node]]
            node = leader[node]
        return node

    ordered = [node for node in level if node in supported]
    for node in ordered:
        leader[node] = node
        for source in node.all_input_nodes:
            if source in leader and level[source] == level[node]:
                leader[find(node)] = find(source)
    parts: dict[Node, Part] = {}
    for node in ordered:
        parts.setdefault(find(node), Part(level[node])).nodes.append(node)
    return list(parts.values())
