# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`compile` and `load`, as torch-mlir's backends have them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from fuseops.arrays import torch_dtype
from fuseops.compiler import compile_ir
from fuseops.errors import FuseOpsError
from fuseops.program import Program
from fuseops.torch_mlir.signature import Signature, read_signatures

_NUMBERS = ("!torch.int", "!torch.float", "!torch.bool")


@dataclass(frozen=True)
class Artifact:
    """What `compile` makes: a program and a signature for each function, by name."""

    programs: dict[str, Program]
    signatures: dict[str, Signature]


class Invoker:
    """The functions of an artifact as methods; see `FuseOpsBackend.load`."""

    def __init__(self, artifact: Artifact) -> None:
        self._artifact = artifact

    def __getattr__(self, name: str) -> Callable[..., Any]:
        programs = self._artifact.programs
        if name not in programs:
            known = ", ".join(f"`{each}`" for each in programs)
            raise AttributeError(f"expected one of the functions {known}, but got `{name}`")
        signature = self._artifact.signatures[name]
        return lambda *arrays: _call(programs[name], signature, arrays)


class FuseOpsBackend:
    """Compiles modules of torch-mlir with FuseOps.

    `target` and `recipe` are `fuseops.compile_ir`'s.
    """

    def __init__(self, target: str = "cpu", recipe: str = "none") -> None:
        self._options = {"target": target, "recipe": recipe}

    def compile(self, module: Any) -> Artifact:
        """Compiles every public function of a module of torch_mlir, or of its text in the pretty
        or the generic form.

        Raises FuseOpsError with the compiler's diagnostics.
        """
        text = module if isinstance(module, str) else _print(module)
        signatures = {each.name: each for each in read_signatures(text)}
        if not signatures:
            raise FuseOpsError("expected a public `func.func`, but the module has none")
        programs = {name: compile_ir(text, entry=name, **self._options) for name in signatures}
        return Artifact(programs, signatures)

    def load(self, artifact: Artifact) -> Invoker:
        """An object with one method for each function.

        A method takes one value for each argument: torch tensors, or NumPy arrays where bf16 is
        uint16 and FP8 is uint8; numbers for `!torch.int`, `!torch.float` and `!torch.bool`. It
        returns arrays of the same kind (torch tensors where no argument is an array), Python
        numbers for results that are numbers, and None for `!torch.none`; a tuple where there is
        not exactly one. The new values of arguments that the function writes come first.

        A function with random operations draws a state from the generator of torch or NumPy, or
        takes it as one more argument, two i64: seed and offset.
        """
        return Invoker(artifact)


def _print(module: Any) -> str:
    """A module's text with its locations. One that upstream's verifier refuses prints in the
    generic form, which is as good."""
    operation = getattr(module, "operation", None)
    if operation is None:
        raise FuseOpsError(
            f"expected a module of torch_mlir or its text, but got {type(module).__name__}"
        )
    return operation.get_asm(enable_debug_info=True)


def _choose_device(arrays: tuple[Any, ...], target: str) -> torch.device | None:
    """Where torch tensors go; None for NumPy."""
    for array in arrays:
        if isinstance(array, torch.Tensor):
            return array.device
    if any(isinstance(array, (np.ndarray, np.generic)) for array in arrays):
        return None
    return torch.device("cuda" if target.startswith("cuda") else "cpu")


def _number(value: Any, dtype: str, device: torch.device | None) -> Any:
    """A Python number as an array of rank 0."""
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return value
    tensor = torch.tensor(value, dtype=torch_dtype(dtype), device=device)
    return tensor.numpy() if device is None else tensor


def _random_state(device: torch.device | None) -> Any:
    limit = 2**63 - 1
    if device is None:
        return np.random.randint(0, limit, 2, dtype=np.int64)
    return torch.randint(0, limit, (2,), device=device)


def _call(program: Program, signature: Signature, arrays: tuple[Any, ...]) -> Any:
    device = _choose_device(arrays, program.target)
    arguments = program.arguments
    if len(arrays) == len(signature.arguments) == len(arguments) - 1:
        arrays = (*arrays, _random_state(device))
    if len(arrays) != len(arguments):
        raise FuseOpsError(
            f"expected {len(signature.arguments)} arguments of `{signature.name}`, "
            f"but got {len(arrays)}"
        )
    given = [
        _number(array, dtype, device)
        for array, (_, dtype, _) in zip(arrays, arguments, strict=True)
    ]
    results, _ = program.forward(*given)
    if device is not None and not given:
        results = tuple(
            _as_torch(result, dtype)
            for result, (_, dtype, _) in zip(results, program.results, strict=True)
        )
    return _restore(results, signature.results)


def _as_torch(result: Any, dtype: str) -> torch.Tensor:
    """A result of a program without arguments, which are what says whose arrays it makes."""
    if isinstance(result, torch.Tensor):
        return result
    return torch.from_numpy(result).view(torch_dtype(dtype))


def _restore(results: tuple[Any, ...], kinds: tuple[str, ...]) -> Any:
    """The results as the function's caller expects them; what it writes has no kind."""
    num_written = len(results) - sum(kind != "!torch.none" for kind in kinds)
    restored, rest = list(results[:num_written]), iter(results[num_written:])
    for kind in kinds:
        value = None if kind == "!torch.none" else next(rest)
        restored.append(value.item() if kind in _NUMBERS else value)
    return restored[0] if len(restored) == 1 else tuple(restored)
