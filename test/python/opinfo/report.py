# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts of what became of the samples, by operator and by operation."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from opinfo.check import Outcome

# The operations that the samples of test_opinfo.py run, one a line.
RECORD = Path(__file__).resolve().parent / "operations.txt"
_COLUMNS = ("samples", "passed", "gradient", "backward graph", "excluded", "failed")


def covered_operations() -> frozenset[str]:
    """The operations that the samples of the test suite run, as recorded."""
    return frozenset(RECORD.read_text().split())


class Report:
    """Collects outcomes."""

    def __init__(self, claimed: Iterable[str]) -> None:
        self.claimed = sorted(claimed)
        self.outcomes: list[Outcome] = []
        # What of the database the converter has nothing for at all.
        self._by_operator: dict[str, Counter[str]] = defaultdict(Counter)
        self._reasons: dict[str, Counter[str]] = defaultdict(Counter)
        self._operations: Counter[str] = Counter()
        self._backward_graphs: Counter[str] = Counter()

    def add(self, outcome: Outcome) -> None:
        """One more sample."""
        self.outcomes.append(outcome)
        operator = outcome.case.split("/")[0]
        counts = self._by_operator[operator]
        counts.update(["samples", outcome.status])
        counts.update(check for check in outcome.checks if check != "forward")
        if outcome.status == "excluded":
            self._reasons[operator][outcome.reason] += 1
        elif outcome.status == "passed":
            self._operations.update(outcome.operations)
            self._backward_graphs.update([outcome.backward_graph] if outcome.backward_graph else [])

    def count(self, status: str) -> int:
        """How many samples ended so."""
        return sum(outcome.status == status for outcome in self.outcomes)

    @property
    def failures(self) -> list[Outcome]:
        """The samples that are wrong."""
        return [outcome for outcome in self.outcomes if outcome.status == "failed"]

    def covered(self) -> frozenset[str]:
        """The operations that have a conversion and are in a sample that passed."""
        return frozenset(self.claimed).intersection(self._operations)

    def unexercised(self) -> list[str]:
        """Operations that have a conversion and are in no sample that passed."""
        return [name for name in self.claimed if name not in self._operations]

    def _is_foreign(self, operator: str) -> bool:
        """Whether the converter has nothing for any of the operator's samples."""
        counts, reasons = self._by_operator[operator], self._reasons[operator]
        missing = sum(n for reason, n in reasons.items() if reason.startswith("no conversion"))
        return counts["passed"] + counts["failed"] == 0 and missing > 0

    def text(self) -> str:
        """The tables."""
        operators = sorted(self._by_operator)
        shown = [name for name in operators if not self._is_foreign(name)]
        lines = ["operator".ljust(48) + "".join(column.rjust(15) for column in _COLUMNS)]
        total: Counter[str] = Counter()
        for name in shown:
            counts = self._by_operator[name]
            total.update(counts)
            lines.append(name.ljust(48) + "".join(str(counts[c]).rjust(15) for c in _COLUMNS))
        lines.append("all".ljust(48) + "".join(str(total[c]).rjust(15) for c in _COLUMNS))
        lines += ["", "excluded, by operator and reason"]
        for name in shown:
            for reason, count in sorted(self._reasons[name].items()):
                lines.append(f"{name.ljust(48)}{count:>7}  {reason}")
        lines += ["", "PyTorch's backward graphs that weren't compared, by reason"]
        lines += [f"{n:>7}  {reason}" for reason, n in sorted(self._backward_graphs.items())]
        lines += ["", "operations in samples that passed"]
        lines += [f"{name.ljust(60)}{count:>7}" for name, count in sorted(self._operations.items())]
        lines += ["", "operations that have a conversion and no sample that passed"]
        lines += [", ".join(self.unexercised()) or "none"]
        foreign = [name for name in operators if self._is_foreign(name)]
        lines += ["", f"{len(foreign)} operators of which no sample has a conversion"]
        lines += [", ".join(foreign) or "none"]
        return "\n".join(lines)

    def failures_text(self) -> str:
        """The failures, one a paragraph."""
        return "\n".join(f"{outcome.case}: {outcome.reason}" for outcome in self.failures)

    def record(self) -> None:
        """Makes what was covered the record."""
        RECORD.write_text("".join(f"{name}\n" for name in sorted(self.covered())))

    def write(self, path: Path) -> None:
        """All outcomes as JSON."""
        path.write_text(json.dumps([asdict(outcome) for outcome in self.outcomes], indent=1))
