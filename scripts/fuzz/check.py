# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares a compiled program with its f64 reference, on the CPU or, through PyTorch, a GPU.

Every output must be near the reference, in the 2-norm and in each element, for
the least precise type that it depends on (the compiler's report says which).
Where it is not, the program may be badly conditioned (a difference of equal
numbers, a norm of three elements), or a value may lie next to a kink, where a
rounding chooses another slope: then the reference is evaluated again with the
noise of `NOISE` roundings on every value, derived gradients too
(fuseops-perturb), and the output must be as near to the reference as any two of
these results are to one another: the reference is one of them, and where noise
leaves nothing of a value, as of the sine of a large number, it may be the one
farthest out. Noise of one rounding, and `NOISE` times what it changes, would be the
same bound for what is smooth, but would seldom take a value over a kink. In every
second of these results what a type cannot hold is infinite: where that decides,
the output may be finite or not.
"""

from __future__ import annotations

import itertools
import math
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fuseops import FuseOpsError, Program, emit
from fuseops.arrays import from_bf16, to_bf16

# Unit roundoffs.
ROUNDOFF = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
ROUNDOFF |= {"f8E4M3FN": 2.0**-4, "f8E5M2": 2.0**-3, "f8E8M0FNU": 0.0}
# Roundoffs that an output may be away: of its 2-norm, and of its largest element.
NORM_SLACK = 4.0
ELEMENT_SLACK = 8.0
# Perturbed references, and how many roundings their noise is. A value as far from a
# kink as its rounding is over it in four samples of ten. Where noise leaves nothing
# of a number, the program and the reference are the two farthest of all results, and
# a right program is called wrong, in one of 153 cases.
SAMPLES = 16
NOISE = 4.0
SYMBOLS = (1, 2, 7, 33)
OVERFLOW = "not finite"


@dataclass(frozen=True)
class Mismatch:
    """What is wrong with a program: a kind to count by, and the details."""

    kind: str
    text: str


def make_argument(
    generator: np.random.Generator, dtype: str, shape: tuple[int, ...], facts: dict[str, Any]
) -> np.ndarray:
    """Random numbers for an argument; floats as f64 that its type can hold."""
    role = facts.get("role")
    if role == "random_state":
        return np.array([generator.integers(1 << 40), generator.integers(1 << 20)])[: shape[0]]
    if dtype == "i1":
        return generator.integers(0, 2, shape).astype(bool)
    if dtype not in ROUNDOFF:
        return generator.integers(0 if dtype == "u8" else -3, 4, shape)
    values = generator.standard_normal(shape)
    if role == "gamma":
        values = 1 + 0.1 * values
    elif role == "bias":
        values = 0.1 * values
    elif role == "weight":
        values = values / math.sqrt(max(1, facts.get("contraction", 0)))
    return decode(encode(values, dtype), dtype)


def encode(values: np.ndarray, dtype: str) -> np.ndarray:
    """The array that holds the values as `dtype`."""
    if dtype == "bf16":
        return to_bf16(values)
    kinds = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i1": np.bool_}
    kinds |= {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
    with np.errstate(over="ignore"):
        return np.asarray(values).astype(kinds[dtype])


def decode(array: np.ndarray, dtype: str) -> np.ndarray:
    """The values of an array that holds `dtype`, floats as f64."""
    if dtype == "bf16":
        return from_bf16(array).astype(np.float64)
    return array.astype(np.float64) if dtype in ROUNDOFF else array


def to_torch(array: np.ndarray, dtype: str) -> Any:
    """The tensor of an array of `encode`: NumPy has no bf16, only its bits."""
    import torch  # noqa: PLC0415 (only a GPU needs it)

    if dtype == "bf16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def to_numpy(tensor: Any, dtype: str) -> np.ndarray:
    """The array that `decode` takes, of a tensor on the CPU."""
    import torch  # noqa: PLC0415

    return tensor.view(torch.int16).numpy().view(np.uint16) if dtype == "bf16" else tensor.numpy()


class Runner(Program):
    """A program that takes and gives values whatever its element types are."""

    @property
    def device(self) -> str | None:
        """Where PyTorch's tensors of the values are, none where NumPy's arrays hold them."""
        return "cuda" if self.target.startswith("cuda") else None

    def run_values(
        self, inputs: list[np.ndarray], generator: np.random.Generator
    ) -> dict[str, list[np.ndarray | None]]:
        """The values of the outputs of each entry; gradients are drawn."""
        entry = self._forward
        arrays = [
            self._encode(values, info.dtype)
            for values, info in zip(inputs, entry.inputs, strict=True)
        ]
        results, context = self.forward(*arrays)
        infos = entry.outputs[: entry.num_results]
        outputs = {"forward": self._decode(results, infos)}
        if self._backward is None:
            return outputs
        shapes = {
            info.name: tuple(result.shape) for result, info in zip(results, infos, strict=True)
        }
        # Frozen results have no gradient.
        gradients = []
        for info in self._backward.inputs[: self._backward.num_gradients]:
            shape = shapes[info.name.removeprefix("grad_")]
            drawn = generator.standard_normal(shape).astype(np.float16)
            drawn = decode(to_bf16(drawn.astype(np.float32)), "bf16")
            gradients.append(self._encode(drawn, info.dtype))
        found = context.backward(*gradients)
        outputs["backward"] = self._decode(found, self._backward.outputs)
        return outputs

    def _encode(self, values: np.ndarray, dtype: str) -> Any:
        array = encode(values, dtype)
        return array if self.device is None else to_torch(array, dtype).to(self.device)

    def _decode(self, arrays: tuple, infos: tuple) -> list[np.ndarray | None]:
        if self.device is not None:
            arrays = tuple(
                None if array is None else to_numpy(array.cpu(), info.dtype)
                for array, info in zip(arrays, infos, strict=True)
            )
        return [
            None if array is None else decode(array, info.dtype)
            for array, info in zip(arrays, infos, strict=True)
        ]


class Checker:
    """Checks the program of one source text."""

    def __init__(self, text: str, seed: int, target: str, tools: Path) -> None:
        self.text = text
        self.seed = seed
        self.target = target
        self.tools = tools
        self.symbol = random.Random(seed).choice(SYMBOLS)
        # Of each argument, its name, type and shape in the program, and its role.
        self.arguments: list = []

    def compile(self) -> Runner:
        return Runner(emit(self.text, target=self.target))

    def run(self, program: Runner) -> dict[str, list[np.ndarray | None]]:
        generator = np.random.default_rng(self.seed)
        inputs = []
        for (_, dtype, shape), fact in self.arguments:
            sizes = tuple(self.symbol if extent is None else extent for extent in shape)
            inputs.append(make_argument(generator, dtype, sizes, fact))
        return program.run_values(inputs, generator)

    def perturb(self, sample: int) -> str:
        """The program with its derived gradients, and noise in both; every second
        sample's types have a range."""
        whole = emit(self.text, "ir", target=self.target, compile_to="saved")
        noise = f"seed={self.seed + sample} magnitude={NOISE} overflows={sample % 2}"
        run = subprocess.run(
            [self.tools / "fuse-opt", "-", f"-fuseops-perturb={noise}"],
            input=whole,
            capture_output=True,
            check=True,
        )
        return run.stdout.decode()

    def check(self) -> Mismatch | None:
        """What is wrong; nothing if the program is right."""
        try:
            program = self.compile()
        except FuseOpsError as error:
            return Mismatch("refused", first_line(str(error)))
        try:
            reference = Runner(emit(self.text, target="reference"))
        except FuseOpsError as error:
            return Mismatch("reference refused", first_line(str(error)))
        self.arguments = list(zip(program.arguments, program.report["arguments"], strict=True))
        actual, expected = self.run(program), self.run(reference)
        suspects = [
            suspect
            for entry, arrays in actual.items()
            for suspect in self.compare(program, entry, arrays, expected[entry])
        ]
        wrong = self.explain(suspects, expected)
        if not wrong:
            return None
        text = "; ".join(mismatch.text for mismatch in wrong)
        return Mismatch(wrong[0].kind, f"size {self.symbol}: {text}")

    def explain(self, suspects: list[Suspect], expected: dict) -> list[Mismatch]:
        """What noise does not explain. Most is explained by one sample of it."""
        wrong = [suspect.wrong for suspect in suspects if suspect.wrong]
        suspects = [suspect for suspect in suspects if not suspect.wrong]
        samples: list[dict] = []
        left: list[Mismatch] = []
        for sample in range(SAMPLES if suspects else 0):
            samples.append(self.run(Runner(emit(self.perturb(sample), target="reference"))))
            found = [
                suspect.explain(samples, expected[suspect.entry][suspect.index])
                for suspect in suspects
            ]
            left = [mismatch for mismatch in found if mismatch]
            if not left:
                break
        return wrong + left

    def compare(self, program: Runner, entry: str, arrays: list, expected: list) -> list[Suspect]:
        """The outputs that are not near the reference."""
        precisions = program.report["precisions"][entry]
        suspects = []
        for index, (array, reference) in enumerate(zip(arrays, expected, strict=True)):
            name = f"{entry} {index}"
            if array is None or reference is None:
                if (array is None) != (reference is None):
                    text = f"{name}: {'no' if array is None else 'a'} gradient"
                    suspects.append(Suspect(entry, index, None, Mismatch("gradient", text)))
                continue
            if array.shape != reference.shape:
                text = f"{name}: shape {array.shape}, expected {reference.shape}"
                suspects.append(Suspect(entry, index, None, Mismatch("shape", text)))
            elif reference.dtype.kind != "f":
                count = int((array != reference).sum())
                if count:
                    text = f"{name}: {count} of {array.size} {array.dtype} differ"
                    suspects.append(Suspect(entry, index, None, Mismatch("exact", text)))
            else:
                roundoff = ROUNDOFF[precisions[index] or "f64"]
                if not is_near(array, reference, roundoff):
                    suspects.append(Suspect(entry, index, array, None))
        return suspects


def first_line(text: str) -> str:
    """The error without the place, which says nothing about its kind."""
    line = next((line for line in text.splitlines() if "error:" in line), text)
    return line.partition("error:")[2].strip()[:300] or line[:300]


def is_near(array: np.ndarray, reference: np.ndarray, roundoff: float) -> bool:
    if array.size == 0:
        return True
    # What overflows f16 is finite in f64.
    if not np.isfinite(array).all() or not np.isfinite(reference).all():
        return (
            bool(np.array_equal(np.isnan(array), np.isnan(reference)))
            and bool(
                np.array_equal(array[~np.isfinite(reference)], reference[~np.isfinite(reference)])
            )
            and np.isfinite(array[np.isfinite(reference)]).all()
        )
    error = array - reference
    # Results below it are the least that a type can hold.
    tiny = roundoff * 2.0**-14
    least = tiny * math.sqrt(error.size)
    norm = np.linalg.norm(error) <= NORM_SLACK * roundoff * np.linalg.norm(reference) + least
    largest = np.abs(reference).max()
    return bool(norm and np.abs(error).max() <= ELEMENT_SLACK * roundoff * largest + tiny)


@dataclass(frozen=True)
class Suspect:
    """An output that is not near the reference: wrong, or perhaps badly
    conditioned (`wrong` is none)."""

    entry: str
    index: int
    array: np.ndarray | None
    wrong: Mismatch | None

    def explain(self, samples: list[dict], reference: np.ndarray) -> Mismatch | None:
        """What is wrong if noise does not change the reference as much."""
        name = f"{self.entry} {self.index}"
        results = [reference, *(sample[self.entry][self.index] for sample in samples)]
        finite = [np.isfinite(result) for result in results]
        kinds = np.stack([kinds_of(result) for result in results])
        # Noise may make a NaN of an infinity too.
        is_settled = (kinds == kinds[0]).all(0)
        if ((kinds_of(self.array) != kinds[0]) & is_settled).any():
            return Mismatch(OVERFLOW, f"{name}: not finite where the reference is, or finite alone")
        counted = np.isfinite(self.array) & finite[0]
        error = distance(self.array, reference, counted)
        reached = max(
            distance(a, b, counted & is_finite & is_other_finite)
            for (a, is_finite), (b, is_other_finite) in itertools.combinations(
                zip(results, finite, strict=True), 2
            )
        )
        if error <= reached:
            return None
        text = f"{name}: error {error:.2e} of {np.linalg.norm(reference[counted]):.2e}"
        return Mismatch("wrong", f"{text}, where noise gives {reached:.2e}")


def kinds_of(array: np.ndarray) -> np.ndarray:
    """0 for finite numbers, and one number for each infinity and for NaN."""
    return np.where(np.isnan(array), 2.0, np.where(np.isinf(array), np.sign(array), 0.0))


def distance(a: np.ndarray, b: np.ndarray, counted: np.ndarray) -> float:
    return float(np.linalg.norm(a[counted] - b[counted]))
