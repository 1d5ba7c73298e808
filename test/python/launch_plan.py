# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the launches of a lowered program and runs them on the PTX simulator."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import ptx_simulator as ptx

TENSOR = re.compile(r"tensor<((?:[^<>]|<[^<>]*>)*)>")
UNWRITTEN = 0xA5


@dataclass
class Launch:
    """What the plan says of a kernel."""

    name: str
    operands: list[str]
    results: list[str]
    inputs: list[str]
    """Types, as the outputs'."""
    outputs: list[str]
    rows: int
    grid: int
    count: int
    shared_bytes: int
    maps: list[ptx.TensorMap]


def divide_up(number: int, by: int) -> int:
    return -(-number // by)


def evaluate(size: str, symbol: int) -> int:
    """A size `constant, per_symbol, per_block32, per_block128`."""
    units = [1, symbol, divide_up(symbol, 32), divide_up(symbol, 128)]
    return sum(int(part) * unit for part, unit in zip(size.split(","), units, strict=False))


def parse_maps(attributes: str, tensors: list[str], symbol: int) -> list[ptx.TensorMap]:
    maps = []
    for text in re.findall(r"tensor_map<([^>]*)>", attributes):
        keys = {
            key: evaluate(value.strip("[]"), symbol)
            for key, value in re.findall(r"(\w+) = (\d+|\[[\d, ]+\])", text)
        }
        kind = tensors[keys["tensor"]].split(",")[0].split("x")[-1]
        kind = kind if kind in ("bf16", "f16", "f32") else "u8"
        size = {"u8": 1, "f32": 4}.get(kind, 2)
        maps.append(
            ptx.TensorMap(
                keys["tensor"],
                kind,
                keys["columns"],
                keys["rows"],
                keys["pitch"] * size,
                keys["box_columns"],
                keys["box_rows"],
                keys["swizzle"],
            )
        )
    return maps


def parse(plan: str, symbol: int) -> list[Launch]:
    """The launches of a program whose `?` is `symbol`."""
    found = []
    pattern = (
        r"(%\w+)(?::(\d+))? = fuseops\.launch @kernels::@(\w+)"
        r"\(([^)]*)\) \{(.*?)\} : \(([^)]*)\) -> (.*)"
    )
    for result, several, name, operands, attributes, inputs, outputs in re.findall(pattern, plan):

        def number(key: str, default: int, text: str = attributes) -> int:
            match = re.search(rf"\b{key} = (\d+)", text)
            return int(match.group(1)) if match else default

        def workers(prefix: str, most: int, text: str = attributes) -> tuple[int, int]:
            match = re.search(rf"\b{prefix}rows = array<i64: ([\d, ]+)>", text)
            rows = evaluate(match.group(1), symbol) if match else 0
            return rows, min(most, divide_up(rows, number(f"{prefix}rows_per_worker", 1)))

        rows, grid = workers("", number("max_workers", 1))
        kinds = TENSOR.findall(inputs), TENSOR.findall(outputs)
        found.append(
            Launch(
                name,
                re.findall(r"%[\w#]+", operands),
                [f"{result}#{i}" for i in range(int(several))] if several else [result],
                *kinds,
                rows,
                grid,
                workers("count_", number("count_max_workers", 0))[1],
                number("shared_bytes", 0),
                parse_maps(attributes, kinds[0] + kinds[1], symbol),
            )
        )
    return found


def make(kind: str, symbol: int, generator: np.random.Generator | None) -> np.ndarray:
    """The bytes of a tensor: normal numbers, or what is not yet written."""
    *dims, element = re.sub(r", #fuseops\.blocks<\d+>", "", kind).split("x")
    blocks = re.search(r"blocks<(\d+)>", kind)
    if blocks:
        symbol = divide_up(symbol, int(blocks.group(1)))
    shape = [symbol if dim == "?" else int(dim) for dim in dims]
    if generator is None:
        size = int(np.prod(shape)) * int(re.findall(r"\d+", element)[0]) // 8
        return np.full(size, UNWRITTEN, np.uint8)
    words = generator.standard_normal(shape, np.float32).view(np.uint32)
    if element == "bf16":
        words = (words >> 16).astype(np.uint16)
    return words.reshape(-1).view(np.uint8).copy()


def run(launch: Launch, text: str, buffers: list[np.ndarray], *, late: bool, seed: int = 0) -> None:
    """Runs the launch's kernel of a PTX text on what it reads and what it writes."""
    kernel = ptx.parse(text, launch.name)
    ptx.run(
        kernel,
        buffers,
        (launch.rows, launch.count),
        launch.grid,
        shared_bytes=launch.shared_bytes,
        late=late,
        seed=seed,
        maps=launch.maps,
        cluster=kernel.cluster,
    )


def run_values(
    plan: list[Launch],
    text: str,
    symbol: int,
    *,
    late: bool,
    seed: int = 0,
    given: list[np.ndarray] | None = None,
) -> dict[str, np.ndarray]:
    """Runs a program whose inputs are the bytes `given`, or normal numbers: the bytes of
    each value of the plan, outputs in the order of the launches."""
    generator = np.random.default_rng(1)
    values: dict[str, np.ndarray] = {}
    # In the order of the program, not in that of their first uses.
    inputs = {n: k for launch in plan for n, k in zip(launch.operands, launch.inputs, strict=True)}
    for name in sorted(name for name in inputs if name.startswith("%arg")):
        number = len(values)
        values[name] = given[number] if given else make(inputs[name], symbol, generator)
    for launch in plan:
        outputs = [make(kind, symbol, None) for kind in launch.outputs]
        buffers = [values[name] for name in launch.operands] + outputs
        run(launch, text, buffers, late=late, seed=seed)
        values.update(zip(launch.results, outputs, strict=True))
    return values


def run_all(
    plan: list[Launch],
    text: str,
    symbol: int,
    *,
    late: bool,
    seed: int = 0,
    given: list[np.ndarray] | None = None,
) -> tuple[list[np.ndarray], list[int]]:
    """What the launches of a program leave, in the order of the plan, but counters of
    tiles, which come second."""
    values = run_values(plan, text, symbol, late=late, seed=seed, given=given)
    written, counters = [], []
    for launch in plan:
        group = counters if launch.name.endswith("_tickets") else written
        group += [values[name] for name in launch.results]
    return written, [int(counter.view(np.int64)[0]) for counter in counters]


def find_results(plan: str) -> list[str]:
    """The values that the first region of a plan returns."""
    found = re.search(r"fuseops\.return ([^:]*)", plan)
    return re.findall(r"%[\w#]+", found.group(1)) if found else []
