# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every operation of the table through the quick level of its checks, two processes at a time."""

import multiprocessing
from collections import defaultdict

import pytest

from conformance import suite
from conformance.table import TABLE


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list[str]]:
    """What is wrong, by operation."""
    items = list(suite.plan(["cpu", "reference"], "quick"))
    found: dict[str, list[str]] = defaultdict(list)
    for item, failures in suite.in_parallel(items, multiprocessing.cpu_count()):
        found[item.op] += [f"{item}: {line}" for line in failures]
    return found


@pytest.mark.parametrize("op", TABLE)
def test_operation(op: str, outcomes: dict[str, list[str]]):
    assert not outcomes[op], "\n".join(outcomes[op])
