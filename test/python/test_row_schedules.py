# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keys of a row kernel's schedule that say when memory is asked for change no bit of
what it computes, whenever its copies arrive and whatever order its warps run in."""

from __future__ import annotations

import re

import fuseops
import launch_plan
import numpy as np
import ptx_simulator as ptx
import pytest
from conftest import ROOT
from launch_plan import Launch

PROGRAM = ROOT / "test" / "Integration" / "CPU" / "row-schedules.mlir"
ROWS = 11
KERNELS = [
    "ahead",
    "one_a_block",
    "ring",
    "one_slot",
    "wide",
    "rows",
    "backward",
    "tiles",
    "tiles_ahead",
    "loop",
    "walk",
    "kept",
    "kept_sums",
]


def emit(program: str, what: str, **options: object) -> str:
    return fuseops.emit(program, what, target="cuda:sm_90a", **options).decode()


@pytest.fixture(scope="module")
def launches() -> dict[str, Launch]:
    plan = emit(PROGRAM.read_text(), "ir", compile_to="lowering")
    return {launch.name: launch for launch in launch_plan.parse(plan, ROWS)}


@pytest.fixture(scope="module")
def written() -> str:
    return emit(PROGRAM.read_text(), "ptx")


@pytest.fixture(scope="module")
def plain() -> str:
    """The same without the keys: threads, rows and tiles decide the order of sums."""
    keys = r"(kept|prefetch|residents|stages|streams|unroll) = \d+ : i64,? ?"
    program = re.sub(
        r"schedule \{[^}]*\}",
        lambda match: re.sub(keys, "", match.group(0)).replace(", }", "}"),
        PROGRAM.read_text(),
    )
    return emit(program, "ptx")


def simulate(text: str, name: str, launch: Launch, late: bool = True) -> list[np.ndarray]:
    generator = np.random.default_rng(1)
    inputs = [launch_plan.make(kind, ROWS, generator) for kind in launch.inputs]
    outputs = [launch_plan.make(kind, ROWS, None) for kind in launch.outputs]
    launch_plan.run(launch, text, inputs + outputs, late=late)
    return outputs


def is_same(first: list[np.ndarray], second: list[np.ndarray]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("name", KERNELS)
def test_same_bits(name: str, launches: dict[str, Launch], written: str, plain: str):
    launch = launches[name]
    expected = simulate(plain, name, launch)
    assert np.mean([np.mean(output == launch_plan.UNWRITTEN) for output in expected]) < 0.05
    assert is_same(expected, simulate(written, name, launch, late=True))
    if any("cp.async" in operation for _, operation, _ in ptx.parse(written, name).code):
        assert is_same(expected, simulate(written, name, launch, late=False))


def test_every_kernel_is_there(launches: dict[str, Launch]):
    assert [name for name in launches if not name.endswith("_finalize")] == KERNELS


FAULTS = {
    "no wait": ("backward", r"\tcp\.async\.wait_group[^\n]*\n", ""),
    "a wait for one group less": (
        "backward",
        r"cp\.async\.wait_group \t1",
        "cp.async.wait_group \t2",
    ),
    "a row without a group": ("backward", r"cp\.async\.commit_group;", ""),
    "no barrier": ("backward", r"\tbar\.sync[^\n]*\n", ""),
    "one half for all rows": (
        "backward",
        r"xor\.b64 (\s*%rd\d+), %rd\d+, 1;",
        r"mov.b64 \1, 0;",
    ),
    "kept: no wait": ("kept", r"\tcp\.async\.wait_group[^\n]*\n", ""),
    "kept: a wait for one group less": (
        "kept",
        r"cp\.async\.wait_group \t15",
        "cp.async.wait_group \t16",
    ),
    "kept: no empty group": (
        "kept",
        r"(?s)(cp\.async\.wait_group.*?)cp\.async\.commit_group;",
        r"\1",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault: str, launches: dict[str, Launch], written: str, plain: str):
    """The simulator sees what each part of the protocol is for."""
    name, pattern, replacement = FAULTS[fault]
    start = written.index(f".entry {name}(")
    end = written.find(".entry", start + 1) % (len(written) + 1)
    changed, count = re.subn(pattern, replacement, written[start:end], count=1)
    assert count == 1
    launch = launches[name]
    expected = simulate(plain, name, launch)
    changed = written[:start] + changed + written[end:]
    assert not is_same(expected, simulate(changed, name, launch, late=True))
