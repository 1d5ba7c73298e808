# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each checked rule fires on a bad snippet and is silent on a good tree."""

from pathlib import Path

import lint_rules
import pytest

HEADER = """//===- {name} - A file of the test ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===---===//
"""

DIALECT = """
include "mlir/IR/OpBase.td"
def FuseOps_Dialect : Dialect {
  let name = "fuseops";
  let cppNamespace = "::mlir::fuseops";
}
def FuseOps_BiasOp : Op<FuseOps_Dialect, "bias"> {
  let summary = "adds a row";
  let description = [{
    Adds.

    ```mlir
    module {}
    ```
  }];
}
"""

PASSES = """
include "mlir/Pass/PassBase.td"
def PlanSavedPass : Pass<"fuseops-plan-saved"> {
  let summary = "decides what is saved";
  let description = "Decides.";
}
"""

PATTERN = """
struct Fold : public OpRewritePattern<BiasOp> {{
  using Base::Base;
  LogicalResult matchAndRewrite(BiasOp op, PatternRewriter &rewriter) const {{
    {body}
  }}
}};
"""

PLAN_SAVED = """#define DEBUG_TYPE "fuseops-plan-saved"
"""

GOOD = {
    "include/FuseOps/Dialect/FuseOps/FuseOpsOps.td": DIALECT,
    "include/FuseOps/Transforms/Passes.td": PASSES,
    "include/FuseOps/Transforms/Passes.h": (
        "#ifndef FUSEOPS_TRANSFORMS_PASSES_H\n#define FUSEOPS_TRANSFORMS_PASSES_H\n"
        '#include "FuseOps/Dialect/FuseOps/FuseOpsOps.h"\n#endif\n'
    ),
    "lib/Dialect/FuseOps/FuseOpsOps.cpp": 'StringRef text = "llvm::errs() cl::opt";\n',
    "lib/Transforms/PlanSaved.cpp": PLAN_SAVED
    + PATTERN.format(
        body="rewriter.replaceAllUsesWith(op, x);\n"
        'return rewriter.notifyMatchFailure(op, "no: op.erase()");'
    ),
    "lib/Compiler/Pipelines.cpp": 'StringRef text = "fuseops.fusible(fuseops-plan-saved)";\n',
    "test/Transforms/plan-saved.mlir": "// RUN: fuse-opt %s | FileCheck %s\n// CHECK: module\n",
}


def violations(tmp_path: Path, number: str, files: dict[str, str]) -> list[str]:
    for name, text in {**GOOD, **files}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        is_cxx = path.suffix in {".h", ".cpp", ".td"} and not text.startswith("//===")
        path.write_text(HEADER.format(name=path.name) + text if is_cxx else text)
    return [str(v) for v in lint_rules.check(tmp_path, only=number)[number] if not v.is_warning]


@pytest.mark.parametrize("number", lint_rules.RULES)
def test_good_tree_is_silent(tmp_path: Path, number: str):
    assert violations(tmp_path, number, {}) == []


OPS = "include/FuseOps/Dialect/FuseOps/FuseOpsOps.td"
TD = "include/FuseOps/Transforms/Passes.td"
SAVED = "lib/Transforms/PlanSaved.cpp"
TEST = "test/Transforms/plan-saved.mlir"
BAD = [
    (
        "1",
        {"lib/Analysis/A.cpp": '#include "FuseOps/Transforms/Passes.h"\n'},
        "comes before",
    ),
    ("1", {"lib/Runtime/A.cpp": '#include "llvm/ADT/STLExtras.h"\n'}, "Runtime must not include"),
    ("1", {"lib/Target/A.cpp": '#include "FuseOps/Runtime/A.h"\n'}, "Target comes before Runtime"),
    ("2", {"include/FuseOps/Extra/A.h": "\n"}, "expected a folder `lib/Extra`"),
    ("2", {"lib/Transforms/A.td": "\n"}, "beside its header"),
    ("2", {"test/Transforms/Deep/a.mlir": "\n"}, "expected a folder `lib/Transforms/Deep`"),
    ("3", {"lib/Transforms/A.cpp": "\n" * 801}, "expected at most 800 lines"),
    ("3", {"lib/Transforms/LoopUtils.cpp": "\n"}, "never into `Utils`"),
    ("7", {TD: PASSES.replace("PlanSavedPass", "PlanSaved")}, "to end with `Pass`"),
    ("7", {TD: PASSES.replace("fuseops-plan-saved", "fuseops-plan")}, "does not spell"),
    ("7", {TD: PASSES.replace("fuseops-plan-saved", "plan-saved")}, "to start with `fuseops-`"),
    ("7", {SAVED: "\n"}, "expected `#define DEBUG_TYPE"),
    ("7", {TD: PASSES.replace("PlanSaved", "Other").replace("plan-saved", "other")}, "`Other.cpp`"),
    ("10", {OPS: DIALECT.replace("adds a row", "adds")}, "says more than its name"),
    ("10", {OPS: DIALECT.replace("```mlir", "```text")}, "expected one ```mlir example"),
    ("10", {TD: PASSES.replace('"Decides."', '""')}, "expected a description"),
    ("17", {"lib/Compiler/Pipelines.cpp": "\n"}, "in a pipeline or marked"),
    ("21", {SAVED: PATTERN.format(body="op.erase(); return success();")}, "erase through"),
    ("21", {SAVED: PATTERN.format(body="op->erase(); return success();")}, "erase through"),
    ("21", {SAVED: PATTERN.format(body="op.replaceAllUsesWith(x);")}, "replace uses through"),
    ("21", {SAVED: PATTERN.format(body="return failure();")}, "notifyMatchFailure"),
    ("23", {SAVED: "static llvm::cl::opt<bool> flag;\n"}, "belongs in a tool"),
    ("23", {SAVED: 'auto x = std::getenv("X");\n'}, "read in Runtime only"),
    ("28", {SAVED: "llvm::errs() << x;\n"}, "`errs()` in a library"),
    ("28", {SAVED: "dbgs() << x;\n"}, "`dbgs()` in a library"),
    ("30", {SAVED: HEADER.format(name="Other.cpp")}, "expected the file header"),
    ("30", {SAVED: "//===- PlanSaved.cpp - Plans ---===//\n"}, "SPDX-License-Identifier"),
    ("30", {"lib/Transforms/A.h": "#ifndef A_H\n#define A_H\n#endif\n"}, "FUSEOPS_TRANSFORMS_A_H"),
    ("30", {"scripts/a.py": "x = 1\n"}, "SPDX-License-Identifier"),
    ("32", {SAVED: "// TODO: later\n"}, "TODO(#issue)"),
    ("35", {TEST: "// RUN: fuse-opt %s\n// CHECK: x\n"}, "no RUN line pipes into FileCheck"),
    ("35", {TEST: "// CHECK: x\n"}, "expected a RUN line"),
    ("35", {TEST: "// RUN: fuse-opt %s | FileCheck %s\n"}, "there is no CHECK line"),
    (
        "35",
        {TEST: "// RUN: fuse-opt %s | FileCheck %s --check-prefix=GPU\n// CHECK: x\n"},
        "no line uses the prefix `GPU`",
    ),
    ("35", {TEST: "// RUN: fuse-opt %fixtures/torch/none.mlir\n"}, "there is no fixture"),
    ("36", {TEST: "// RUN: true\n// XFAIL: *\n"}, "hides a fault"),
    ("40", {"python/fuseops/program.py": "import torch\n"}, "import torch only where"),
]


@pytest.mark.parametrize(("number", "files", "message"), BAD)
def test_bad_snippet_is_found(tmp_path: Path, number: str, files: dict[str, str], message: str):
    found = violations(tmp_path, number, files)
    assert any(message in text for text in found), found
    assert all(text.endswith(f"[rule {number}]") for text in found)


def test_every_rule_has_a_bad_snippet():
    assert {number for number, _, _ in BAD} == set(lint_rules.RULES)


def test_more_than_500_lines_is_a_warning(tmp_path: Path):
    (tmp_path / "a.py").write_text("\n" * 501)
    (found,) = lint_rules.check(tmp_path, only="3")["3"]
    assert found.is_warning
