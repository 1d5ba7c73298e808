# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of all operations: formula, gradient, what is saved, FP8.

It comes from the paragraphs of the ops' descriptions: one that begins with
`Gradient` and ends with `Saved: …`, one that begins with `FP8:`; what stands
before them is the formula.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import tablegen

# The interfaces of operations that compute: those have a gradient.
COMPUTING = {"FusibleOpInterface", "DifferentiableOpInterface"}
TITLES = {
    "Pointwise": "Pointwise operations",
    "Scalar": "Scalar functions in bodies",
    "Glu": "Gated linear units",
    "Norm": "Normalizations and reductions",
    "Softmax": "Softmax and losses",
    "Contraction": "Matrix products",
    "Layout": "Operations that move elements",
    "Quantization": "Quantization",
    "Collective": "Collectives",
    "Structure": "Programs and bodies",
}


@dataclass(frozen=True)
class OpText:
    """What the description of an op says, by paragraph."""

    record: str
    name: str
    summary: str
    formula: list[str]
    gradient: str
    saved: str
    fp8: str
    example: str
    computes: bool


def interfaces(root: Path, td: Path, op: dict) -> set[str]:
    """The interfaces that an op declares."""
    dump = tablegen.records(root, td)
    names = set()
    for trait in op["traits"]:
        record = dump[trait["def"]]
        names.add(record.get("cppInterfaceName") or record["!name"])
    return names


def read_op(root: Path, td: Path, op: dict) -> OpText:
    description = op["description"] or ""
    blocks = tablegen.mlir_blocks(description)
    prose = re.sub(r"^[ \t]*```mlir.*?^[ \t]*```", "", description, flags=re.M | re.S)
    formula, gradient, saved, fp8 = [], "", "", ""
    for paragraph in re.split(r"\n[ \t]*\n", prose.strip()):
        text = re.sub(r"\s*\n\s*", " ", paragraph.strip())
        if text.startswith("FP8:"):
            fp8 = text.removeprefix("FP8:").strip()
        elif text.startswith("Gradient"):
            gradient, _, saved = text.partition("Saved:")
            gradient = gradient.removeprefix("Gradient").removeprefix(":").lstrip(", ").strip()
            saved = saved.strip()
        elif text:
            formula.append(paragraph if paragraph.lstrip().startswith(("*", "-", "|")) else text)
    return OpText(
        op["!name"],
        op["opName"],
        (op["summary"] or "").strip(),
        formula,
        gradient,
        saved,
        fp8,
        blocks[0][1] if blocks else "",
        bool(interfaces(root, td, op) & COMPUTING),
    )


def read_ops(root: Path) -> dict[str, list[OpText]]:
    """All ops, by the file that they are in."""
    groups: dict[str, list[OpText]] = {}
    for td in tablegen.root_files(root):
        for op in tablegen.instances(root, td, "Op"):
            dialect = tablegen.records(root, td)[op["opDialect"]["def"]]
            if dialect.get("name") != "fuseops":
                continue
            path, _ = tablegen.definition(root, op["!name"])
            group = path.stem.removeprefix("FuseOps").removesuffix("Ops")
            known = groups.setdefault(group, [])
            if all(other.name != op["opName"] for other in known):
                known.append(read_op(root, td, op))
    return groups


def missing(op: OpText) -> list[str]:
    """The paragraphs that an op that computes lacks."""
    if not op.computes:
        return []
    parts = {"Gradient": op.gradient, "Saved:": op.saved, "FP8:": op.fp8}
    return [name for name, text in parts.items() if not text]


def torch_operations(tools: Path) -> list[str]:
    """What the converter takes, by fuse-opt's own list."""
    run = subprocess.run(
        [tools / "fuse-opt", "--list-torch-ops"], capture_output=True, text=True, check=True
    )
    return sorted(set(run.stdout.split()))


def section(op: OpText) -> list[str]:
    lines = [f"### `fuseops.{op.name}`", "", f"_{op.summary}_", ""]
    for paragraph in op.formula:
        lines += [paragraph, ""]
    rows = {"Gradient": op.gradient, "Saved": op.saved, "FP8": op.fp8}
    if any(rows.values()):
        lines += ["| | |", "| --- | --- |"]
        for name, text in rows.items():
            if text:
                # A bar within a cell would end it.
                lines.append(f"| {name} | {text.replace('|', chr(92) + '|')} |")
        lines.append("")
    if op.example:
        lines += ["```mlir", op.example.rstrip(), "```", ""]
    return lines


def operations_page(root: Path, tools: Path) -> str:
    """docs/generated/Operations.md."""
    groups = read_ops(root)
    order = sorted(groups, key=lambda name: ([*TITLES, name].index(name), name))
    lines = [
        "# Operations",
        "",
        "Every operation: its formula, its gradient, what forward saves for it, and what it is",
        "in FP8. Each example is a program that a test compiles. Unless an operation says",
        "otherwise it computes in f32 (f64 where an operand is f64) and rounds once.",
        "",
    ]
    for group in order:
        title = TITLES.get(group, group)
        names = ", ".join(f"[`{op.name}`](#fuseops{op.name})" for op in groups[group])
        lines.append(f"- {title}: {names}")
    lines.append("")
    for group in order:
        lines += [f"## {TITLES.get(group, group)}", ""]
        for op in groups[group]:
            lines += section(op)
    torch = torch_operations(tools)
    lines += [
        "## Operations of torch",
        "",
        f"The {len(torch)} operations of the torch dialect that `convert-torch-to-fuseops` takes:",
        "",
    ]
    families: dict[str, list[str]] = {}
    for name in torch:
        families.setdefault(name.rpartition(".")[0], []).append(name)
    for family, names in families.items():
        lines += [f"- `{family}`: " + ", ".join(f"`{n.rpartition('.')[2]}`" for n in names)]
    return "\n".join(lines).rstrip() + "\n"
