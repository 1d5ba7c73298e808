# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A thread block of a simulated kernel: its threads' turns, registers and memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from ptx_arithmetic import MASK, U64, find_function
from ptx_async import Copies, StoreGroups
from ptx_barriers import (
    AWAY,
    ENDED,
    HELD,
    RUNS,
    Cluster,
    NamedBarrier,
    RegisterPool,
    Spin,
    release,
)
from ptx_instructions import SPECIAL
from ptx_kernel import Instruction, SimulationError
from ptx_matrix import Products
from ptx_memory import WINDOW, Memory, SharedMemory

if TYPE_CHECKING:
    from ptx_simulator import Launch

NOWHERE = 1 << 60


class Block:
    """One thread block of a launch: each thread has a place in the code, and of the
    warps that run, those at the first place go on."""

    def __init__(self, launch: Launch, number: int, cluster: Cluster) -> None:
        self.launch, self.number, self.cluster = launch, number, cluster
        x, y = launch.kernel.block
        # Products are made by four warps, whether or not all of them are there.
        unit = 128 if launch.accumulators else 32
        self.count = -(-x * y // unit) * unit
        self.thread = np.arange(self.count)
        kernel = launch.kernel
        is_tracked = kernel.has("mbarrier", "wgmma", "cp.async.bulk", "cp.reduce", "st.async")
        self.shared = SharedMemory(launch.memory_bytes, is_tracked)
        self.live = self.thread < x * y
        self.all = np.ones(self.count, bool)
        self.state = np.where(self.live, RUNS, ENDED).astype(np.int8)
        self.is_able = True
        """Whether a thread can go on."""
        self.place = np.zeros(self.count, np.int64)
        self.mask = self.live
        """The threads of the instruction at hand."""
        self.registers: dict[str, np.ndarray] = {}
        self.rank = len(cluster.blocks)
        cluster.blocks.append(self)
        size = launch.cluster
        self.elected = launch.order.randrange(32)
        self.pace = 4 ** launch.order.uniform(-3, 0)
        """How often it has a turn, compared with others."""
        numbers = {
            "%tid.x": self.thread % x,
            "%tid.y": self.thread // x,
            "%laneid": self.thread % 32,
            "%ntid.x": x,
            "%ntid.y": y,
            "%ctaid.x": number,
            "%nctaid.x": launch.grid,
            "%cluster_ctarank": self.rank,
            "%cluster_ctaid.x": self.rank,
            "%cluster_nctarank": size,
            "%cluster_nctaid.x": size,
            "%clusterid.x": number // size,
            "%nclusterid.x": launch.grid // size,
            **{name: self.rank << WINDOW | place for name, place in launch.symbols.items()},
            **launch.map_addresses,
        }
        self.constants = {name: np.full(self.count, value, U64) for name, value in numbers.items()}
        self.barriers: dict[int, NamedBarrier] = {}
        self.spins: list[Spin] = []
        self.arrival = np.full(self.count, AWAY, np.int8)
        self.at_cluster = np.zeros(self.count, bool)
        self.register_pool = RegisterPool(self)
        self.committed = np.zeros(self.count, np.int64)
        self.copies: list[Copies] = []
        self.stores: dict[int, StoreGroups] = {}
        self.products = Products(self)
        self.partners: dict[tuple, tuple[np.ndarray, np.ndarray]] = {}
        """Of shuffles whose operands are constants."""

    def list_threads(self, warps: list[int]) -> np.ndarray:
        chosen = np.zeros(self.count // 32, bool)
        chosen[warps] = True
        return chosen.repeat(32)

    # Time

    def can_run(self) -> bool:
        """Whether a thread can, now that others went on."""
        if self.spins:
            over = [spin for spin in self.spins if spin.barrier.is_over(spin.parity)]
            for spin in over:
                self.state[spin.threads] = RUNS
                self.spins.remove(spin)
            self.is_able |= bool(over)
        return self.is_able

    def look_again(self) -> None:
        """All that found a phase not yet over: nobody says that they only look again."""
        for spin in self.spins:
            self.state[spin.threads] = RUNS
        self.is_able |= bool(self.spins)
        self.spins = []

    def step(self) -> bool:
        """Some warps have a turn. False: the block is at its end."""
        order = self.launch.order
        if self.spins and order.random() < 0.125:
            self.look_again()
        ready = self.state == RUNS
        warps = np.flatnonzero(ready.reshape(-1, 32).any(1)).tolist()
        # Warps that go on together do so side by side, which is one order of many: so not
        # all of them at once, but sometimes all for whom the others wait.
        count = len(warps)
        is_rest = count < self.live.reshape(-1, 32).any(1).sum() and order.random() < 0.25
        if count > 1 and not is_rest:
            order.shuffle(warps)
            count = order.randrange(1, count)
        self.run(ready & self.list_threads(warps[:count]))
        self.is_able = bool((self.state == RUNS).any())
        if self.live.any():
            return True
        self.shared.end()
        self.products.end()
        self.register_pool.end()
        return False

    def run(self, running: np.ndarray) -> None:
        """Runs these threads until all of them wait or let others go on."""
        instructions, place = self.launch.kernel.instructions, self.place
        while running.any():
            places = np.where(running, place, NOWHERE)
            at = int(places.min())
            mask = places == at
            mask = self.all if mask.all() else mask
            limit = int(np.where(mask, NOWHERE, places).min())
            while at < limit:
                instruction = instructions[at]
                if instruction.is_together and mask is not self.all:
                    place[mask] = at
                    going = self.gather(instruction, at, mask)
                    running = running & ~mask | going
                    mask = going
                    if not mask.any():
                        break
                taken = mask
                if instruction.predicate:
                    register, is_negated = instruction.predicate
                    taken = mask & (self.value(register).astype(bool) ^ is_negated)
                    if not taken.any():
                        at += 1
                        continue
                at += 1
                if instruction.name == "bra":
                    if taken is mask or (taken == mask).all():
                        at = instruction.target
                        continue
                    place[mask], place[taken] = at, instruction.target
                    break
                self.mask = taken
                stopped = self.execute(instruction, taken)
                if instruction.is_event and self.shared.is_tracked:
                    stopped = self.let_others_go_on(mask, stopped)
                if stopped is not None and stopped.any():
                    place[mask] = at
                    running = running & ~stopped
                    break
            else:
                place[mask] = at

    def gather(self, instruction: Instruction, at: int, mask: np.ndarray) -> np.ndarray:
        """Of an instruction that threads do together, those who are all there."""
        unit = 128 if instruction.operation.startswith("wgmma.mma") else 32
        here = mask | ((self.state == HELD) & (self.place == at))
        members = self.live & here.reshape(-1, unit).any(1).repeat(unit)
        named = name_threads(instruction)
        if named != "-1":
            is_named = self.value(named) >> (self.thread % 32).astype(U64) & U64(1) == 1
            if (mask & ~is_named).any():
                raise SimulationError(f"{instruction} of a thread that it does not name")
            members &= is_named
        missing = members & ~here
        going = here
        if missing.any():
            going = here & ~missing.reshape(-1, unit).any(1).repeat(unit)
        self.state[here] = HELD
        self.state[going] = RUNS
        return going

    def let_others_go_on(self, mask: np.ndarray, stopped: np.ndarray | None) -> np.ndarray | None:
        """The turn of some warps is over here, or that of some of their threads: these
        are as little bound to go on together as warps are."""
        order = self.launch.order
        warps = np.flatnonzero(mask.reshape(-1, 32).any(1)).tolist()
        chosen = [warp for warp in warps if order.random() < 0.25]
        if not chosen:
            return stopped
        over = mask & self.list_threads(chosen)
        if order.random() < 0.5:
            over &= (self.thread % 32 < order.randrange(32)) == (order.random() < 0.5)
        return over if stopped is None else over | stopped

    def leave(self, mask: np.ndarray) -> np.ndarray:
        """Threads that are at their end: those who wait for them do no longer."""
        for thread, groups in self.stores.items():
            if mask[thread] and not groups.is_read():
                raise SimulationError(f"thread {thread} ends before its stores are read")
        self.live &= ~mask
        self.state[mask] = ENDED
        left = mask.reshape(-1, 32).any(1).repeat(32) & (self.state == HELD)
        self.state[left] = RUNS
        for number in list(self.barriers):
            release(self, number)
        self.cluster.release()
        return mask

    def describe(self) -> list[str]:
        """Where its warps are."""
        found: dict[tuple[int, int], list[int]] = {}
        for thread in np.flatnonzero(self.live).tolist():
            key = (int(self.place[thread]), int(self.state[thread]))
            found.setdefault(key, []).append(thread // 32)
        lines = []
        for (place, state), warps in found.items():
            # Who holds itself back has not done the instruction yet.
            instruction = self.launch.kernel.instructions[place - (state != HELD)]
            names = ", ".join(map(str, sorted(set(warps))))
            lines.append(f"block {self.number} warps {names} at {instruction}")
        return lines

    # Registers

    def value(self, argument: str) -> np.ndarray:
        bits = self.registers.get(argument)
        if bits is not None:
            if argument in self.launch.accumulators:
                self.products.touch(argument, self.mask)
            return bits
        bits = self.constants.get(argument)
        if bits is not None:
            return bits
        if argument.startswith("%globaltimer"):
            self.launch.clock += 1
            return np.full(self.count, self.launch.clock, U64)
        if argument[0] in "%_" or "$" in argument:
            raise SimulationError(f"{argument} is read and was never written")
        number = (
            int(argument[2:], 16) if argument[:2] in ("0f", "0d") else int(argument.rstrip("U"), 0)
        )
        self.constants[argument] = np.full(self.count, number & (2**64 - 1), U64)
        return self.constants[argument]

    def set(self, register: str, bits: np.ndarray, mask: np.ndarray) -> None:
        """Where the mask holds. The bits become the register's: nobody else has them."""
        if register in self.launch.accumulators:
            self.products.touch(register, mask)
        before = self.registers.get(register)
        if mask is self.all or before is None:
            self.registers[register] = bits
        else:
            np.putmask(before, mask, bits)

    # Memory

    def address(self, argument: str) -> np.ndarray:
        base, _, offset = argument.strip("[]").partition("+")
        bits = self.value(base).view(np.int64)
        return bits + int(offset) if offset else bits

    def find_memory(self, address: int) -> tuple[Memory, int]:
        """The memory that an address is in, and the address of its first byte."""
        number, window = address >> 32, address >> WINDOW
        if 0 < number <= len(self.launch.memories):
            return self.launch.memories[number - 1], number << 32
        if not 0 <= window < len(self.cluster.blocks):
            raise SimulationError(f"address {address:#x} of no buffer")
        memory = self.cluster.blocks[window].shared
        if memory.has_ended:
            raise SimulationError("memory of a block that is at its end")
        return memory, window << WINDOW

    def locate(self, address: int, size: int) -> tuple[SharedMemory, int]:
        """The shared memory that an address is in, and its place there."""
        ((memory, _, at),) = self.places(np.array([address]), size)
        if not isinstance(memory, SharedMemory):
            raise SimulationError(f"address {address:#x} of no shared memory")
        return memory, int(at[0])

    def places(
        self, addresses: np.ndarray, size: int
    ) -> Iterator[tuple[Memory, np.ndarray | slice, np.ndarray]]:
        """Where accesses go: the memory, which of the addresses are in it, and their
        places there."""
        spaces = addresses >> WINDOW
        parts: list[np.ndarray | slice] = [slice(None)]
        if (spaces != spaces[0]).any():
            parts = [np.flatnonzero(spaces == space) for space in set(spaces.tolist())]
        for chosen in parts:
            here = addresses[chosen]
            memory, first = self.find_memory(int(here[0]))
            at = here - first
            wrong = (at % size != 0) | (at + size > memory.bytes.size)
            if wrong.any():
                raise SimulationError(f"{size} bytes at {at[wrong][0]} of {memory.bytes.size}")
            yield memory, chosen, at

    def load(
        self, addresses: np.ndarray, count: int, mask: np.ndarray, size: int
    ) -> list[np.ndarray]:
        """`count` neighbouring numbers of each thread."""
        threads = np.flatnonzero(mask)
        values = [np.zeros(self.count, U64) for _ in range(count)]
        for memory, chosen, at in self.places(addresses[threads], size * count):
            if isinstance(memory, SharedMemory):
                memory.watch_read(at, size * count)
            numbers = memory.bytes[: memory.bytes.size // size * size].view(f"u{size}")
            for i, value in enumerate(values):
                value[threads[chosen]] = numbers[at // size + i]
        return values

    def store(
        self, addresses: np.ndarray, values: list[np.ndarray], mask: np.ndarray, size: int
    ) -> None:
        threads = np.flatnonzero(mask)
        for memory, chosen, at in self.places(addresses[threads], size * len(values)):
            if isinstance(memory, SharedMemory):
                memory.watch_write(at, size * len(values), threads[chosen])
            numbers = memory.bytes[: memory.bytes.size // size * size].view(f"u{size}")
            for i, value in enumerate(values):
                part = value[threads[chosen]] & MASK[8 * size]
                numbers[at // size + i] = part.astype(numbers.dtype)

    # Instructions

    def execute(self, instruction: Instruction, mask: np.ndarray) -> np.ndarray | None:
        """Returns the threads that wait, or whose turn is over."""
        if instruction.changes:
            self.launch.quiet_rounds = 0
        if special := SPECIAL.get(instruction.name):
            return special(self, instruction, mask)
        arguments = instruction.arguments
        if instruction.name == "mov" and "{" in (arguments[0][0], arguments[1][0]):
            return self.move_parts(instruction, mask)
        function = find_function(instruction.operation)
        bits = function(*map(self.value, arguments[1:]))
        result, _, opposite = arguments[0].partition("|")
        self.set(result, bits, mask)
        if opposite:
            if len(arguments) > 3:
                raise NotImplementedError(str(instruction))
            self.set(opposite, bits ^ U64(1), mask)
        return None

    def move_parts(self, instruction: Instruction, mask: np.ndarray) -> None:
        """Takes a register apart, or puts one together."""
        target, source = instruction.arguments
        parts = re.findall(r"[%$\w]+", target if target[0] == "{" else source)
        width = instruction.width // len(parts)
        if target[0] == "{":
            bits = self.value(source)
            for i, register in enumerate(parts):
                if register != "_":
                    self.set(register, bits >> U64(width * i) & MASK[width], mask)
            return
        bits = np.zeros(self.count, U64)
        for i, register in enumerate(parts):
            bits |= (self.value(register) & MASK[width]) << U64(width * i)
        self.set(target, bits, mask)


def name_threads(instruction: Instruction) -> str:
    """The operand with the lanes that do an instruction together, -1 for all."""
    if instruction.name in ("elect", "shfl", "vote"):
        return instruction.arguments[-1]
    is_warp = instruction.parts[0] == "warp"
    return instruction.arguments[0] if is_warp else "-1"
