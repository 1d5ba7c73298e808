#!/usr/bin/env bash
# scripts/bug_report.sh TOOL [ARGUMENT…]: runs a command of FuseOps and writes
# what a bug report needs into one Markdown file: versions, machine, command,
# output and a reproducer that mlir-style tools run again.
#   scripts/bug_report.sh build/dev/bin/fuse-opt in.mlir --fuseops-forward-fusion
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
(($#)) || {
  sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}
report=${FUSEOPS_REPORT:-fuseops-bug-report.md}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

command=("$@")
# Only fuse-opt writes reproducers; the other tools are run as they are.
if [[ $(basename "$1") == fuse-opt ]]; then
  command+=("--mlir-pass-pipeline-crash-reproducer=$scratch/reproducer.mlir")
fi
timeout 600 "${command[@]}" >"$scratch/stdout" 2>"$scratch/stderr" </dev/null
status=$?

block() { # title file language
  [[ -s $2 ]] || return 0
  printf '\n## %s\n\n````%s\n' "$1" "${3:-}"
  head -c 60000 "$2"
  printf '\n````\n'
}
{
  echo '# FuseOps bug report'
  echo
  echo "- FuseOps: $(cat "$FUSEOPS_ROOT/VERSION") at $(
    git -C "$FUSEOPS_ROOT" describe --always --dirty 2>/dev/null || echo 'no git'
  )"
  echo "- LLVM: $(llvm-config-22 --version 2>/dev/null || echo 'not found')"
  echo "- compiler: $(clang++-22 --version 2>/dev/null | head -1)"
  echo "- system: $(. /etc/os-release && echo "$PRETTY_NAME"), $(uname -sm)"
  echo "- processor: $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
  echo "- GPU: $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null ||
    echo none)"
  echo "- command: \`$(printf '%q ' "$@" | sed 's/ $//')\`"
  echo "- exit status: $status"
  block 'Standard error' "$scratch/stderr"
  block 'Standard output' "$scratch/stdout"
  for argument in "$@"; do
    [[ $argument == *.mlir && -f $argument ]] &&
      block "Input $argument" "$argument" text
  done
  block 'Reproducer (fuse-opt --run-reproducer)' "$scratch/reproducer.mlir" text
} >"$report"
echo "$report"
