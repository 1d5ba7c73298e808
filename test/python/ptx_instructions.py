# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What instructions of a simulated kernel do that compute nothing of one thread's
registers alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from ptx_arithmetic import FLOATS, INTEGERS, U64, to_bits, to_float, to_integer
from ptx_async import copy, store_to_cluster, use_copy_engine
from ptx_barriers import synchronize, use_transactions
from ptx_kernel import Instruction, SimulationError
from ptx_matrix import store_matrices
from ptx_memory import WINDOW

if TYPE_CHECKING:
    from ptx_block import Block


def check_space(instruction: Instruction, addresses: np.ndarray) -> None:
    """That addresses are of the kind of memory that an instruction names."""
    is_shared = addresses >> 32 == 0
    space = [part.partition("::")[0] for part in instruction.parts]
    if ("global" in space and is_shared.any()) or ("shared" in space and not is_shared.all()):
        raise SimulationError(f"{instruction} of other memory, at {int(addresses[0]):#x}")


def read_memory(block: Block, instruction: Instruction, mask: np.ndarray) -> None:
    what, where = instruction.arguments
    if "param" in instruction.parts:
        value = block.launch.parameters[where.strip("[]")]
        block.set(what, np.full(block.count, value, U64), mask)
        return
    registers = re.findall(r"[%$\w]+", what)
    addresses = block.address(where)
    check_space(instruction, addresses[mask])
    values = block.load(addresses, len(registers), mask, instruction.width // 8)
    for register, value in zip(registers, values, strict=True):
        block.set(register, value, mask)


def write_memory(block: Block, instruction: Instruction, mask: np.ndarray) -> None:
    if "async" in instruction.parts:
        store_to_cluster(block, instruction, mask)
        return
    where, what = instruction.arguments
    addresses = block.address(where)
    check_space(instruction, addresses[mask])
    values = [block.value(register) for register in re.findall(r"-?[%$\w]+", what)]
    block.store(addresses, values, mask, instruction.width // 8)


def update_memory(block: Block, instruction: Instruction, mask: np.ndarray) -> None:
    """`atom` and `red`, one thread after the other."""
    kind, arguments = instruction.kind, list(instruction.arguments)
    result = arguments.pop(0) if instruction.name == "atom" else None
    verbs = ("add", "min", "max", "and", "or", "xor", "exch", "cas")
    verb = next(part for part in instruction.parts if part in verbs)
    addresses, operands = block.address(arguments[0]), [block.value(a) for a in arguments[1:]]
    check_space(instruction, addresses[mask])
    before = np.zeros(block.count, U64)
    for thread in np.flatnonzero(mask):
        only = block.thread == thread
        (old,) = block.load(addresses, 1, only, instruction.width // 8)
        first, last = (operand[thread : thread + 1] for operand in (operands[0], operands[-1]))
        before[thread], held = old[thread], old[thread : thread + 1]
        if verb in ("exch", "cas"):
            new = last if verb == "exch" or held == first else held
        elif kind[0] == "f":
            new = to_bits(FLOATS[verb](to_float(held), to_float(last)))
        else:
            new = INTEGERS[verb](to_integer(held, kind), to_integer(last, kind)).view(U64)
        block.store(addresses, [np.full(block.count, new[0])], only, instruction.width // 8)
    if result and result != "_":
        block.set(result, before, mask)


def copy_memory(block: Block, instruction: Instruction, mask: np.ndarray) -> None:
    run = use_copy_engine if "bulk" in instruction.parts else copy
    run(block, instruction, mask)


def fence(block: Block, instruction: Instruction, mask: np.ndarray) -> None:
    if "proxy" in instruction.parts and any(p.startswith("async") for p in instruction.parts):
        block.shared.fences[: block.count] += mask
    elif "mbarrier_init" in instruction.parts:
        for barrier in block.shared.barriers.values():
            if barrier.author and mask[block.shared.find_writer(barrier.author)]:
                barrier.author = 0


def find_partners(block: Block, mode: str, by: str, bounds: str) -> tuple[np.ndarray, np.ndarray]:
    """The thread whose value each gets, and whether that is one of its part of the warp."""
    lane = block.thread % 32
    offset, limits = (block.value(a).astype(np.int64) for a in (by, bounds))
    offset, segment = offset & 31, limits >> 8 & 31
    first = lane & segment
    last = first | (limits & 31 & ~segment)
    partner = {
        "bfly": lane ^ offset,
        "idx": first | (offset & ~segment),
        "up": lane - offset,
        "down": lane + offset,
    }[mode]
    is_inside = partner >= last if mode == "up" else partner <= last
    return block.thread - lane + np.where(is_inside, partner, lane), is_inside


def shuffle(block: Block, instruction: Instruction, mask: np.ndarray) -> None:
    result, source, *where, _ = instruction.arguments
    key = (instruction.parts[1], *where)
    partner, is_inside = block.partners.get(key) or find_partners(block, *key)
    if "%" not in "".join(where):
        block.partners[key] = partner, is_inside
    if mask is not block.all and not mask[partner[mask]].all():
        raise SimulationError("a shuffle with a thread that is not there")
    register, _, holds = result.partition("|")
    block.set(register, block.value(source)[partner], mask)
    if holds:
        block.set(holds, is_inside.astype(U64), mask)


def vote(block: Block, instruction: Instruction, mask: np.ndarray) -> None:
    holds = block.value(instruction.arguments[1].lstrip("!")).astype(bool)
    holds = (holds ^ instruction.arguments[1].startswith("!")).reshape(-1, 32)
    there, verb = mask.reshape(-1, 32), instruction.parts[1]
    if verb == "ballot":
        found = ((holds & there) << np.arange(32)).sum(1)
    else:
        found = (holds | ~there).all(1) if verb == "all" else (holds & there).any(1)
        if verb not in ("all", "any"):
            raise NotImplementedError(instruction.operation)
    block.set(instruction.arguments[0], found.astype(U64).repeat(32), mask)


def elect(block: Block, instruction: Instruction, mask: np.ndarray) -> None:
    """Always the same of the same threads, but none that a program may know."""
    leader = np.zeros(block.count, U64)
    for warp in np.flatnonzero(mask.reshape(-1, 32).any(1)).tolist():
        lanes = np.flatnonzero(mask[32 * warp : 32 * warp + 32])
        leader[32 * warp : 32 * warp + 32] = lanes[block.elected % len(lanes)]
    register, _, holds = instruction.arguments[0].partition("|")
    if register != "_":
        block.set(register, leader, mask)
    block.set(holds, (leader == (block.thread % 32).astype(U64)).astype(U64), mask)


def map_to_cluster(block: Block, instruction: Instruction, mask: np.ndarray) -> None:
    result, address, rank = instruction.arguments
    ranks = block.value(rank)
    if (ranks[mask] >= len(block.cluster.blocks)).any():
        raise SimulationError("an address of a block that the cluster has not")
    window = ranks << U64(WINDOW)
    block.set(result, block.address(address).view(U64) & U64((1 << WINDOW) - 1) | window, mask)


def list_active(block: Block, instruction: Instruction, mask: np.ndarray) -> None:
    lanes = (mask.reshape(-1, 32) << np.arange(32)).sum(1)
    block.set(instruction.arguments[0], lanes.astype(U64).repeat(32), mask)


def fail(block: Block, instruction: Instruction, mask: np.ndarray) -> None:
    raise SimulationError(f"thread {np.flatnonzero(mask)[0]} of block {block.number} is trapped")


def do_nothing(block: Block, instruction: Instruction, mask: np.ndarray) -> None:
    """What matters to a GPU's time only, or waits for launches that are over."""


Special = Callable[["Block", Instruction, np.ndarray], np.ndarray | None]
SPECIAL: dict[str, Special] = {
    "activemask": list_active,
    "atom": update_memory,
    "bar": synchronize,
    "barrier": synchronize,
    "cp": copy_memory,
    "elect": elect,
    "exit": lambda block, _, mask: block.leave(mask),
    "fence": fence,
    "griddepcontrol": do_nothing,
    "ld": read_memory,
    "mapa": map_to_cluster,
    "mbarrier": use_transactions,
    "membar": do_nothing,
    "nanosleep": do_nothing,
    "prefetch": do_nothing,
    "red": update_memory,
    "ret": lambda block, _, mask: block.leave(mask),
    "setmaxnreg": lambda block, *step: block.register_pool.change(*step),
    "shfl": shuffle,
    "st": write_memory,
    "stmatrix": store_matrices,
    "trap": fail,
    "vote": vote,
    "wgmma": lambda block, *step: block.products.run(*step),
}
"""All other instructions are `ptx_arithmetic`'s."""
