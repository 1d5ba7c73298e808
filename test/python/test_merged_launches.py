# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What runs as parts of one launch leaves the same bits as one launch after another,
whatever order its warps and blocks run in, and the launches are as few as promised."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

import fuseops
import launch_plan
import numpy as np
import ptx_simulator as ptx
import pytest
from conftest import BIN, ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

from rows import list_cases

PROGRAM = ROOT / "test" / "Integration" / "CPU" / "merged-launches.mlir"
SEPARATE = "convert-fuseops-to-kernels{target=cuda}"


def lower(*passes: str) -> str:
    """The program's launches and kernels by these passes after the plan."""
    plan = fuseops.emit(PROGRAM.read_text(), "ir", target="cuda:sm_90a", compile_to="fusion")
    command = [str(BIN / "fuse-opt"), f"--pass-pipeline=builtin.module({','.join(passes)})"]
    return subprocess.run(
        command, input=plan.decode(), capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture(scope="module")
def separate() -> str:
    return lower(SEPARATE)


@pytest.fixture(scope="module")
def merged() -> str:
    return lower(SEPARATE, "fuseops-merge-launches")


def to_ptx(lowered: str) -> str:
    return fuseops.emit(lowered, "ptx", target="cuda:sm_90a").decode()


def run(lowered: str, text: str, symbol: int, seed: int = 0) -> list[np.ndarray]:
    """What the program returns."""
    plan = launch_plan.parse(lowered, symbol)
    generator = np.random.default_rng(1)
    views = dict(re.findall(r"(%\w+) = fuseops\.reshape (%[\w#]+)", lowered))
    values: dict[str, np.ndarray] = {}

    def look_up(name: str) -> np.ndarray:
        while name in views:
            name = views[name]
        return values[name]

    inputs = {n: k for launch in plan for n, k in zip(launch.operands, launch.inputs, strict=True)}
    for name in sorted(name for name in inputs if name.startswith("%arg")):
        values[name] = launch_plan.make(inputs[name], symbol, generator)
    for launch in plan:
        outputs = [launch_plan.make(kind, symbol, None) for kind in launch.outputs]
        buffers = [look_up(name) for name in launch.operands] + outputs
        launch_plan.run(launch, text, buffers, late=True, seed=seed)
        values.update(zip(launch.results, outputs, strict=True))
    returned = re.search(r"fuseops\.return (.*?)(?: save\(.*)? : ", lowered)
    assert returned
    return [look_up(name) for name in returned.group(1).split(", ")]


def is_same(first: list[np.ndarray], second: list[np.ndarray]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("symbol", [1, 130])
@pytest.mark.parametrize("seed", [0, 1])
def test_same_bits(symbol: int, seed: int, separate: str, merged: str):
    expected = run(separate, to_ptx(separate), symbol)
    assert not any(np.all(output == launch_plan.UNWRITTEN) for output in expected)
    assert is_same(expected, run(merged, to_ptx(merged), symbol, seed))


def test_launches_are_merged(separate: str, merged: str):
    count = [len(launch_plan.parse(text, 1)) for text in (separate, merged)]
    assert count == [12, 4]


def test_missing_barrier_is_found(separate: str, merged: str):
    """Without it a warp reads what another has not yet written: the sums of the strips
    of both finalize kernels, and the newest amax where the history is rolled. Of the
    other two, the warp that reads is the one that wrote."""
    text = to_ptx(merged)
    expected = run(separate, to_ptx(separate), 130)
    start = text.index(".entry forward_2_finalize_0(")
    end = text.find(".entry", start + 1) % (len(text) + 1)
    barriers = [match.span() for match in re.finditer(r"\tbar\.sync[^\n]*\n", text[start:end])]
    changed = [text[: start + first] + text[start + last :] for first, last in barriers]
    wrong = [not is_same(expected, run(merged, without, 130, seed=4)) for without in changed]
    assert wrong == [True, True, False, True, False]


def test_finalize_waits_first(merged: str):
    """It may start while the kernel before ends: nothing is read before the wait."""
    code = ptx.parse(to_ptx(merged), "forward_2_finalize_0").code
    operations = [operation for _, operation, _ in code]
    assert operations.count("griddepcontrol.wait") == 1
    before = operations[: operations.index("griddepcontrol.wait")]
    assert not [name for name in before if name.startswith(("ld.global", "st.", "bra", "@"))]


def rows_by_recipe() -> Iterator[tuple[str, int]]:
    """Rows with one scale a tensor, and how many launches they may have."""
    for case in list_cases():
        if case.name.endswith(".delayed") and "llama" not in case.name:
            yield case.name, 3 if "rmsnorm" in case.name and "_rc" in case.name else 2
        elif "_current" in case.name:
            yield case.name, 3


@pytest.mark.parametrize(("name", "launches"), sorted(set(rows_by_recipe())))
def test_rows_have_few_launches(name: str, launches: int):
    """One kernel and its finalize for a scale that is known, two for the tensor's own;
    one more where a norm's statistics are computed before the tiles."""
    case = next(case for case in list_cases(name) if case.name == name)
    options = {"target": "cuda:sm_90a", "recipe": case.recipe, "entry": case.entry}
    plan = fuseops.emit(case.source(), "ir", compile_to="lowering", **options).decode()
    assert len(launch_plan.parse(plan, 130)) <= launches
