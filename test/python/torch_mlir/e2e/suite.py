# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch-mlir's end-to-end tests, each run against FuseOps in a forked child.

The tests themselves come from a checkout of torch-mlir; what is ours is which of them we claim.
"""

from __future__ import annotations

import importlib
import pkgutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SOURCES = ("projects/pt1/python/torch_mlir_e2e_test", "projects/pt1/python/torch_mlir/_version.py")


@dataclass(frozen=True)
class Outcome:
    """What came of one test; `reason` is empty where it passed."""

    name: str
    reason: str = ""


def read_names() -> dict[str, list[str]]:
    """The claimed tests by family, in the order of names.txt."""
    families: dict[str, list[str]] = {}
    for line in (HERE / "names.txt").read_text().splitlines():
        if line.startswith("# "):
            names = families.setdefault(line.removeprefix("# "), [])
        else:
            names.extend(line.split())
    return families


def read_failures() -> dict[str, str]:
    """The tests that are expected to fail, with the reason."""
    lines = (HERE / "failures.txt").read_text().splitlines()
    split = (line.split(": ", 1) for line in lines if line and not line.startswith("#"))
    return {name: reason for name, reason in split}


def find_sources(checkout: Path, folder: Path) -> Path | None:
    """The folder to import from: the working tree's, or one extracted into `folder` from a git
    directory without one. None where there is no suite."""
    if (checkout / SOURCES[0]).is_dir():
        return (checkout / SOURCES[0]).parent
    archive = subprocess.run(
        ["git", "--git-dir", str(checkout), "archive", "HEAD", *SOURCES], capture_output=True
    )
    if archive.returncode != 0:
        return None
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return (folder / SOURCES[0]).parent


def revision(checkout: Path) -> str:
    """The checkout's commit, `unknown` where git doesn't say."""
    for options in (["-C", str(checkout)], ["--git-dir", str(checkout)]):
        command = ["git", *options, "log", "-1", "--format=%h (%cs)"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.strip()
    return "unknown"


def load_tests(sources: Path) -> dict[str, Any]:
    """The registered tests by name. Test modules that need packages that aren't there (torchvision)
    are left out: a claimed test that is missing fails."""
    sys.path.insert(0, str(sources))
    from torch_mlir_e2e_test import registry, test_suite  # noqa: PLC0415

    for module in pkgutil.iter_modules(test_suite.__path__):
        try:
            importlib.import_module(f"{test_suite.__name__}.{module.name}")
        except ModuleNotFoundError as error:
            print(f"left out: {module.name} ({error})", file=sys.stderr)
    return {test.unique_name: test for test in registry.GLOBAL_TEST_REGISTRY}


def _make_config(backend: Any) -> Any:
    import torch  # noqa: PLC0415
    from fuseops.torch_mlir import export_and_import  # noqa: PLC0415
    from torch.export.graph_signature import OutputKind  # noqa: PLC0415
    from torch_mlir_e2e_test import framework  # noqa: PLC0415

    class FuseOpsConfig(framework.TestConfig):
        """Exports, imports and compiles for each call, as the arguments' sizes are known then."""

        def compile(self, program: Any, verbose: bool = False) -> Any:
            return program

        def run(self, artifact: Any, trace: Any) -> Any:
            return [
                framework.TraceItem(item.symbol, item.inputs, self._call(artifact, item.inputs))
                for item in trace
            ]

        def _call(self, artifact: Any, inputs: list[Any]) -> Any:
            exported = torch.export.export(artifact, tuple(inputs), strict=True)
            program = exported.run_decompositions({})
            invoker = backend.load(backend.compile(export_and_import(program)))
            results = invoker.main(*inputs)
            results = results if isinstance(results, tuple) else (results,)
            outputs = program.graph_signature.output_specs
            wanted = [
                result
                for result, output in zip(results, outputs, strict=True)
                if output.kind == OutputKind.USER_OUTPUT
            ]
            return wanted[0] if len(wanted) == 1 else tuple(wanted)

    return FuseOpsConfig()


def _first_error(text: str) -> str:
    """The line of a failure that says why: the exception's, the compiler's error rather than the
    line that repeats it."""
    lines = [line.strip() for line in text.strip().splitlines()]
    errors = [line for line in lines if ": error: " in line]
    if errors:
        return errors[0].split(": error: ", 1)[1]
    raised = [line for line in lines if "Error" in line.split(":")[0]]
    return (raised or lines or ["failed without a reason"])[-1]


def _run_test(test: Any, target: str) -> str:
    from fuseops.torch_mlir import FuseOpsBackend  # noqa: PLC0415
    from torch_mlir_e2e_test import framework, reporting  # noqa: PLC0415

    config = _make_config(FuseOpsBackend(target))
    result = framework.compile_and_run_test(test, config)
    report = reporting.SingleTestReport(result, reporting.ErrorContext.empty())
    return _first_error(report.error_str()) if report.failed else ""


def _work(connection: Connection, test: Any, target: str) -> None:
    import torch  # noqa: PLC0415

    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    connection.send(_run_test(test, target))


def warm_up(target: str) -> None:
    """Runs a program of our own, so that what the first export imports is there for all
    children."""
    import torch  # noqa: PLC0415
    from fuseops.torch_mlir import FuseOpsBackend  # noqa: PLC0415
    from torch_mlir_e2e_test import framework  # noqa: PLC0415

    class Negate(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return -x

    trace = [framework.TraceItem("forward", [torch.ones(2)], None)]
    _make_config(FuseOpsBackend(target)).run(Negate(), trace)


def run_tests(
    names: list[str], tests: dict[str, Any], target: str, jobs: int, limit: float = 120
) -> Iterator[Outcome]:
    """Runs tests in children of their own, `jobs` at a time, each for at most `limit` seconds."""
    context = get_context("fork")
    todo = list(reversed(names))
    running: dict[Connection, tuple[Any, str]] = {}
    while todo or running:
        while todo and len(running) < jobs:
            name = todo.pop()
            if name not in tests:
                yield Outcome(name, "the suite has no test of that name")
                continue
            near, far = context.Pipe()
            process = context.Process(target=_work, args=(far, tests[name], target), daemon=True)
            process.start()
            far.close()
            running[near] = (process, name)
        ready = wait(list(running), timeout=limit)
        for near in ready or list(running):
            process, name = running.pop(near)
            yield Outcome(name, _receive(near, process) if ready else _give_up(process, limit))


def _receive(near: Connection, process: Any) -> str:
    try:
        reason = near.recv()
    except EOFError:
        process.join()
        code = process.exitcode
        return f"died with {signal.Signals(-code).name if code < 0 else f'status {code}'}"
    process.join()
    return reason


def _give_up(process: Any, limit: float) -> str:
    process.kill()
    process.join()
    return f"no result within {limit:g} s"
