# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which checks an entry goes through in which dtypes and shapes, and the command that runs them."""

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

import torch
from fuseops import FuseOpsError
from shard import add_shard

from conformance import checks, runner, table
from conformance.case import Case, Shape, Variant, spell
from conformance.runner import FLOATS

SIZES = (0, 1, 7, 33, 513)
# Rows for more than one worker.
LONG: Shape = ("M", 3)
LARGE = 22001
# Rank 0 to 5, no and one row or column, odd extents, extents around the widths of vectors.
SHAPES: list[Shape] = [
    ("M", 64),
    ("M", 100),
    (2, "M", 5),
    ("M", 1),
    LONG,
    ("M", 513),
    (),
    (101,),
    (1, 1),
    (2, 3, 4, 9),
    ("M", 3, 33),
    (2, 1, 3, 2, 7),
    (5, 0),
    (0, 7),
]
FEW = 3
# All pairs of special values, in whole vectors.
VECTOR: Shape = (128,)
# Items that one process gets at a time.
CHUNK = 24


@dataclass(frozen=True)
class Item:
    """One check of one case."""

    op: str
    variant: str
    check: str
    target: str
    dtype: str
    shape: Shape

    def __str__(self) -> str:
        name = f"{self.op} {self.variant}".strip()
        return f"{name}: {self.check} {self.target} {self.dtype} {spell(self.shape)}"

    def case(self) -> Case:
        """The case, made anew."""
        return table.TABLE[self.op][self.variant].build(self.shape, self.dtype)


def _shapes(variant: Variant) -> list[Shape]:
    return [s for s in SHAPES if variant.takes(s)]


def plan(targets: Sequence[str], level: str, only: Sequence[str] = ("",)) -> Iterator[Item]:
    """The items of all entries."""
    for op, variants in table.TABLE.items():
        if any(o in op for o in only):
            for target in targets:
                for turn, name in enumerate(variants):
                    yield from _items(op, name, target, level, turn)


def _items(op: str, name: str, target: str, level: str, turn: int) -> Iterator[Item]:
    entry = table.TABLE[op][name]

    def item(check: str, dtype: str, shape: Shape) -> Item:
        return Item(op, name, check, target, dtype, shape)

    shapes, quick = _shapes(entry), level == "quick"
    floats = [d for d in entry.dtypes if d in FLOATS]
    first = shapes[0]
    if target == "reference":
        if "reference" in entry.excluded or (quick and not op.startswith("fuseops.")):
            return
        for dtype in entry.dtypes[:1] if quick else entry.dtypes:
            yield item("values", dtype, first)
        return
    ours = op.startswith("fuseops.")
    # Another name or form of what has checks enough.
    alias = quick and name.startswith("direct")
    if target == "cpu" and (ours or not quick):
        yield item("roundtrip", entry.dtypes[0], first)
    # Quick: shapes and dtypes take turns, so that over all variants each is met.
    dtypes = list(entry.dtypes)
    if quick:
        rest = dtypes[1:]
        dtypes = dtypes[:1] + [rest[(turn + i * 3) % len(rest)] for i in range(min(2, len(rest)))]
    for number, dtype in enumerate(dict.fromkeys(dtypes)):
        if quick:
            few = [shapes[0] if number == 0 else shapes[(turn * 2 + number) % len(shapes)]]
        else:
            few = shapes if number == 0 else shapes[:FEW]
        for shape in few:
            yield item("values", dtype, shape)
    small = LONG if entry.takes(LONG) else first
    if "differences" not in entry.excluded and "f64" in floats:
        yield item("differences", "f64", small)
    for dtype in () if alias else floats[:1] if quick else floats:
        if "kinks" not in entry.excluded:
            yield item("kinks", dtype, first)
        if entry.special and "special" not in entry.excluded:
            yield item("special", dtype, VECTOR if entry.takes(VECTOR) else (27, 81))
        if "chain" not in entry.excluded:
            yield item("chain", dtype, first)
    if floats and "chain" not in entry.excluded and (ours or not quick):
        yield item("unfused", "f64" if "f64" in floats else floats[0], small)


def perform(item: Item) -> list[str]:
    """What is wrong."""
    entry = table.TABLE[item.op][item.variant]
    try:
        case = item.case()
        sizes = SIZES if case.is_dynamic() else (1,)
        if item.shape == LONG and case.is_dynamic():
            sizes = (*SIZES, LARGE)
        if item.check == "values":
            return checks.values(case, item.target, sizes)
        if item.check == "chain":
            chain = case.chained()
            return [] if chain is None else checks.values(chain, item.target, (7, 33))
        if item.check == "differences":
            return checks.differences(case, item.target)
        if item.check == "kinks":
            return checks.kinks(case, item.target)
        if item.check == "special":
            return checks.special(case, item.target, entry.excluded)
        if item.check == "unfused":
            return checks.unfused(case, item.target, 5)
        return checks.roundtrip(case)
    except FuseOpsError as error:
        return [f"refused: {str(error).splitlines()[0]}"]
    except AssertionError as error:
        return [f"assertion: {error}"]
    except (RuntimeError, ValueError, TypeError, IndexError) as error:
        return [f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"]


def prepare(item: Item) -> list[str]:
    """Compiles an item's programs into the folder of programs; what is wrong."""
    if item.check == "roundtrip":
        return []
    try:
        case = item.case()
        cases = [case]
        if item.check in ("chain", "unfused"):
            chain = case.chained()
            if chain is None:
                return []
            cases = [chain] if item.check == "chain" else [case, chain, *checks.links(case)]
        for one in cases:
            runner.compile_bytes(one.text(), item.target)
    except FuseOpsError as error:
        return [f"refused: {str(error).splitlines()[0]}"]
    return []


def _start(folder: Path | None) -> None:
    """Each process has one core."""
    torch.set_num_threads(1)
    runner.Programs.folder = folder


def share(items: Sequence[Item], part: tuple[int, int]) -> list[Item]:
    """Part number part[0] of part[1] parts, by whole chunks. The parts of a list are alike."""
    index, count = part
    chunks = [items[i : i + CHUNK] for i in range(0, len(items), CHUNK)]
    return [item for chunk in chunks[index::count] for item in chunk]


Action = Callable[[Item], list[str]]


class _Worker:
    """A process that runs chunks of items, and another one after it has died."""

    def __init__(self, action: Action) -> None:
        self._action = action
        self._pool: ProcessPoolExecutor | None = None

    def run(self, chunk: Sequence[Item]) -> list[list[str]]:
        """What is wrong with each item."""
        found = []
        for item in chunk:
            if self._pool is None:
                context = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(
                    1, mp_context=context, initializer=_start, initargs=(runner.Programs.folder,)
                )
            try:
                found.append(self._pool.submit(self._action, item).result())
            except BrokenProcessPool:
                found.append(["the process died"])
                self._pool = None
        return found

    def stop(self) -> None:
        """Ends the process."""
        if self._pool is not None:
            self._pool.shutdown()


def in_parallel(
    items: Sequence[Item], jobs: int, action: Action = perform
) -> Iterator[tuple[Item, list[str]]]:
    """Each item with what is wrong, in order. Chunks follow the table, so that a process meets the
    checks of one program together and compiles it once."""
    if jobs == 1:
        _start(runner.Programs.folder)
        for item in items:
            yield item, action(item)
        return
    workers: Queue[_Worker] = Queue()
    for _ in range(jobs):
        workers.put(_Worker(action))

    def run(chunk: Sequence[Item]) -> list[list[str]]:
        worker = workers.get()
        try:
            return worker.run(chunk)
        finally:
            workers.put(worker)

    chunks = [items[i : i + CHUNK] for i in range(0, len(items), CHUNK)]
    with ThreadPoolExecutor(jobs) as threads:
        for chunk, found in zip(chunks, threads.map(run, chunks), strict=True):
            yield from zip(chunk, found, strict=True)
    while not workers.empty():
        workers.get().stop()


def describe(op: str) -> str:
    """An entry's lines of the list."""
    lines = [op]
    groups: dict[str, list[str]] = {}
    for name, variant in table.TABLE[op].items():
        shapes = " ".join(spell(s) for s in _shapes(variant))
        text = f"{' '.join(variant.dtypes)}; {shapes}"
        for what, reason in variant.excluded.items():
            text += f"; no {what}: {reason}"
        groups.setdefault(text, []).append(name)
    for text, names in groups.items():
        named = ", ".join(n for n in names if n)
        lines.append(f"  {named}: {text}" if named else f"  {text}")
    return "\n".join(lines)


def main() -> int:
    """The command scripts/conformance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--target", action="append", help="cpu, cuda or reference; more than once (default: cpu)"
    )
    parser.add_argument(
        "--op", action="append", help="operations whose name contains this; more than once"
    )
    parser.add_argument("--list", action="store_true", help="print the table and stop")
    parser.add_argument("--quick", action="store_true", help="what pytest runs")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--check", default="", help="only this kind of check")
    add_shard(parser)
    parser.add_argument(
        "--programs", type=Path, help="a folder of program files; what it lacks is compiled into it"
    )
    parser.add_argument("--compile-only", action="store_true", help="fill --programs and stop")
    parser.add_argument("--verbose", action="store_true", help="a line for each check")
    options = parser.parse_args()
    only = options.op or [""]
    if options.list:
        for op in table.TABLE:
            if any(o in op for o in only):
                print(describe(op))
        return 0
    targets = options.target or ["cpu"]
    runner.Programs.folder = options.programs
    needs_gpu = any(runner.device_of(t).type == "cuda" for t in targets)
    if needs_gpu and not options.compile_only and not torch.cuda.is_available():
        print("error: no CUDA device here", file=sys.stderr)
        return 2
    level = "quick" if options.quick else "full"
    items = [i for i in plan(targets, level, only) if options.check in i.check]
    items = share(items, options.shard)
    action = prepare if options.compile_only else perform
    start, passed, failed = time.monotonic(), Counter(), Counter()
    shown = None
    for item, failures in in_parallel(items, options.jobs, action):
        if item.op != shown:
            _summary(shown, passed, failed)
            shown = item.op
        (failed if failures else passed)[item.op] += 1
        if failures or options.verbose:
            print(f"{'FAIL' if failures else 'ok  '} {item}", flush=True)
        for line in failures[:4]:
            print(f"       {line}", flush=True)
    _summary(shown, passed, failed)
    seconds = time.monotonic() - start
    print(
        f"{len({i.op for i in items})} operations, {len(items)} checks on {', '.join(targets)}, "
        f"{seconds:.0f} s"
    )
    print(f"{passed.total()} passed, {failed.total()} failed")
    return 1 if failed or not passed else 0


def _summary(op: str | None, passed: Counter, failed: Counter) -> None:
    if op is not None:
        print(f"{passed[op]} passed, {failed[op]} failed: {describe(op)}", flush=True)
