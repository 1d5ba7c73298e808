# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The memory of a simulated kernel: what is known of each byte that a block shares."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from ptx_kernel import SimulationError

POISON = 0xFF
WINDOW = 24
"""Bits of an address in one block's memory: above them is the number of the block in
its cluster, also in addresses of its own symbols, as Hopper has it."""

# What a byte of shared memory is: data, nothing that anybody wrote, what a copy is
# under way to, part of a barrier.
DATA, NOTHING, COMING, BARRIER = range(4)
NAMES = ["data", "bytes that nobody wrote", "bytes of a copy under way", "a barrier"]
WRITERS = 2048


@dataclass
class Memory:
    """Bytes of a buffer."""

    bytes: np.ndarray


@dataclass
class TransactionBarrier:
    """An `mbarrier`: a phase is over when all have arrived and all bytes that are
    expected have come."""

    count: int
    pending: int = field(init=False)
    expected: int = 0
    """Bytes that are to come, less those that came."""
    phase: int = 0
    author: int = 0
    """The thread that initialised it, as `SharedMemory.sign` has it."""

    def __post_init__(self) -> None:
        self.pending = self.count

    def arrive(self, count: int = 1) -> None:
        self.pending -= count
        if self.pending < 0:
            raise SimulationError(f"more than {self.count} arrive at a barrier")
        self.end_phase()

    def expect(self, size: int) -> None:
        self.expected += size
        if abs(self.expected) >= 1 << 20:
            raise SimulationError(f"a barrier expects {self.expected} bytes")
        self.end_phase()

    def end_phase(self) -> None:
        if self.pending:
            return
        if self.expected < 0:
            raise SimulationError(f"{-self.expected} bytes more than a barrier expects")
        if self.expected == 0:
            self.phase += 1
            self.pending = self.count

    def is_over(self, parity: int) -> bool:
        """The phase of this parity, the present one or the one before."""
        return self.phase % 2 != parity


class SharedMemory(Memory):
    """Of a block. Where kernels use the copy engine or tensor cores, which see it by
    another way (PTX ISA, `Async Proxy`), each byte has its state and its writer."""

    def __init__(self, size: int, is_tracked: bool) -> None:
        super().__init__(np.full(size, POISON, np.uint8))
        self.is_tracked = is_tracked
        self.state = np.full(size if is_tracked else 0, NOTHING, np.uint8)
        self.signature = np.zeros(self.state.size, np.int64)
        """Who wrote a byte, and how many fences that thread had made; 0: nobody whom
        the asynchronous units have to be told of."""
        self.fences = np.zeros(WRITERS, np.int64)
        self.barriers: dict[int, TransactionBarrier] = {}
        self.has_ended = False

    @staticmethod
    def find_writer(signature: int) -> int:
        return (signature - 1) % WRITERS

    def sign(self, threads: np.ndarray) -> np.ndarray:
        return self.fences[threads] * WRITERS + threads + 1

    def is_fenced(self, signatures: np.ndarray) -> np.ndarray:
        return (signatures == 0) | (
            self.fences[(signatures - 1) % WRITERS] > (signatures - 1) // WRITERS
        )

    def watch_read(self, at: np.ndarray, size: int) -> None:
        """Of so many bytes from each place on."""
        if self.is_tracked:
            self.refuse(at[:, None] + np.arange(size), COMING, BARRIER, doing="a read of")

    def watch_write(self, at: np.ndarray, size: int, threads: np.ndarray) -> None:
        """By threads, each from a place of its own on."""
        if self.is_tracked:
            places = at[:, None] + np.arange(size)
            self.refuse(places, COMING, BARRIER, doing="a write to")
            self.state[places] = DATA
            self.signature[places] = self.sign(threads)[:, None]

    def refuse(self, places: np.ndarray, *states: int, doing: str) -> None:
        found = self.state[places]
        for state in states:
            if (found == state).any():
                at = places[found == state].min()
                raise SimulationError(f"{doing} {NAMES[state]} at {at:#x}")

    def refuse_unfenced(self, places: np.ndarray, doing: str) -> None:
        signatures = self.signature[places]
        if signatures.any() and not (fenced := self.is_fenced(signatures)).all():
            at = places[~fenced].min()
            writer = self.find_writer(signatures[~fenced].min())
            raise SimulationError(
                f"{doing} bytes at {at:#x} that thread {writer} wrote with no fence.proxy.async"
            )

    def expect_copy(self, places: np.ndarray) -> None:
        """Nobody may use the bytes until the copy has come."""
        self.refuse(places, COMING, BARRIER, doing="a copy to")
        self.refuse_unfenced(places, "a copy to")
        self.state[places] = COMING

    def finish_copy(self, places: np.ndarray, data: np.ndarray) -> None:
        self.bytes[places] = data
        self.state[places] = DATA
        self.signature[places] = 0

    def read_copied(self, places: np.ndarray, doing: str) -> np.ndarray:
        """By the copy engine or the tensor cores."""
        self.refuse(places, NOTHING, COMING, BARRIER, doing=doing)
        return self.bytes[places]

    def find_barrier(self, at: int) -> TransactionBarrier:
        if self.has_ended:
            raise SimulationError("a barrier of a block that is at its end")
        if at not in self.barriers:
            raise SimulationError(f"a barrier at {at:#x} that nobody initialised")
        return self.barriers[at]

    def end(self) -> None:
        """The block is at its end."""
        self.has_ended = True
        if (self.state == COMING).any():
            raise SimulationError("a block ends with a copy to it under way")
        for at, barrier in self.barriers.items():
            if barrier.expected:
                raise SimulationError(
                    f"a block ends with {barrier.expected} bytes expected at barrier {at:#x}"
                )


def swizzle(addresses: np.ndarray, span: int) -> np.ndarray:
    """Where bytes of an array in rows of `span` bytes lie: the number of their 16 bytes
    in the row is mixed with that of the row (PTX ISA, `Swizzling Modes`)."""
    return addresses ^ ((addresses >> 3) & (span - 16)) if span else addresses
