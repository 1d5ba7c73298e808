# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a simulated kernel's tensor cores do (`wgmma`, PTX ISA `Asynchronous Warpgroup
Level Matrix Instructions`), and how warps store matrices."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from ptx_arithmetic import MASK, READ, U64, to_bits, to_float
from ptx_kernel import Instruction, SimulationError
from ptx_memory import swizzle

if TYPE_CHECKING:
    from ptx_block import Block

ELEMENT_BYTES = {"e4m3": 1, "e5m2": 1, "bf16": 2, "f16": 2, "tf32": 4}
SPANS = (0, 128, 64, 32)
"""Bytes of a swizzled row, by the mode that a descriptor has."""
K_BYTES = 32


@dataclass(frozen=True)
class Operand:
    """Where a matrix of `wgmma` lies in shared memory, as its descriptor has it."""

    start: int
    leading: int
    stride: int
    span: int
    is_k_major: bool
    element_bytes: int
    size: int
    """Its M or N."""

    def place(self) -> np.ndarray:
        """Addresses of its elements' bytes: [M or N, K, bytes]."""
        # Both in elements; what is contiguous is seen in units of 16 bytes.
        rows, depth = np.arange(self.size), np.arange(K_BYTES // self.element_bytes)
        unit = 16 // self.element_bytes
        across, along = (depth, rows) if self.is_k_major else (rows, depth)
        units, bytes_in = across // unit, across % unit * self.element_bytes
        groups, row = along // 8, along % 8
        if self.span:
            # K-major rows have all of K, wherever it begins.
            wide = self.span // 16
            place_units = units // wide * self.leading + units % wide * 16
            place_rows = groups * self.stride + row * self.span
        else:
            steps = (self.leading, self.stride)
            place_units, place_rows = units * steps[not self.is_k_major], row * 16
            place_rows = place_rows + groups * steps[self.is_k_major]
        places = self.start + place_rows[:, None] + place_units + bytes_in
        places = places if self.is_k_major else places.T
        return swizzle(places[:, :, None] + np.arange(self.element_bytes), self.span)


def describe(bits: int, is_k_major: bool, kind: str, size: int) -> Operand:
    start, leading, stride = ((bits >> shift & 0x3FFF) << 4 for shift in (0, 16, 32))
    span = SPANS[bits >> 62]
    if bits >> 49 & 7:
        raise NotImplementedError("a descriptor with a base offset")
    if span and start // span % 8:
        raise SimulationError(f"swizzled rows from {start:#x} on, which is amid eight of them")
    return Operand(start, leading, stride, span, is_k_major, ELEMENT_BYTES[kind], size)


@dataclass
class Product:
    """One `wgmma.mma_async` of four warps."""

    block: Block
    group: int
    number: int
    before: Product | None
    registers: list[str]
    operands: list[tuple[np.ndarray, str, float]]
    """Where A and B lie, their types, and what they are multiplied by."""
    adds: bool
    is_done: bool = False

    def complete(self) -> None:
        """Reads what the operands are now; products of a warpgroup are made in order."""
        if self.is_done:
            return
        if self.before:
            self.before.complete()
        self.is_done, self.before = True, None
        a, b = (self.read(*operand) for operand in self.operands)
        # Each warp's rows by themselves: small enough for NumPy to use one thread.
        total = (a.reshape(4, 16, -1) @ b.T).reshape(64, -1)
        threads = slice(128 * self.group, 128 * self.group + 128)
        sums = total[list_fragment(total.shape[1])]
        registers = [self.block.registers[register][threads] for register in self.registers]
        if self.adds:
            sums += to_float(np.stack(registers))
        for register, bits in zip(registers, to_bits(sums), strict=True):
            register[:] = bits

    def read(self, places: np.ndarray, kind: str, factor: float) -> np.ndarray:
        data = self.block.shared.read_copied(places, "a product of")
        numbers = data.view(f"u{ELEMENT_BYTES[kind]}")[..., 0]
        return READ[kind](numbers.astype(U64, order="C")).astype(float) * factor


@functools.cache
def list_fragment(columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of each register's number, for the threads of a warpgroup."""
    thread, register = np.arange(128), np.arange(columns // 2)[:, None]
    rows = thread // 32 * 16 + thread % 32 // 4 + register // 2 % 2 * 8
    return rows, register // 4 * 8 + thread % 4 * 2 + register % 2


class Products:
    """Those of a block, and which registers they are under way to."""

    def __init__(self, block: Block) -> None:
        self.block = block
        warps = block.count // 32
        self.open: list[list[Product]] = [[] for _ in range(warps)]
        """Of each warp, those in no group yet; then its groups."""
        self.groups: list[list[list[Product]]] = [[] for _ in range(warps)]
        self.last: dict[int, Product] = {}
        """The newest of each warpgroup."""
        self.count = 0
        self.writer: dict[str, np.ndarray] = {}
        """Of each accumulator and thread, the number of the last product."""
        self.waited = np.zeros(block.count, np.int64)
        """The number of the last product that a thread has waited for."""
        self.fences = np.zeros(block.count, np.int64)
        self.touched: dict[str, np.ndarray] = {}
        """Of each accumulator and thread, fences before its last use by others, plus 1."""

    def touch(self, register: str, mask: np.ndarray) -> None:
        """An instruction that is no product reads or writes an accumulator."""
        writer = self.writer.get(register)
        if writer is not None and (writer > self.waited)[mask].any():
            raise SimulationError(f"{register} is used while a product is under way to it")
        touched = self.touched.get(register, np.zeros(self.block.count, np.int64))
        self.touched[register] = np.where(mask, self.fences + 1, touched)

    def run(self, instruction: Instruction, mask: np.ndarray) -> None:
        verb = instruction.parts[0]
        warps = np.flatnonzero(mask.reshape(-1, 32).all(1)).tolist()
        if 32 * len(warps) != mask.sum():
            raise SimulationError(f"{instruction} of some threads of a warp")
        if verb == "fence":
            self.fences += mask
        elif verb == "commit_group":
            for warp in warps:
                self.groups[warp].append(self.open[warp])
                self.open[warp] = []
        elif verb == "wait_group":
            for warp in warps:
                self.wait(warp, int(instruction.arguments[0]))
        elif verb == "mma_async":
            if not mask.reshape(-1, 128)[mask.reshape(-1, 128).any(1)].all():
                raise SimulationError(f"{instruction} of fewer than four warps")
            for group in sorted({warp // 4 for warp in warps}):
                self.start(instruction, group)
        else:
            raise NotImplementedError(instruction.operation)

    def wait(self, warp: int, pending: int) -> None:
        done = len(self.groups[warp]) - pending
        for products in self.groups[warp][: max(done, 0)]:
            for product in products:
                product.complete()
                self.waited[32 * warp : 32 * warp + 32] = product.number
        self.groups[warp] = self.groups[warp][max(done, 0) :]

    def start(self, instruction: Instruction, group: int) -> None:
        shape, sums, *kinds = instruction.parts[3:]
        found = re.fullmatch(r"m64n(\d+)k(\d+)", shape)
        columns, depth = (int(number) for number in found.groups())
        if (
            sums != "f32"
            or depth * ELEMENT_BYTES[kinds[0]] != K_BYTES
            or columns not in range(8, 257, 8)
        ):
            raise NotImplementedError(instruction.operation)
        results, *descriptors, scale, a_factor, b_factor = instruction.arguments[:6]
        transposed = [int(bit) for bit in instruction.arguments[6:]] or [0, 0]
        registers = re.findall(r"[%$\w]+", results)
        if len(registers) != columns // 2 or any(d.startswith("{") for d in descriptors):
            raise NotImplementedError(instruction.operation)
        if any(transposed) and ELEMENT_BYTES[kinds[0]] != 2:
            raise SimulationError(f"{kinds[0]} is multiplied along rows only")
        threads = slice(128 * group, 128 * group + 128)
        operands = []
        for word, kind, turned, size, factor in zip(
            descriptors, kinds, transposed, (64, columns), (a_factor, b_factor), strict=True
        ):
            places = describe(self.get_one(word, threads), not turned, kind, size).place()
            self.block.shared.refuse_unfenced(places, "a product of")
            operands.append((places, kind, float(factor)))
        adds = bool(self.get_one(scale, threads))
        self.claim(registers, threads, adds)
        self.count += 1
        product = Product(
            self.block, group, self.count, self.last.get(group), registers, operands, adds
        )
        self.last[group] = product
        for warp in range(4 * group, 4 * group + 4):
            self.open[warp].append(product)
        self.block.launch.others.append(product)

    def get_one(self, word: str, threads: slice) -> int:
        values = set(self.block.value(word)[threads].tolist())
        if len(values) > 1:
            raise SimulationError(f"{word} differs between the threads of a product")
        return values.pop()

    def claim(self, registers: list[str], threads: slice, adds: bool) -> None:
        """The registers are the new product's until its threads have waited for it."""
        if not self.fences[threads].all():
            raise SimulationError("a product with no wgmma.fence before it")
        for register in registers:
            touched = self.touched.get(register)
            if touched is not None and (touched > self.fences)[threads].any():
                raise SimulationError(f"{register} was used and no wgmma.fence came after")
            writer = self.writer.setdefault(register, np.zeros(self.block.count, np.int64))
            if register not in self.block.registers:
                if adds:
                    raise SimulationError(f"{register} is read and was never written")
                self.block.registers[register] = np.zeros(self.block.count, U64)
            writer[threads] = self.count + 1

    def end(self) -> None:
        if any(self.open) or any(self.groups):
            raise SimulationError("a block ends with products that nobody waited for")


def list_accumulators(instructions: list[Instruction]) -> frozenset[str]:
    """Registers that products are made in."""
    return frozenset(
        register
        for instruction in instructions
        if instruction.operation.startswith("wgmma.mma_async")
        for register in re.findall(r"[%$\w]+", instruction.arguments[0])
    )


def store_matrices(block: Block, instruction: Instruction, mask: np.ndarray) -> None:
    """`stmatrix`: 8x8 numbers of 16 bits, whose rows lie where the threads say."""
    where, what = instruction.arguments
    registers = re.findall(r"[%$\w]+", what)
    rows, warps = block.address(where).reshape(-1, 32), mask.reshape(-1, 32)
    lane = np.arange(32)
    if "m8n8" not in instruction.parts:
        raise NotImplementedError(instruction.operation)
    if not warps[warps.any(1)].all():
        raise SimulationError(f"{instruction} of some threads of a warp")
    if (rows[warps] % 16).any():
        raise SimulationError("stmatrix to rows that are not at multiples of 16 bytes")
    for i, register in enumerate(registers):
        words = block.value(register)
        if "trans" not in instruction.parts:
            addresses = rows[:, 8 * i + lane // 4] + lane % 4 * 4
            block.store(addresses.reshape(-1), [words], mask, 4)
            continue
        for half in range(2):
            addresses = rows[:, 8 * i + lane % 4 * 2 + half] + lane // 4 * 2
            block.store(addresses.reshape(-1), [words >> U64(16 * half) & MASK[16]], mask, 2)
