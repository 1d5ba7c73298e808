# Environment of every script that builds. Source it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

FUSEOPS_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export FUSEOPS_ROOT
# ccache can only cache a file that uses a precompiled header under this
# sloppiness.
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
export CCACHE_BASEDIR=$FUSEOPS_ROOT CCACHE_NOHASHDIR=1
FUSEOPS_JOBS=${FUSEOPS_JOBS:-$(nproc)}
export FUSEOPS_JOBS

step() { printf -- '-- %s\n' "$*"; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}
