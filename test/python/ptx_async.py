# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a simulated kernel's copies do, and when: those of its threads (`cp.async`) and
those of the copy engine (`cp.async.bulk`, PTX ISA `Tensor-map`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from ptx_arithmetic import read_floats, round_floats, to_signed
from ptx_kernel import Instruction, SimulationError
from ptx_memory import POISON, SharedMemory, swizzle

if TYPE_CHECKING:
    from ptx_block import Block

ELEMENTS = {"u8": 1, "f16": 2, "bf16": 2, "f32": 4, "u32": 4}


@dataclass
class TensorMap:
    """A matrix in a buffer, or several of them one after the other, and the boxes of it
    that are copied at a time, as `cuTensorMapEncodeTiled` is told of them."""

    buffer: int
    """Its number among the launch's."""
    kind: str
    """Of an element: `u8`, `f16`, `bf16`, `f32` or `u32`."""
    columns: int
    rows: int
    pitch: int
    """Bytes from one row to the next."""
    box_columns: int
    box_rows: int
    swizzle: int = 0
    """Bytes of a row in shared memory: 32, 64, 128, or 0 if rows lie as they are."""
    batch: int | None = None
    batch_pitch: int = 0

    def __post_init__(self) -> None:
        self.element_bytes = ELEMENTS[self.kind]
        self.row_bytes = self.box_columns * self.element_bytes
        box = (self.box_columns, self.box_rows)
        if (
            min(box) < 1
            or min(self.columns, self.rows) < 0
            or max(box) > 256
            or self.pitch % 16
            or self.batch_pitch % 16
            or self.pitch < self.columns * self.element_bytes
            or self.row_bytes % 16
        ):
            raise SimulationError(f"not a tensor map: {self}")
        # Narrower boxes may be swizzled too; how they then lie is not known here.
        if self.swizzle not in (0, 32, 64, 128) or self.swizzle not in (0, self.row_bytes):
            raise SimulationError(f"a box of {self.row_bytes} bytes in rows of {self.swizzle}")

    def check(self, buffers: list[np.ndarray]) -> None:
        last = (self.batch or 1) - 1, self.rows - 1, self.columns
        end = last[0] * self.batch_pitch + last[1] * self.pitch + last[2] * self.element_bytes
        if end > buffers[self.buffer].size:
            raise SimulationError(f"a tensor map of {end} of {buffers[self.buffer].size} bytes")

    def place(self, start: int) -> np.ndarray:
        """Where the bytes of a box lie in shared memory that `start` is in."""
        if start % 128:
            raise SimulationError(f"a box at {start:#x}, which is no multiple of 128")
        rows = start + self.row_bytes * np.arange(self.box_rows)
        return swizzle(rows[:, None] + np.arange(self.row_bytes), self.swizzle)

    def cut(
        self, buffers: list[np.ndarray], coordinates: list[int]
    ) -> tuple[np.ndarray, tuple[slice, slice]]:
        """What a box covers of the matrix: bytes that can be written to, and which of the
        box's they are."""
        x, y, *z = coordinates
        if len(coordinates) != (2 if self.batch is None else 3):
            raise SimulationError(f"{len(coordinates)} coordinates of a box")
        first = z[0] if z else 0
        matrix = np.lib.stride_tricks.as_strided(
            buffers[self.buffer][max(first, 0) * self.batch_pitch :],
            (self.rows, self.columns * self.element_bytes),
            (self.pitch, 1),
        )

        def overlap(start: int, size: int, length: int) -> tuple[slice, slice]:
            low = min(max(start, 0), length)
            high = max(min(start + size, length), low)
            return slice(low, high), slice(low - start, high - start)

        columns, box_columns = overlap(
            x * self.element_bytes, self.row_bytes, self.columns * self.element_bytes
        )
        is_inside = not z or 0 <= first < (self.batch or 0)
        rows, box_rows = overlap(y if is_inside else self.rows, self.box_rows, self.rows)
        return matrix[rows, columns], (box_rows, box_columns)


@dataclass
class Arrival:
    """Bytes on their way to shared memory, and the barrier that counts them."""

    memory: SharedMemory
    places: np.ndarray
    fetch: Callable[[], np.ndarray]
    barrier: int

    def __post_init__(self) -> None:
        self.memory.expect_copy(self.places)

    def complete(self) -> None:
        self.memory.finish_copy(self.places, self.fetch())
        self.memory.find_barrier(self.barrier).expect(-self.places.size)


@dataclass
class Departure:
    """Bytes that are to be read from shared memory, then written or added."""

    memory: SharedMemory
    places: np.ndarray
    target: np.ndarray
    kind: str | None
    """Of elements that are added."""
    data: np.ndarray | None = None
    is_done: bool = False

    def read(self) -> None:
        if self.data is None:
            self.data = self.memory.read_copied(self.places, "a copy of")

    def complete(self) -> None:
        if self.is_done:
            return
        self.read()
        self.is_done = True
        data = self.data
        if self.kind:
            data = add(self.kind, np.ascontiguousarray(self.target), data)
        self.target[...] = data


def add(kind: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The bytes of sums."""
    words = [part.view(f"u{ELEMENTS[kind]}").astype(np.uint64) for part in (x, y)]
    if kind in ("u8", "u32"):
        total = sum(words)
    else:
        total = round_floats(kind, np.add(*(read_floats(kind, part) for part in words)))
    return total.astype(f"u{ELEMENTS[kind]}").view(np.uint8)


@dataclass
class StoreGroups:
    """The stores of a thread, in groups."""

    open: list[Departure] = field(default_factory=list)
    committed: list[list[Departure]] = field(default_factory=list)

    def wait(self, pending: int, only_read: bool) -> None:
        for group in self.committed[: max(len(self.committed) - pending, 0)]:
            for departure in group:
                departure.read() if only_read else departure.complete()

    def is_read(self) -> bool:
        started = [*self.open, *(one for group in self.committed for one in group)]
        return all(departure.data is not None for departure in started)


def find_box(
    block: Block, operand: str, thread: int
) -> tuple[TensorMap, np.ndarray, tuple[slice, slice]]:
    """Of `[map, {x, y}]` the map, and what `TensorMap.cut` finds."""
    address, *coordinates = re.findall(r"-?[%$\w]+", operand)
    tensor_map = block.launch.find_map(int(block.value(address)[thread]))
    start = [int(to_signed(block.value(word), 32)[thread]) for word in coordinates]
    return tensor_map, *tensor_map.cut(block.launch.buffers, start)


def find_bytes(block: Block, operand: str, size: int, thread: int) -> np.ndarray:
    """Of a buffer, from an address on."""
    address = block.address(operand)[thread : thread + 1]
    ((memory, _, start),) = block.places(address, 16)
    if size % 16 or start[0] + size > memory.bytes.size or isinstance(memory, SharedMemory):
        raise SimulationError(f"a copy of {size} bytes at {int(address[0]):#x}")
    return memory.bytes[start[0] : start[0] + size]


def use_copy_engine(block: Block, instruction: Instruction, mask: np.ndarray) -> None:
    """`cp.async.bulk` and `cp.reduce.async.bulk`."""
    parts, arguments = instruction.parts, instruction.arguments
    for thread in np.flatnonzero(mask).tolist():
        groups = block.stores.setdefault(thread, StoreGroups())
        if "commit_group" in parts:
            groups.committed.append(groups.open)
            groups.open = []
        elif "wait_group" in parts:
            groups.wait(int(arguments[0]), "read" in parts)
        elif "bulk_group" in parts:
            departure = store(block, instruction, thread)
            groups.open.append(departure)
            block.launch.others.append(departure)
        elif "mbarrier::complete_tx::bytes" in parts and parts[0] != "reduce":
            load(block, instruction, thread)
        else:
            raise NotImplementedError(instruction.operation)


def load(block: Block, instruction: Instruction, thread: int) -> None:
    """Starts a copy to shared memory."""
    is_box, arguments = "tensor" in instruction.parts, list(instruction.arguments)
    barrier = arguments.pop(2 if is_box else 3)
    memory, at = block.locate(int(block.address(arguments[0])[thread]), 16)
    other, barrier_at = block.locate(int(block.address(barrier)[thread]), 8)
    if other is not memory:
        raise SimulationError("a copy and its barrier in different blocks")
    author = np.array([other.find_barrier(barrier_at).author])
    if not other.is_fenced(author).all():
        raise SimulationError("a copy counted by a barrier that was initialised with no fence")
    if is_box:
        tensor_map, data, where = find_box(block, arguments[1], thread)
        places = tensor_map.place(at)
    else:
        data = find_bytes(block, arguments[1], int(block.value(arguments[2])[thread]), thread)
        places, where = at + np.arange(data.size), ...

    def fetch() -> np.ndarray:
        # What is beyond the matrix is zero.
        box = np.zeros(places.shape, np.uint8)
        box[where] = data
        return box

    targets = [memory]
    if "multicast::cluster" in instruction.parts:
        chosen = int(block.value(arguments[2 if is_box else 3])[thread])
        members = block.cluster.blocks
        if not 0 < chosen < 1 << len(members):
            raise SimulationError(f"a copy to blocks {chosen:#b} of a cluster")
        targets = [member.shared for rank, member in enumerate(members) if chosen >> rank & 1]
    for target in targets:
        if target.has_ended:
            raise SimulationError("a copy to a block that is at its end")
        block.launch.arrivals.append(Arrival(target, places, fetch, barrier_at))


def store(block: Block, instruction: Instruction, thread: int) -> Departure:
    """Starts a copy from shared memory."""
    arguments, kind = instruction.arguments, None
    memory, at = block.locate(int(block.address(arguments[1])[thread]), 16)
    if "tensor" in instruction.parts:
        tensor_map, target, where = find_box(block, arguments[0], thread)
        places = tensor_map.place(at)[where]
        kind = tensor_map.kind
    else:
        target = find_bytes(block, arguments[0], int(block.value(arguments[2])[thread]), thread)
        places = at + np.arange(target.size)
    if instruction.name == "cp" and instruction.parts[0] == "reduce":
        if "add" not in instruction.parts or kind is None:
            raise NotImplementedError(instruction.operation)
    else:
        kind = None
    memory.refuse_unfenced(places, "a copy of")
    return Departure(memory, places, target, kind)


def store_to_cluster(block: Block, instruction: Instruction, mask: np.ndarray) -> None:
    """`st.async`: a number of each thread, for another block's memory."""
    where, what, barrier = instruction.arguments
    registers, size = re.findall(r"[%$\w]+", what), instruction.width // 8
    targets, barriers = block.address(where), block.address(barrier)
    words = [block.value(register) for register in registers]
    for thread in np.flatnonzero(mask).tolist():
        memory, at = block.locate(int(targets[thread]), size * len(registers))
        other, barrier_at = block.locate(int(barriers[thread]), 8)
        if other is not memory:
            raise SimulationError("a store and its barrier in different blocks")
        data = np.array([word[thread] for word in words]).astype(f"u{size}").view(np.uint8)
        places = at + np.arange(data.size)
        arrival = Arrival(memory, places, lambda data=data: data, barrier_at)
        block.launch.arrivals.append(arrival)


@dataclass
class Copies:
    """What one `cp.async` started, of the threads whose copies are under way."""

    threads: np.ndarray
    groups: np.ndarray
    targets: np.ndarray
    sources: np.ndarray
    size: int

    def split(self, chosen: np.ndarray) -> Copies:
        fields = (self.threads, self.groups, self.targets, self.sources)
        return Copies(*(each[chosen] for each in fields), self.size)

    def arrive(self, block: Block) -> None:
        width = np.arange(self.size)
        for memory, chosen, at in block.places(self.sources, self.size):
            targets = self.targets[chosen]
            block.shared.watch_write(targets, self.size, self.threads[chosen])
            block.shared.bytes[targets[:, None] + width] = memory.bytes[at[:, None] + width]


def copy(block: Block, instruction: Instruction, mask: np.ndarray) -> None:
    """`cp.async`: each thread has groups of its own."""
    arguments = instruction.arguments
    if "commit_group" in instruction.parts:
        block.committed += mask
    elif "wait_group" in instruction.parts:
        last = block.committed - int(arguments[0])
        pending, block.copies = block.copies, []
        for copies in pending:
            is_done = mask[copies.threads] & (copies.groups < last[copies.threads])
            if is_done.any():
                copies.split(is_done).arrive(block)
            if not is_done.all():
                block.copies.append(copies.split(~is_done))
    elif instruction.operation.endswith("shared.global"):
        threads, size = np.flatnonzero(mask), int(arguments[2])
        targets, sources = (block.address(a)[threads] for a in arguments[:2])
        copies = Copies(threads, block.committed[threads], targets, sources, size)
        ((memory, _, at),) = block.places(targets, size)
        if memory is not block.shared:
            raise SimulationError("a copy to other memory")
        if block.launch.late:
            block.shared.bytes[at[:, None] + np.arange(size)] = POISON
            block.copies.append(copies)
        else:
            copies.arrive(block)
    else:
        raise NotImplementedError(instruction.operation)
