# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the threads of a simulated kernel wait for one another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from ptx_arithmetic import U64
from ptx_kernel import Instruction, SimulationError
from ptx_memory import BARRIER, NOTHING, TransactionBarrier

if TYPE_CHECKING:
    from ptx_block import Block

# What a thread does: it can go on, it waits for others of its warp or its four warps to
# come to the same place, it waits until somebody wakes it, it looks at a barrier again
# and again, or it is at its end.
RUNS, HELD, WAITS, SPINS, ENDED = range(5)
# Where it is of the barrier of its cluster: all came after it did, but it did not look.
AWAY, ARRIVED, PASSED = range(3)


@dataclass
class NamedBarrier:
    """Of a block, by number."""

    expected: int | None
    """Threads; None: all of the block that are not at their end."""
    arrived: int = 0
    waiting: list[np.ndarray] = field(default_factory=list)


@dataclass(eq=False)
class Spin:
    """Threads that found a phase not yet over."""

    threads: np.ndarray
    barrier: TransactionBarrier
    parity: int


class Cluster:
    """Blocks that run together, and the barrier of all their threads."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []

    def arrive(self, block: Block, mask: np.ndarray) -> None:
        if (block.arrival[mask] != AWAY).any():
            raise SimulationError("a thread arrives at a cluster's barrier and did not wait before")
        block.arrival[mask] = ARRIVED
        self.release()

    def release(self) -> None:
        """If all threads have arrived that are not at their end."""
        if not all(((b.arrival == ARRIVED) | ~b.live).all() for b in self.blocks):
            return
        for block in self.blocks:
            block.arrival[block.live] = PASSED
            self.wake(block)

    def wake(self, block: Block) -> None:
        woken = block.at_cluster & (block.arrival == PASSED)
        block.state[woken] = RUNS
        block.is_able |= bool(woken.any())
        block.arrival[woken] = AWAY
        block.at_cluster &= ~woken

    def wait(self, block: Block, mask: np.ndarray) -> np.ndarray:
        """The threads that wait for others."""
        if (block.arrival[mask] == AWAY).any():
            raise SimulationError("a thread waits at a cluster's barrier and did not arrive")
        block.state[mask] = WAITS
        block.at_cluster |= mask
        self.wake(block)
        return block.at_cluster & mask


def synchronize(block: Block, instruction: Instruction, mask: np.ndarray) -> np.ndarray | None:
    """`bar` and `barrier`."""
    parts = [part for part in instruction.parts if part not in ("cta", "aligned")]
    if parts[0] == "warp":
        return None  # All that it is for is done when all are here.
    if parts[0] == "cluster":
        if parts[1] == "wait":
            return block.cluster.wait(block, mask)
        block.cluster.arrive(block, mask)
        return None
    if parts[0] not in ("sync", "arrive"):
        raise NotImplementedError(instruction.operation)
    waits = parts[0] == "sync"
    numbers = block.value(instruction.arguments[0])
    for number in set(numbers[mask].tolist()):
        threads = mask & (numbers == number)
        expected = None
        if len(instruction.arguments) > 1:
            counts = set(block.value(instruction.arguments[1])[threads].tolist())
            if len(counts) > 1:
                raise SimulationError(f"barrier {number} has several numbers of threads")
            (expected,) = counts
        arrive_at(block, number, expected, threads, waits)
    return mask if waits else None


def arrive_at(
    block: Block, number: int, expected: int | None, threads: np.ndarray, waits: bool
) -> None:
    barrier = block.barriers.setdefault(number, NamedBarrier(expected))
    if number > 15 or barrier.expected != expected or (expected or 0) % 32:
        raise SimulationError(f"barrier {number} of {expected} and {barrier.expected} threads")
    # Warps come as a whole.
    barrier.arrived += 32 * int(threads.reshape(-1, 32).any(1).sum())
    if waits:
        block.state[threads] = WAITS
        barrier.waiting.append(threads)
    release(block, number)


def release(block: Block, number: int) -> None:
    """If as many have come as are expected."""
    barrier = block.barriers[number]
    expected = barrier.expected
    if expected is None:
        expected = 32 * int(block.live.reshape(-1, 32).any(1).sum())
    if barrier.arrived > expected:
        raise SimulationError(f"{barrier.arrived} threads at barrier {number} of {expected}")
    if barrier.arrived == expected:
        for threads in barrier.waiting:
            block.state[threads] = RUNS
        del block.barriers[number]


def use_transactions(block: Block, instruction: Instruction, mask: np.ndarray) -> np.ndarray | None:
    """`mbarrier`."""
    verb, arguments = instruction.parts[0], list(instruction.arguments)
    if verb in ("try_wait", "test_wait"):
        return look(block, instruction, mask)
    result = arguments.pop(0) if verb == "arrive" else "_"
    addresses = block.address(arguments[0])
    amounts = block.value(arguments[1]).tolist() if len(arguments) > 1 else [1] * block.count
    tokens = np.zeros(block.count, U64)
    for thread in np.flatnonzero(mask).tolist():
        memory, at = block.locate(int(addresses[thread]), 8)
        amount = amounts[thread]
        if verb == "init":
            memory.refuse(at + np.arange(8), BARRIER, doing="a second barrier in")
            memory.state[at : at + 8] = BARRIER
            author = int(memory.sign(np.array([thread]))[0])
            memory.barriers[at] = TransactionBarrier(amount, author=author)
            continue
        barrier = memory.find_barrier(at)
        if verb == "inval":
            memory.state[at : at + 8] = NOTHING
            del memory.barriers[at]
            continue
        tokens[thread] = barrier.phase
        if "expect_tx" in instruction.parts:
            barrier.expect(amount)
            amount = 1
        elif verb == "complete_tx":
            barrier.expect(-amount)
        if verb == "arrive":
            barrier.arrive(amount)
        elif verb not in ("expect_tx", "complete_tx"):
            raise NotImplementedError(instruction.operation)
    if result != "_":
        block.set(result, tokens, mask)
    return None


def look(block: Block, instruction: Instruction, mask: np.ndarray) -> np.ndarray | None:
    """Whether a phase is over. Those that find that it is not let others go on."""
    result, where, which, *_ = instruction.arguments
    addresses, phases = block.address(where), block.value(which)
    if (phases[mask] > 1).any() and "parity" in instruction.parts:
        raise SimulationError("a parity that is neither 0 nor 1")
    is_over = np.zeros(block.count, bool)
    pairs = set(zip(addresses[mask].tolist(), phases[mask].tolist(), strict=True))
    for address, phase in pairs:
        memory, at = block.locate(address, 8)
        barrier = memory.find_barrier(at)
        threads = mask & (addresses == address) & (phases == phase)
        if barrier.is_over(phase % 2):
            is_over |= threads
        else:
            block.spins.append(Spin(threads, barrier, phase % 2))
            block.state[threads] = SPINS
    block.set(result, is_over.astype(U64), mask)
    return mask & ~is_over


class RegisterPool:
    """`setmaxnreg`: warps of a block hand registers on to others."""

    def __init__(self, block: Block) -> None:
        self.block = block
        warps = int(block.live.reshape(-1, 32).any(1).sum())
        own = min(65536 // (32 * warps) // 8 * 8, 256)
        self.owned = np.full(block.count // 32, own)
        """Of a thread of each warp."""
        self.free = 0
        self.wanted: list[tuple[int, int]] = []
        """Warps that wait for as many registers."""

    def change(self, instruction: Instruction, mask: np.ndarray) -> np.ndarray:
        count, grows = int(instruction.arguments[0]), instruction.parts[0] == "inc"
        if count % 8 or not 24 <= count <= 256:
            raise SimulationError(f"{count} registers")
        for warp in np.flatnonzero(mask.reshape(-1, 32).any(1)).tolist():
            owned = int(self.owned[warp])
            if (count < owned) if grows else (count > owned):
                raise SimulationError(f"{instruction} of a warp of {owned} registers")
            if not grows:
                self.free += 32 * (owned - count)
                self.owned[warp] = count
            else:
                self.wanted.append((warp, count))
        self.block.state[mask] = WAITS if grows else RUNS
        self.serve()
        return mask

    def serve(self) -> None:
        for warp, count in list(self.wanted):
            more = 32 * (count - int(self.owned[warp]))
            if more <= self.free:
                self.free -= more
                self.owned[warp] = count
                self.wanted.remove((warp, count))
                threads = self.block.thread // 32 == warp
                self.block.state[threads & self.block.live] = RUNS

    def end(self) -> None:
        groups = self.owned[: len(self.owned) // 4 * 4].reshape(-1, 4)
        if (groups != groups[:, :1]).any():
            raise SimulationError("setmaxnreg of some warps of four")
