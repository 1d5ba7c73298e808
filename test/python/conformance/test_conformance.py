# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every operation of the table through the quick level of its checks, two processes at a time."""

import multiprocessing
from collections import defaultdict

import pytest
from shard import part_of

from conformance import suite
from conformance.case import Shape
from conformance.table import TABLE


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list[str]]:
    """What is wrong, by operation."""
    items = list(suite.plan(["cpu", "reference"], "quick"))
    found: dict[str, list[str]] = defaultdict(list)
    for item, failures in suite.in_parallel(items, multiprocessing.cpu_count()):
        found[item.op] += [f"{item}: {line}" for line in failures]
    return found


def test_parts_are_all_items() -> None:
    items = list(suite.plan(["cpu"], "quick"))
    parts = [suite.share(items, part_of(f"{i}/7")) for i in range(7)]
    assert sorted(map(str, items)) == sorted(str(item) for part in parts for item in part)
    assert min(map(len, parts)) > len(items) / 8


@pytest.mark.parametrize(
    ("op", "check", "shape"),
    [
        # A matrix with more rows than columns, whose gradient torch has wrong.
        ("aten.trace", "values", ("M", 3)),
        # A constant is the same in the chain and in its parts.
        ("aten.soft_margin_loss", "unfused", ("M", 3)),
        ("aten.nll_loss_backward", "unfused", (101,)),
    ],
)
def test_item_of_the_full_level(op: str, check: str, shape: Shape) -> None:
    planned = suite.plan(["cpu"], "full", [op])
    items = [i for i in planned if (i.op, i.check, i.shape) == (op, check, shape)]
    assert items
    for item in items:
        assert suite.perform(item) == []


@pytest.mark.parametrize("op", TABLE)
def test_operation(op: str, outcomes: dict[str, list[str]]):
    assert not outcomes[op], "\n".join(outcomes[op])
