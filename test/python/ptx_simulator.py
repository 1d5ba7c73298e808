# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs PTX kernels on NumPy, to check on a machine without a GPU how their threads
wait for one another.

It is not a model of a GPU's arithmetic: approximate instructions are NumPy's
functions, so results are compared with those of another kernel that was run in the
same way. What it is strict about is time. From one barrier to the next, the warps of a
block run in a random order, and blocks take turns at random; what `cp.async` copies
arrives at once or, with `late`, not before the wait that the program has for it;
shared memory that nobody wrote, or that a copy is under way to, is poison; accesses
are aligned and inside a buffer, or an error is raised."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from ptx_arithmetic import (
    COMPARISONS,
    FLOATS,
    FP8,
    INTEGERS,
    MASK,
    U64,
    permute_bytes,
    round_to_bf16,
    round_to_fp8,
    sign_extend,
    to_bits,
    to_float,
    to_signed,
)

SHARED_BYTES = 227 * 1024
POISON = 0xFF


class SimulationError(Exception):
    """The kernel does what no kernel may."""


@dataclass
class Kernel:
    """One entry of a PTX text."""

    parameters: list[str]
    shared: dict[str, int]
    """Bytes of each symbol; 0 of those whose size the launch tells."""
    code: list[tuple[tuple[str, bool] | None, str, list[str]]] = field(default_factory=list)
    """Predicate and whether it is negated, operation, operands."""
    labels: dict[str, int] = field(default_factory=dict)
    block: tuple[int, int] = (1, 1)


def parse(text: str, name: str) -> Kernel:
    """The entry `name` of a PTX text, as LLVM prints it."""
    pattern = rf"\.entry {name}\((.*?)\)\s*\.maxntid (\d+), (\d+), 1(.*?)\n\{{(.*?)\n\}}"
    found = re.search(pattern, text, re.S)
    if not found:
        raise SimulationError(f"no kernel `{name}`")
    parameters, x, y, _, body = found.groups()
    body = re.sub(r"//.*", "", body)
    shared = {n: 0 for n in re.findall(r"\.extern \.shared .*?\.b8 (\w+)\[\]", text)}
    # Symbols of one kernel stand in it, others before all kernels.
    array = r"\.shared \.align \d+ \.[bfu](\d+) ([\w$]+)(?:\[(\d+)\])?;"
    for bits, symbol, count in re.findall(array, text):
        if symbol.startswith(f"{name}_"):
            shared[symbol] = int(bits) // 8 * int(count or 1)
    kernel = Kernel(re.findall(r"(\w+_param_\d+)", parameters), shared, block=(int(x), int(y)))
    for label, line in re.findall(r"(\$L\w+):|([^;:\n][^;\n]*);", body):
        if label:
            kernel.labels[label] = len(kernel.code)
            continue
        words = line.split(None, 1)
        if not words or words[0].startswith("."):
            continue
        predicate = None
        if words[0].startswith("@"):
            predicate = (words[0].lstrip("@!"), "!" in words[0])
            words = words[1].split(None, 1)
        operands = words[1] if len(words) > 1 else ""
        arguments = re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s][^,]*", operands)
        kernel.code.append((predicate, words[0], [a.strip() for a in arguments]))
    return kernel


def parse_kind(parts: list[str]) -> tuple[str, int]:
    """The type of an operation, its last part, and how many bits that is."""
    kind = parts[-1] if parts else ""
    found = re.fullmatch(r"[bfsu](\d+)", kind)
    return kind, int(found.group(1)) if found else 64


@dataclass
class Copies:
    """What one `cp.async` started, of the threads whose copies are under way."""

    threads: np.ndarray
    groups: np.ndarray
    targets: np.ndarray
    sources: np.ndarray
    size: int


@dataclass
class Launch:
    """A kernel, what it is given, and when copies arrive."""

    kernel: Kernel
    buffers: list[np.ndarray]
    scalars: tuple[int, int]
    """The rows, and the number of partial results."""
    grid: int
    late: bool
    shared_bytes: int
    """Of the shared memory whose size the launch tells."""

    def __post_init__(self) -> None:
        self.symbols: dict[str, int] = {}
        place = 0
        for symbol, size in sorted(self.kernel.shared.items(), key=lambda item: -item[1]):
            self.symbols[symbol] = place
            place += (size + 127) // 128 * 128
        self.memory_bytes = place + self.shared_bytes
        if self.memory_bytes > SHARED_BYTES:
            raise SimulationError(f"{self.memory_bytes} bytes of shared memory")
        values = [(i + 1) << 32 for i in range(len(self.buffers))] + list(self.scalars)
        if len(values) != len(self.kernel.parameters):
            raise SimulationError(f"{len(values)} arguments, {len(self.kernel.parameters)} wanted")
        self.parameters = dict(zip(self.kernel.parameters, values, strict=True))


class Block:
    """One thread block of a launch: each thread has a place in the code, and of the
    warps that run, those at the first place go on."""

    def __init__(self, launch: Launch, number: int) -> None:
        self.launch = launch
        x, y = launch.kernel.block
        self.count = (x * y + 31) // 32 * 32
        self.thread = np.arange(self.count)
        self.shared = np.full(launch.memory_bytes, POISON, np.uint8)
        self.live = self.thread < x * y
        self.waiting = np.zeros(self.count, bool)
        """Threads at the barrier."""
        self.turns: list[np.ndarray] = []
        """Which warps run together, of those that still have to before the barrier."""
        self.place = np.zeros(self.count, np.int64)
        self.registers: dict[str, np.ndarray] = {}
        self.special = {
            "%tid.x": (self.thread % x).astype(U64),
            "%tid.y": (self.thread // x).astype(U64),
            "%ctaid.x": np.full(self.count, number, U64),
            "%nctaid.x": np.full(self.count, launch.grid, U64),
        }
        self.committed = np.zeros(self.count, np.int64)
        self.copies: list[Copies] = []

    def step(self, order: random.Random) -> bool:
        """Runs some warps to the next barrier. False: the block is at its end."""
        if not self.turns:
            warps = np.flatnonzero(self.live.reshape(-1, 32).any(1)).tolist()
            order.shuffle(warps)
            cut = order.randint(1, len(warps))
            self.turns = [np.array(part) for part in (warps[:cut], warps[cut:]) if part]
        self.run(np.isin(self.thread // 32, self.turns.pop()) & self.live)
        if not self.turns:
            if self.waiting.any() and (self.waiting != self.live).any():
                raise SimulationError("a barrier that some warps never reach")
            self.waiting[:] = False
        return bool(self.live.any())

    def run(self, running: np.ndarray) -> None:
        """Runs these threads to the next barrier or the end."""
        kernel = self.launch.kernel
        held = np.zeros(self.count, bool)
        while running.any():
            ready = running & ~held
            if not ready.any():
                raise SimulationError("threads of a warp wait at different places")
            place = self.place[ready].min()
            predicate, operation, arguments = kernel.code[place]
            mask = ready & (self.place == place)
            if operation.startswith(("shfl", "bar")):
                # All threads of a warp do this together.
                mask = running & (self.place == place)
                whole = (mask == running).reshape(-1, 32).all(1).repeat(32)
                held |= mask & ~whole
                mask &= whole
                held &= ~mask
                if not mask.any():
                    continue
            taken = mask
            if predicate:
                holds = self.value(predicate[0]).astype(bool)
                taken = mask & (holds ^ predicate[1])
            self.place[mask] = place + 1
            if operation.startswith("bra"):
                self.place[taken] = kernel.labels[arguments[0]]
            elif operation == "ret":
                self.live &= ~taken
                running = running & ~taken
            elif operation == "bar.sync":
                if predicate or arguments != ["0"]:
                    raise NotImplementedError("a barrier of some threads")
                self.waiting |= mask
                running = running & ~mask
            elif taken.any():
                self.execute(operation, arguments, taken)

    def value(self, argument: str) -> np.ndarray:
        if argument in self.registers:
            return self.registers[argument]
        if argument in self.special:
            return self.special[argument]
        if argument in self.launch.symbols:
            return np.full(self.count, self.launch.symbols[argument], U64)
        if argument.startswith("0f"):
            return np.full(self.count, int(argument[2:], 16), U64)
        if argument.startswith("%"):
            raise SimulationError(f"{argument} is read and was never written")
        return np.full(self.count, int(argument.rstrip("U"), 0) & (2**64 - 1), U64)

    def set(self, register: str, bits: np.ndarray, mask: np.ndarray, width: int) -> None:
        bits = bits.astype(U64) & MASK[width]
        if not mask.all():
            before = self.registers.get(register)
            bits = np.where(mask, bits, U64(0) if before is None else before)
        self.registers[register] = bits

    def address(self, argument: str) -> np.ndarray:
        base, _, offset = argument.strip("[]").partition("+")
        return self.value(base).view(np.int64) + int(offset or 0)

    def places(self, addresses: np.ndarray, size: int) -> Iterator[tuple]:
        """Where accesses go: the memory, shared memory or the buffer of a parameter,
        which of the addresses are in it, and their places."""
        numbers, at = addresses >> 32, addresses & 0xFFFFFFFF
        for number in set(numbers.tolist()):
            if not 0 <= number <= len(self.launch.buffers):
                raise SimulationError(f"address {number << 32:#x} of no buffer")
            memory = self.launch.buffers[number - 1] if number else self.shared
            chosen = np.flatnonzero(numbers == number)
            wrong = (at[chosen] % size != 0) | (at[chosen] + size > memory.size)
            if wrong.any():
                raise SimulationError(f"{size} bytes at {at[chosen][wrong][0]} of {memory.size}")
            yield memory, chosen, at[chosen]

    def execute(self, operation: str, arguments: list[str], mask: np.ndarray) -> None:
        name, *parts = operation.split(".")
        kind, width = parse_kind(parts)
        with np.errstate(all="ignore"):
            if name == "griddepcontrol":
                return None  # The launches before are over.
            if name == "cp":
                return self.copy(operation, arguments, mask)
            if name == "atom":
                return self.draw(operation, arguments, mask, width)
            if name in ("ld", "st") and "param" not in parts:
                return self.access(name == "ld", arguments, mask, width)
            if name == "mov" and "{" in "".join(arguments[:2]):
                return self.move_parts(arguments, mask, width)
            bits = self.compute(name, parts, arguments, mask)
        self.set(arguments[0], bits, mask, 64 if kind in ("pred", "bf16") else max(width, 16))
        return None

    def compute(
        self, name: str, parts: list[str], arguments: list[str], mask: np.ndarray
    ) -> np.ndarray:
        """The bits that an instruction gives its first operand."""
        kind, width = parse_kind(parts)
        if name == "ld":
            return np.full(self.count, self.launch.parameters[arguments[1].strip("[]")], U64)
        if name == "shfl":
            partner = self.thread ^ int(arguments[2])
            if not mask[partner[mask]].all():
                raise SimulationError("a shuffle with a thread that is not there")
            return self.value(arguments[1])[partner]
        inputs = [self.value(argument) for argument in arguments[1:]]
        if name in ("mov", "cvta"):
            return inputs[0]
        if name == "selp":
            return np.where(inputs[2].astype(bool), inputs[0], inputs[1])
        if name == "setp":
            return COMPARISONS[parts[0]](*(self.typed(b, kind, width) for b in inputs)).astype(U64)
        if name == "not":
            return U64(1) - inputs[0] if kind == "pred" else ~inputs[0]
        if name == "cvt":
            return self.convert(".".join(parts), inputs)
        if name == "prmt":
            return permute_bytes(inputs)
        if kind == "f32":
            return to_bits(FLOATS[name](*(to_float(b) for b in inputs)))
        if name == "abs" and kind in ("bf16", "bf16x2"):
            return inputs[0] & U64(0x7FFF7FFF)
        if name == "neg" and kind in ("bf16", "bf16x2"):
            return inputs[0] ^ U64(0x80008000 if kind == "bf16x2" else 0x8000)
        if name == "neg":
            return U64(0) - inputs[0]
        if name == "bfe" and kind[0] == "u":
            return (inputs[0] >> inputs[1]) & ((U64(1) << inputs[2]) - U64(1))
        if name == "mul" and parts[0] == "hi":
            if kind[0] == "s":
                raise NotImplementedError(f"mul.hi.{kind}")
            pairs = zip(*((b & MASK[width]).tolist() for b in inputs), strict=True)
            return np.array([(a * b) >> width for a, b in pairs], U64)
        if name == "mul" and parts[0] == "wide":
            # Two numbers of half the width.
            if kind[0] == "s":
                inputs = [sign_extend(b, 32) for b in inputs]
                return inputs[0] * inputs[1]
            return (inputs[0] & MASK[32]) * (inputs[1] & MASK[32])
        if kind[0] == "s" and name in ("min", "max", "shr", "div", "rem"):
            if name in ("div", "rem"):
                raise NotImplementedError(f"{name}.{kind}")
            signed = [to_signed(b, width) for b in inputs]
            return INTEGERS[name](*signed).astype(np.int64).view(U64)
        unsigned = ("shr", "min", "max", "div", "rem")
        return INTEGERS[name](*(b & MASK[width] if name in unsigned else b for b in inputs))

    @staticmethod
    def typed(bits: np.ndarray, kind: str, width: int) -> np.ndarray:
        if kind == "bf16":
            return to_float(bits << U64(16))
        if kind == "f32":
            return to_float(bits)
        bits = bits & MASK[width]
        return to_signed(bits, width) if kind[0] == "s" else bits

    @staticmethod
    def convert(kind: str, inputs: list[np.ndarray]) -> np.ndarray:
        if kind == "f32.bf16":
            return (inputs[0] & MASK[16]) << U64(16)
        if kind == "rn.bf16.f32":
            return round_to_bf16(to_float(inputs[0]))
        if kind == "rn.bf16x2.f32":
            high, low = (round_to_bf16(to_float(b)) for b in inputs)
            return high << U64(16) | low
        if found := re.fullmatch(r"rn\.satfinite\.(\w+)\.f32", kind):
            high, low = (round_to_fp8(to_float(b), *FP8[found.group(1)]) for b in inputs)
            return high << U64(8) | low
        if found := re.fullmatch(r"u(\d+)\.u(\d+)", kind):
            return inputs[0] & MASK[min(int(found.group(1)), int(found.group(2)))]
        raise NotImplementedError(f"cvt.{kind}")

    def move_parts(self, arguments: list[str], mask: np.ndarray, width: int) -> None:
        """Takes a register apart, or puts one together."""
        parts = re.findall(r"%\w+", " ".join(a for a in arguments if a.startswith("{")))
        part = width // len(parts)
        if arguments[0].startswith("{"):
            bits = self.value(arguments[1])
            for i, register in enumerate(parts):
                self.set(register, bits >> U64(part * i), mask, part)
            return
        bits = np.zeros(self.count, U64)
        for i, register in enumerate(parts):
            bits |= (self.value(register) & MASK[part]) << U64(part * i)
        self.set(arguments[0], bits, mask, width)

    def access(self, loads: bool, arguments: list[str], mask: np.ndarray, width: int) -> None:
        what, where = arguments if loads else reversed(arguments)
        registers, size = re.findall(r"[%\w]+", what), width // 8
        threads = np.flatnonzero(mask)
        kind = np.dtype(f"u{size}")
        values = [np.zeros(self.count, U64) if loads else self.value(r) for r in registers]
        for memory, chosen, at in self.places(self.address(where)[threads], size * len(registers)):
            numbers = memory[: memory.size // size * size].view(kind)
            for i, value in enumerate(values):
                if loads:
                    value[threads[chosen]] = numbers[at // size + i]
                else:
                    part = value[threads[chosen]] & MASK[width]
                    numbers[at // size + i] = part.astype(kind)
        if loads:
            for register, value in zip(registers, values, strict=True):
                self.set(register, value, mask, width)

    def draw(self, operation: str, arguments: list[str], mask: np.ndarray, width: int) -> None:
        """Adds to a number in memory, one thread after the other."""
        if not operation.startswith("atom.global.add.u"):
            raise NotImplementedError(operation)
        addresses, addend = self.address(arguments[1]), self.value(arguments[2])
        before = np.zeros(self.count, U64)
        for thread in np.flatnonzero(mask):
            ((memory, _, at),) = self.places(addresses[thread : thread + 1], width // 8)
            number = memory[at[0] : at[0] + width // 8].view(f"u{width // 8}")
            before[thread] = number[0]
            number += addend[thread].astype(number.dtype)
        self.set(arguments[0], before, mask, width)

    def copy(self, operation: str, arguments: list[str], mask: np.ndarray) -> None:
        """The asynchronous copies: each thread has groups of its own."""
        if "commit_group" in operation:
            self.committed += mask
        elif "wait_group" in operation:
            pending, kept = self.copies, []
            last = self.committed - int(arguments[0])
            for copies in pending:
                done = mask[copies.threads] & (copies.groups < last[copies.threads])
                if done.any():
                    self.arrive(copies, done)
                if not done.all():
                    left = ~done
                    fields = (copies.threads, copies.groups, copies.targets, copies.sources)
                    kept.append(Copies(*(f[left] for f in fields), copies.size))
            self.copies = kept
        elif "shared.global" in operation:
            threads, size = np.flatnonzero(mask), int(arguments[2])
            targets, sources = (self.address(a)[threads] for a in arguments[:2])
            copies = Copies(threads, self.committed[threads], targets, sources, size)
            ((memory, _, at),) = self.places(targets, size)
            if memory is not self.shared:
                raise SimulationError("a copy to other memory")
            if self.launch.late:
                memory[at[:, None] + np.arange(size)] = POISON
                self.copies.append(copies)
            else:
                self.arrive(copies, np.ones(len(threads), bool))
        else:
            raise NotImplementedError(operation)

    def arrive(self, copies: Copies, done: np.ndarray) -> None:
        width = np.arange(copies.size)
        targets = copies.targets[done]
        for memory, chosen, at in self.places(copies.sources[done], copies.size):
            self.shared[targets[chosen][:, None] + width] = memory[at[:, None] + width]


def run(
    kernel: Kernel,
    buffers: list[np.ndarray],
    scalars: tuple[int, int],
    grid: int,
    *,
    shared_bytes: int = 0,
    late: bool,
    seed: int = 0,
) -> None:
    """Runs `kernel` on `buffers`, arrays of bytes that it may write to, and the last
    two parameters, the rows and the number of partial results, with `grid` blocks."""
    launch = Launch(kernel, buffers, scalars, grid, late, shared_bytes)
    order = random.Random(2 * seed + late)
    blocks = [Block(launch, number) for number in range(grid)]
    while blocks:
        block = order.choice(blocks)
        if not block.step(order):
            blocks.remove(block)
