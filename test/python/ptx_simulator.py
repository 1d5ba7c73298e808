# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs PTX kernels on NumPy, to check on a machine without a GPU how their threads
wait for one another.

It is not a model of a GPU's arithmetic: approximate instructions are NumPy's
functions, so results are compared with those of another kernel that was run in the
same way. What it is strict about is time. Blocks, and the warps of a block, take turns
at random: a turn ends where a warp has to wait, and may end wherever warps, the copy
engine or the tensor cores tell one another something. What is asynchronous (`cp.async`,
`cp.async.bulk`, `wgmma`) reads and writes at a random time or, with `late`, not before
the wait that the program has for it, or before nothing else can go on. Meanwhile what it
writes to may not be used. Shared memory that nobody wrote is poison; accesses are aligned
and inside a buffer, or an error is raised."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from ptx_async import Arrival, Departure, TensorMap
from ptx_barriers import Cluster
from ptx_block import Block
from ptx_kernel import SHARED_BYTES, Kernel, SimulationError, parse
from ptx_matrix import Product, list_accumulators
from ptx_memory import Memory

__all__ = ["Kernel", "SimulationError", "TensorMap", "parse", "run"]

MAPS = 1 << 62
"""Address of the first tensor map."""
ROUNDS = 8
"""How often all look again before nothing is known to change any more."""


@dataclass
class Launch:
    """A kernel, what it is given, and what is under way."""

    kernel: Kernel
    buffers: list[np.ndarray]
    scalars: tuple[int, ...]
    """The rows, and the number of partial results."""
    maps: Sequence[TensorMap]
    grid: int
    cluster: int
    late: bool
    shared_bytes: int
    """Of the shared memory whose size the launch tells."""
    order: random.Random
    arrivals: list[Arrival] = field(default_factory=list)
    others: list[Departure | Product] = field(default_factory=list)
    """What a wait of the program completes, if nothing did before."""
    clock: int = 0
    quiet_rounds: int = 0
    """How often all looked again since anything changed."""

    def __post_init__(self) -> None:
        kernel = self.kernel
        self.memories = [Memory(buffer) for buffer in self.buffers]
        self.symbols: dict[str, int] = {}
        place = 0
        # Those whose size the launch tells are one, behind all others.
        told = max((align for size, align in kernel.shared.values() if not size), default=1)
        for symbol, (size, own) in sorted(kernel.shared.items(), key=lambda item: -item[1][0]):
            align = own if size else told
            place = -(-place // align) * align
            self.symbols[symbol] = place
            place += size
        self.memory_bytes = place + self.shared_bytes
        if self.memory_bytes > SHARED_BYTES:
            raise SimulationError(f"{self.memory_bytes} bytes of shared memory")
        values = [(i + 1) << 32 for i in range(len(self.buffers))] + list(self.scalars)
        arrays = [name for name, size in kernel.parameters.items() if size]
        others = [name for name, size in kernel.parameters.items() if not size]
        if len(values) != len(others) or len(self.maps) != len(arrays):
            raise SimulationError(
                f"{len(values)} arguments and {len(self.maps)} tensor maps, "
                f"{len(others)} and {len(arrays)} wanted"
            )
        self.parameters = dict(zip(others, values, strict=True))
        self.map_addresses = {name: MAPS + 128 * i for i, name in enumerate(arrays)}
        for tensor_map in self.maps:
            tensor_map.check(self.buffers)
        self.accumulators = list_accumulators(kernel.instructions)
        self.haste = self.order.uniform(0.05, 0.5)
        """How often something that is under way is done, not a turn."""

    def find_map(self, address: int) -> TensorMap:
        number, within = divmod(address - MAPS, 128)
        if within or not 0 <= number < len(self.maps):
            raise SimulationError(f"no tensor map at {address:#x}")
        return self.maps[number]

    def complete_one(self) -> None:
        """Does something that is under way; if `late`, what no wait would do."""
        count = len(self.arrivals) + (0 if self.late else len(self.others))
        chosen = self.order.randrange(count)
        if chosen < len(self.arrivals):
            self.arrivals.pop(chosen).complete()
        else:
            self.others.pop(chosen - len(self.arrivals)).complete()
        self.quiet_rounds = 0


def run(
    kernel: Kernel,
    buffers: list[np.ndarray],
    scalars: tuple[int, ...],
    grid: int,
    *,
    shared_bytes: int = 0,
    late: bool,
    seed: int = 0,
    maps: Sequence[TensorMap] = (),
    cluster: int = 1,
) -> None:
    """Runs `kernel` on `buffers`, arrays of bytes that it may write to, with `grid` blocks
    in clusters of `cluster`. Its parameters are the buffers, then the scalars (the rows
    and the number of partial results); those that are arrays are the tensor maps."""
    if kernel.cluster not in (1, cluster) or grid % cluster:
        raise SimulationError(f"{grid} blocks in clusters of {cluster} and {kernel.cluster}")
    order = random.Random(2 * seed + late)
    launch = Launch(kernel, buffers, scalars, maps, grid, cluster, late, shared_bytes, order)
    clusters = [Cluster() for _ in range(grid // cluster)]
    blocks = [Block(launch, number, clusters[number // cluster]) for number in range(grid)]
    with np.errstate(all="ignore"):
        while blocks:
            advance(launch, blocks)
        for other in launch.others:
            other.complete()


def advance(launch: Launch, blocks: list[Block]) -> None:
    """A block has a turn, or something that is under way is done."""
    able = [block for block in blocks if block.can_run()]
    under_way = len(launch.arrivals) + (0 if launch.late else len(launch.others))
    if able and not (under_way and not launch.late and launch.order.random() < launch.haste):
        (block,) = launch.order.choices(able, [block.pace for block in able])
        if not block.step():
            blocks.remove(block)
    # Those who found a phase not over come first: they may go on all the same.
    elif under_way and (able or launch.quiet_rounds):
        for _ in range(1 if able else launch.order.randint(1, under_way)):
            launch.complete_one()
    elif launch.quiet_rounds < ROUNDS:
        launch.quiet_rounds += 1
        for block in blocks:
            block.look_again()
    else:
        places = [line for block in blocks for line in block.describe()]
        raise SimulationError("deadlock: " + "; ".join(places))
