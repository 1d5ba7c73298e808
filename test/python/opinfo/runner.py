# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All samples, spread over processes, of which one may crash."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import torch

from opinfo.cases import DTYPES, cases, operators
from opinfo.check import Checker, Outcome

# So many samples without a conversion say that an operator has none.
_PROBES = 4
# Seconds of computing that one sample may take.
_PATIENCE = 120.0


@dataclass(frozen=True)
class Settings:
    """What is run."""

    dtypes: tuple[str, ...]
    limit: int
    # The dtypes in which PyTorch's own backward graphs are compared too.
    backward_graphs: tuple[str, ...] = tuple(DTYPES)
    claimed: frozenset[str] | None = None
    # The tool that makes programs which round each value.
    fuse_opt: Path = Path("fuse-opt")


# What the test suite runs.
SUITE = Settings(dtypes=("f32", "bf16", "i32"), limit=2, backward_graphs=("f32",))


def claimed_operations(fuse_opt: Path) -> frozenset[str]:
    """The operations that the converter has, without `torch.`."""
    command = [str(fuse_opt), "--list-torch-ops"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return frozenset(line.removeprefix("torch.") for line in listed.split())


def _work(connection: Connection, settings: Settings) -> None:
    """Checks one operator after another. Says which sample it's at, then what
    became of it."""
    warnings.filterwarnings("ignore")
    # What was imported stays: the collections between operators needn't look at it.
    gc.freeze()
    torch.set_num_threads(1)
    checker = Checker(settings.claimed, settings.fuse_opt)
    while True:
        # The operator, and the sample at which an earlier process ended.
        name, after = connection.recv()
        misses = 0
        for dtype in settings.dtypes:
            if misses == _PROBES:
                break
            for case in cases(name, dtype, settings.limit):
                if misses == _PROBES:
                    break
                if after is not None:
                    after = None if case.name == after else after
                    continue
                connection.send(case.name)
                # Ends the process, also where it's within the compiler or a kernel.
                signal.setitimer(signal.ITIMER_PROF, _PATIENCE)
                outcome = _check(checker, case, settings)
                signal.setitimer(signal.ITIMER_PROF, 0)
                connection.send(outcome)
                is_missing = outcome.reason.startswith("no conversion")
                if misses is not None:
                    misses = misses + 1 if is_missing else None
        connection.send(None)


def _check(checker: Checker, case: Any, settings: Settings) -> Outcome:
    try:
        return checker.check(case, case.dtype in settings.backward_graphs)
    except Exception as error:  # Whatever it is, the other samples go on.
        text = str(error).strip().splitlines()
        return Outcome(case.name, "failed", f"{type(error).__name__}: {text[0] if text else ''}")


class _Worker:
    """A process, and the sample that it's at."""

    def __init__(self, settings: Settings) -> None:
        context = multiprocessing.get_context("fork")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other, settings), daemon=True)
        self.process.start()
        other.close()
        self.name = self.at = ""

    def give(self, name: str, after: str | None) -> None:
        self.name = name
        # Nothing yet: if it ends now, then in making the samples.
        self.at = ""
        self.connection.send((name, after))

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def run(names: Sequence[str], settings: Settings, jobs: int) -> Iterator[Outcome]:
    """The outcomes, as they come."""
    waiting: list[tuple[str, str | None]] = [(name, None) for name in reversed(names)]
    workers: list[_Worker] = []
    while waiting or workers:
        while waiting and len(workers) < jobs:
            worker = _Worker(settings)
            worker.give(*waiting.pop())
            workers.append(worker)
        ready = wait([worker.connection for worker in workers])
        for worker in list(workers):
            if worker.connection in ready:
                yield from _receive(worker, workers, waiting)


def _receive(
    worker: _Worker, workers: list[_Worker], waiting: list[tuple[str, str | None]]
) -> Iterator[Outcome]:
    try:
        message = worker.connection.recv()
    except (EOFError, ConnectionError):
        workers.remove(worker)
        worker.process.join()
        code = worker.process.exitcode
        is_slow = code == -signal.SIGPROF
        reason = f"took more than {_PATIENCE:.0f} s" if is_slow else f"crashed, exit code {code}"
        yield Outcome(worker.at or worker.name, "failed", reason)
        if worker.at:
            waiting.append((worker.name, worker.at))
        return
    if isinstance(message, Outcome):
        yield message
    elif message is not None:
        worker.at = message
    elif waiting:
        worker.give(*waiting.pop())
    else:
        workers.remove(worker)
        worker.stop()


def default_names() -> list[str]:
    """Every operator of the database."""
    return list(operators())


def default_jobs() -> int:
    return os.cpu_count() or 1
