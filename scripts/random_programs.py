#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs random programs, fused against the reference, and prints failing seeds.

Each seed is one program (scripts/fuzz/generator.py), compiled for the target
and for the reference, run forward and backward, and compared as
scripts/fuzz/check.py says. A failing program is reduced by fuse-reduce, and the
file's path is printed beside its seed.

    scripts/random_programs.py --count 200 --seed 0
    scripts/random_programs.py --seed 17 --count 1 --print
    scripts/random_programs.py --file reduced.mlir --data 17
"""

from __future__ import annotations

import argparse
import collections
import os
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

SCRIPT = Path(__file__).resolve()
ROOT = SCRIPT.parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "python")]

from fuzz.check import Checker  # noqa: E402
from fuzz.generator import Program  # noqa: E402

# Seconds of one processor that one program may take.
TIMEOUT = 60
# What the compiler refuses in a sentence, and a program may ask for.
LIMITS: tuple[str, ...] = ()


def use_tools(folder: Path) -> None:
    """Makes the package load the libraries that lie beside the tools."""
    os.environ.setdefault("FUSEOPS_LIBRARY_PATH", str(folder.parent / "lib"))
    os.environ.setdefault("FUSEOPS_NUM_THREADS", "1")


def write(seed: int) -> str:
    return Program(seed).write()


def check_text(options: argparse.Namespace, text: str, seed: int) -> tuple[str, str]:
    """The kind and the details of what is wrong; empty if nothing is."""
    mismatch = Checker(text, seed, options.target, options.bin).check()
    if mismatch is None or any(limit in mismatch.text for limit in LIMITS):
        return "", ""
    return mismatch.kind, mismatch.text


def work(options: argparse.Namespace) -> int:
    """Checks the seeds that come in, one a line, and answers each with a line."""
    for line in sys.stdin:
        seed = int(line)
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + TIMEOUT, most))
        kind, text = check_text(options, write(seed), seed)
        print(f"{kind}\t{text}".replace("\n", " "), flush=True)
    return 0


class Worker:
    """A process that checks programs, started again when one ends it."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.command = [sys.executable, str(SCRIPT), "--worker", *shared_options(options)]
        self.process: subprocess.Popen[str] | None = None

    def check(self, seed: int) -> tuple[str, str]:
        if self.process is None:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                stderr=subprocess.PIPE,
            )
        process = self.process
        try:
            process.stdin.write(f"{seed}\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if answer:
            kind, _, text = answer.rstrip("\n").partition("\t")
            return kind, text
        self.process = None
        error = process.stderr.read().strip().splitlines()
        last = error[-1][:300] if error else "no output"
        if process.wait() == -signal.SIGXCPU:
            return "hang", f"no end after {TIMEOUT} s"
        return "crash", f"exit status {process.returncode}: {last}"

    def close(self) -> None:
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


def check_all(options: argparse.Namespace) -> Iterator[tuple[int, str, str]]:
    """Each seed with what is wrong with it, as workers finish."""
    seeds = iter(range(options.seed, options.seed + options.count))
    lock, found = threading.Lock(), collections.deque()
    ready = threading.Semaphore(0)

    def run() -> None:
        worker = Worker(options)
        while True:
            with lock:
                seed = next(seeds, None)
            if seed is None:
                break
            found.append((seed, *worker.check(seed)))
            ready.release()
        worker.close()

    threads = [threading.Thread(target=run, daemon=True) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for _ in range(options.count):
        ready.acquire()
        yield found.popleft()


def shared_options(options: argparse.Namespace) -> list[str]:
    return ["--target", options.target, "--bin", str(options.bin)]


def reduce(options: argparse.Namespace, seed: int, kind: str) -> str:
    """Reduces the program of a seed; a sentence that names the file."""
    options.keep.mkdir(parents=True, exist_ok=True)
    whole, reduced = (options.keep / f"{seed}{end}.mlir" for end in ("", ".reduced"))
    whole.write_text(write(seed))
    check = [sys.executable, str(SCRIPT), *shared_options(options), "--data", str(seed), "--file"]
    run = subprocess.run(
        [options.bin / "fuse-reduce", whole, "-o", reduced, f"--test={shlex.join(check)}"]
        + ([f"--match=^{kind}:"] if kind not in ("crash", "hang") else []),
        capture_output=True,
        text=True,
    )
    return str(whole if run.returncode else reduced)


def check_file(options: argparse.Namespace) -> int:
    kind, text = check_text(options, options.file.read_text(), options.data)
    print(f"{kind}: {text}" if kind else "right")
    return 1 if kind else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100, help="programs to run")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    parser.add_argument("--target", default="cpu", help="target to compare with the reference")
    parser.add_argument(
        "--bin", type=Path, default=ROOT / "build" / "dev" / "bin", help="folder of the tools"
    )
    parser.add_argument("--jobs", type=int, default=2, help="programs that run at once")
    parser.add_argument("--print", action="store_true", help="print the programs, run nothing")
    parser.add_argument("--file", type=Path, help="check this program, not random ones")
    parser.add_argument("--data", type=int, default=0, help="with --file: seed of its inputs")
    parser.add_argument("--no-reduce", action="store_true", help="leave failing programs whole")
    parser.add_argument(
        "--keep",
        type=Path,
        default=Path(tempfile.gettempdir()) / "fuseops-random-programs",
        help="folder of the failing programs",
    )
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    use_tools(options.bin)
    if options.worker:
        return work(options)
    if options.file:
        return check_file(options)
    if options.print:
        for seed in range(options.seed, options.seed + options.count):
            print(f"// seed {seed}\n{write(seed)}")
        return 0
    kinds: collections.Counter[str] = collections.Counter()
    for seed, kind, text in check_all(options):
        if kind:
            kinds[kind] += 1
            print(f"seed {seed}: {kind}: {text}", flush=True)
            if not options.no_reduce:
                print(f"  {reduce(options, seed, kind)}", flush=True)
    failures = kinds.total()
    for kind, count in kinds.most_common():
        print(f"{kind}: {count}")
    print(f"{options.count - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
