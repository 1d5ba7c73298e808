# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The PTX simulator: what instructions do, and how threads wait for one another."""

from __future__ import annotations

import numpy as np
import ptx_simulator as ptx
import pytest
from ptx_arithmetic import U64, find_function, list_fp8, round_floats
from ptx_snippets import TIMES, Fault, check, run, write_kernel

# What instructions compute


def bits_of(kind: str, *numbers: float) -> list[int]:
    return round_floats(kind, np.array(numbers, np.float32)).tolist()


F = {number: bits_of("f32", number)[0] for number in (1.0, -1.0, 2.5, -2.5, 3e9, 1e6)}
NAN = 0x7FC00000
ALL = 2**32 - 1
VALUES: dict[str, tuple[list[int], int]] = {
    "add.s32": ([ALL, 2], 1),
    "sub.s64": ([0, 1], 2**64 - 1),
    "mul.lo.s32": ([2**31 + 3, 2], 6),
    "mul.hi.s32": ([2**32 - 2, 2**31], 1),
    "mul.hi.u32": ([2**31, 6], 3),
    "mul.hi.s64": ([2**64 - 1, 2**63], 0),
    "mul.wide.s32": ([ALL, 5], 2**64 - 5),
    "mul.wide.u16": ([2**16 - 1, 2**16 - 1], (2**16 - 1) ** 2),
    "mad.wide.u32": ([ALL, 4, 7], 4 * ALL + 7),
    "mad.lo.s32": ([ALL, 4, 7], 3),
    "div.s32": ([2**32 - 7, 2], 2**32 - 3),
    "rem.s32": ([2**32 - 7, 2], ALL),
    "div.u32": ([ALL, 2], 2**31 - 1),
    "shl.b32": ([1, 40], 0),
    "shl.b64": ([1, 64], 0),
    "shr.u64": ([2**63, 63], 1),
    "shr.s32": ([2**31, 40], ALL),
    "bfe.u32": ([0xABCD, 4, 8], 0xBC),
    "bfe.s32": ([0xABCD, 4, 8], 2**32 - 0x44),
    "bfi.b32": ([0x5, 0xFFFF, 4, 8], 0xF05F),
    "max.s32": ([ALL, 1], 1),
    "max.u32": ([ALL, 1], ALL),
    "not.pred": ([1], 0),
    "xor.pred": ([1, 0], 1),
    "selp.b32": ([3, 2**64 - 1, 0], ALL),
    "prmt.b32": ([0x80112233, 0x44556677, 0xB0F5], 0xFF330066),
    "setp.lt.s32": ([ALL, 0], 1),
    "setp.lo.u32": ([ALL, 0], 0),
    "setp.ge.and.u32": ([5, 5, 0], 0),
    "setp.ne.f32": ([NAN, F[1.0]], 0),
    "setp.neu.f32": ([NAN, F[1.0]], 1),
    "setp.num.f32": ([NAN, F[1.0]], 0),
    "max.f32": ([NAN, F[1.0]], F[1.0]),
    "max.NaN.f32": ([NAN, F[1.0]], NAN),
    "neg.bf16x2": ([0x3F803F80], 0xBF80BF80),
    "max.bf16x2": ([0x3F80C000, 0x40000000], 0x40000000),
    "fma.rn.f16": (bits_of("f16", 2, 3, 0.5), bits_of("f16", 6.5)[0]),
    "tanh.approx.f32": ([0], 0),
    "cvt.u32.u64": ([2**33 + 5], 5),
    "cvt.s64.s32": ([ALL], 2**64 - 1),
    "cvt.s32.s8": ([0x80], 2**32 - 128),
    "cvt.rn.f32.s32": ([ALL], F[-1.0]),
    "cvt.rzi.s32.f32": ([F[-2.5]], 2**32 - 2),
    "cvt.rni.s32.f32": ([F[2.5]], 2),
    "cvt.rzi.u32.f32": ([F[-1.0]], 0),
    "cvt.rzi.s32.f32 ": ([F[3e9]], 2**31 - 1),
    "cvt.rn.f16x2.f32": ([F[1.0], F[-1.0]], 0x3C00BC00),
    "cvt.rn.bf16x2.f32": ([F[1.0], F[-1.0]], 0x3F80BF80),
    "cvt.rn.satfinite.e4m3x2.f32": ([F[1.0], F[1e6]], 0x387E),
    "cvt.rn.satfinite.e5m2x2.f32": ([F[-1.0], F[1e6]], 0xBC7B),
    "cvt.rn.f16x2.e4m3x2": ([0x38B8], 0x3C00BC00),
    "cvt.f32.f16": ([0x3C00], F[1.0]),
    "cvt.f32.bf16": ([0x3F80], F[1.0]),
}


@pytest.mark.parametrize("operation", VALUES)
def test_values(operation: str):
    inputs, expected = VALUES[operation]
    found = find_function(operation.strip())(*(np.array([x], U64) for x in inputs))
    assert found.tolist() == [expected]


def test_fp8_numbers():
    for kind, dtype in (("e4m3", "float8_e4m3fn"), ("e5m2", "float8_e5m2")):
        ml_dtypes = pytest.importorskip("ml_dtypes")
        expected = np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, dtype)).astype(float)
        np.testing.assert_array_equal(list_fp8(kind), expected)


STORE = "mad.wide.u32 %at, %t, 4, %b0; st.global.b32 [%at], %r;"


def compute(body: str, threads: int = 32, **options: bool | int) -> np.ndarray:
    """What the threads leave in `%r`."""
    out = np.zeros(threads, np.uint32)
    run(write_kernel(body + STORE, threads, buffers=1), [out], **options)
    return out


def test_scopes():
    """Names in braces are those of the braces."""
    one = "{ .reg .pred p; .reg .b32 x, y;\nsetp.lt.u32 p, %t, LIMIT; @p bra DONE; AGAIN: \n"
    one += "mov.b32 x, 1; add.u32 %r, %r, x; setp.lt.u32 p, %r, LIMIT; @p bra AGAIN; DONE: }\n"
    found = compute("mov.b32 %r, 0;" + one.replace("LIMIT", "3") + one.replace("LIMIT", "9"))
    assert found.tolist() == [0] * 3 + [3] * 6 + [9] * 23


LANE = np.arange(32)
WARP: dict[str, tuple[str, np.ndarray]] = {
    "bfly": ("shfl.sync.bfly.b32 %r, %t, 5, 31, -1;", LANE ^ 5),
    "idx": (
        "and.b32 %l, %t, 28; shfl.sync.idx.b32 %r|%p, %t, %l, 31, -1;",
        LANE & 28,
    ),
    "down": ("shfl.sync.down.b32 %r, %t, 3, 31, -1;", np.where(LANE < 29, LANE + 3, LANE)),
    "up": ("shfl.sync.up.b32 %r, %t, 3, 0, -1;", np.where(LANE < 3, LANE, LANE - 3)),
    "parts": ("shfl.sync.idx.b32 %r, %t, 1, 0x181f, -1;", LANE & 24 | 1),
    "ballot": ("setp.lt.u32 %p, %t, 4; vote.sync.ballot.b32 %r, %p, -1;", LANE * 0 + 15),
    "any": (
        "setp.eq.u32 %p, %t, 4; vote.sync.any.pred %q, %p, -1; selp.b32 %r, 1, 0, %q;",
        LANE * 0 + 1,
    ),
    "halves": (
        "mov.b64 %d, {%t, 7}; mov.b64 {%r, _}, %d; mov.b64 {_, %h}, %d; add.u32 %r, %r, %h;",
        LANE + 7,
    ),
    "some": (
        "mov.b32 %r, 0; setp.ge.u32 %p, %t, 16; @%p bra OUT; activemask.b32 %r; OUT:",
        np.where(LANE < 16, 0xFFFF, 0),
    ),
}


@pytest.mark.parametrize("name", WARP)
def test_warps(name: str):
    body, expected = WARP[name]
    assert compute(body).tolist() == expected.tolist()


def test_one_is_elected():
    found = {
        compute("elect.sync _|%p, -1; selp.b32 %r, 1, 0, %p;", seed=seed).tobytes()
        for seed in range(8)
    }
    assert len(found) > 1
    assert all(np.frombuffer(one, np.uint32).sum() == 1 for one in found)


def test_atoms():
    out = np.zeros(4, np.uint32)
    body = "red.global.add.u32 [%b0], %t; atom.global.max.s32 %r, [%b0+4], %t;"
    body += "atom.global.cas.b32 %r, [%b0+8], 0, 7; red.global.add.f32 [%b0+12], 0f3F800000;"
    run(write_kernel(body, 32, buffers=1), [out])
    assert out.tolist() == [496, 31, 7, 0x42000000]


@pytest.mark.parametrize("transposed", [False, True])
def test_matrices_of_a_warp(transposed: bool):
    matrices = np.arange(256, dtype=np.uint16).reshape(4, 8, 8)
    body = "mov.u32 %s, smem; mad.lo.u32 %row, %t, 16, %s; mad.wide.u32 %from, %t, 16, %b1;"
    body += "ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%from];"
    body += "stmatrix.sync.aligned.m8n8.x4MODE.shared.b16 [%row], {%w0, %w1, %w2, %w3};"
    body += "bar.warp.sync -1; ld.shared.v4.b32 {%w0, %w1, %w2, %w3}, [%row];"
    body += "mad.wide.u32 %at, %t, 16, %b0; st.global.v4.b32 [%at], {%w0, %w1, %w2, %w3};"
    text = write_kernel(body.replace("MODE", ".trans" if transposed else ""), 32, buffers=2)
    # Of each thread a pair of neighbours of a row.
    given = matrices.transpose(0, 2, 1) if transposed else matrices
    words = np.ascontiguousarray(given).view(np.uint32).reshape(4, 32).T
    out = np.zeros((4, 8, 8), np.uint16)
    run(text, [out, np.ascontiguousarray(words)])
    assert np.array_equal(out, matrices)


# How threads wait


NAMED = """
mov.u32 %s, smem;
and.b32 %l, %t, 31;
mad.lo.u32 %a, %l, 4, %s;
setp.ge.u32 %p, %t, 32;
@%p bra READ;
st.shared.b32 [%a], %t;
bar.arrive 3, 64;
bra OUT;
READ:
bar.sync 3, 64;
ld.shared.b32 %r, [%a];
mad.wide.u32 %at, %l, 4, %b0;
st.global.b32 [%at], %r;
OUT:
"""
NAMED_FAULTS = {
    "none": None,
    "no barrier": Fault("bar.sync 3, 64;", "", "wrong"),
    "a number for some": Fault("bar.sync 3, 64;", "bar.sync 3, 96;", "96 and 64|64 and 96"),
    "more threads": Fault("3, 64;", "3, 96;", r"deadlock.*warps 1 at bar\.sync 3, 96"),
    "another barrier": Fault("bar.sync 3,", "bar.sync 4,", "deadlock"),
    "part of a warp": Fault("3, 64;", "3, 40;", "40"),
}


@pytest.mark.parametrize("name", NAMED_FAULTS)
def test_named_barriers(name: str):
    def is_right(text: str, late: bool, seed: int) -> bool:
        out = np.zeros(32, np.uint32)
        run(text, [out], late=late, seed=seed)
        return out.tolist() == LANE.tolist()

    check(write_kernel(NAMED, 64, buffers=1), is_right, NAMED_FAULTS[name])


RING = """
mov.u32 %full, smem;
add.u32 %empty, %full, 16;
setp.ne.u32 %p, %t, 0;
@%p bra READY;
mbarrier.init.shared::cta.b64 [%full], 32;
mbarrier.init.shared::cta.b64 [%full+8], 32;
mbarrier.init.shared::cta.b64 [%empty], 32;
mbarrier.init.shared::cta.b64 [%empty+8], 32;
READY:
bar.sync 0;
and.b32 %l, %t, 31;
mov.b32 %i, 0;
mov.b32 %sum, 0;
LOOP:
and.b32 %slot, %i, 1;
shr.u32 %turn, %i, 1;
and.b32 %parity, %turn, 1;
mad.lo.u32 %f, %slot, 8, %full;
add.u32 %e, %f, 16;
mad.lo.u32 %a, %slot, 128, %full;
mad.lo.u32 %a, %l, 4, %a;
setp.ge.u32 %p, %t, 32;
xor.b32 %before, %parity, 1;
@%p bra READ;
FREE:
mbarrier.try_wait.parity.shared::cta.b64 %q, [%e], %before;
@!%q bra FREE;
add.u32 %v, %i, %l;
st.shared.b32 [%a+128], %v;
mbarrier.arrive.shared::cta.b64 _, [%f];
bra NEXT;
READ:
mbarrier.try_wait.parity.shared::cta.b64 %q, [%f], %parity;
@%q bra DONE;
mov.u32 %now, %globaltimer_lo;
setp.gt.u32 %late, %now, 2000000000;
@%late st.global.b32 [16], %now;
bra READ;
DONE:
ld.shared.b32 %v, [%a+128];
mad.lo.u32 %sum, %sum, 3, %v;
mbarrier.arrive.shared::cta.b64 _, [%e];
NEXT:
add.u32 %i, %i, 1;
setp.lt.u32 %p, %i, 7;
@%p bra LOOP;
setp.lt.u32 %p, %t, 32;
@%p bra OUT;
mad.wide.u32 %at, %l, 4, %b0;
st.global.b32 [%at], %sum;
OUT:
"""
RELEASE = "mbarrier.arrive.shared::cta.b64 _, [%e];"
READS = """ld.shared.b32 %v, [%a+128];
mad.lo.u32 %sum, %sum, 3, %v;
"""
RING_FAULTS = {
    "none": None,
    "no release": Fault(RELEASE, "", r"deadlock.*warps 0 at mbarrier\.try_wait"),
    "release of the first": Fault(
        RELEASE, RELEASE.replace("%e", "%empty"), "more than 32|deadlock"
    ),
    "two releases": Fault(RELEASE, 2 * RELEASE, "wrong|deadlock"),
    "release before": Fault(READS + RELEASE, RELEASE + READS, "wrong"),
    "no wait for free slots": Fault("@!%q bra FREE;", "", "wrong"),
    "parity of the turn before": Fault("[%f], %parity", "[%f], %before", "wrong|deadlock"),
    "one parity": Fault("[%f], %parity", "[%f], 0", "wrong|deadlock"),
    "arrivals of others": Fault(RELEASE, RELEASE.replace("];", "], 3;"), "more than 32"),
    "not initialised": Fault("bar.sync 0;", "", "nobody initialised"),
    "data in a barrier": Fault("[%a+128]", "[%a]", "write to a barrier"),
    "more arrivals than there are": Fault("[%full], 32", "[%full], 33", "deadlock"),
}


@pytest.mark.parametrize("name", RING_FAULTS)
def test_barriers_in_memory(name: str):
    expected = np.zeros(32, np.uint32)
    for i in range(7):
        expected = expected * 3 + i + LANE

    def is_right(text: str, late: bool, seed: int) -> bool:
        out = np.zeros(32, np.uint32)
        run(text, [out], late=late, seed=seed)
        return np.array_equal(out, expected)

    check(write_kernel(RING, 64, buffers=1), is_right, RING_FAULTS[name])


def test_registers_are_handed_on():
    """384 threads have 168 registers each."""
    body = "setp.lt.u32 %p, %t, 128; @%p bra LESS; setmaxnreg.inc.sync.aligned.u32 232; bra OUT;"
    body += "LESS: setmaxnreg.dec.sync.aligned.u32 40; OUT: mov.b32 %r, %t;"
    for late, seed in TIMES:
        assert compute(body, 384, late=late, seed=seed).tolist() == list(range(384))
    faults = {
        body.replace("232", "240"): "deadlock",
        body.replace("232", "236"): "236 registers",
        body.replace("dec", "inc"): "of a warp of 168",
        body.replace("128", "96"): "deadlock|some warps of four",
    }
    for text, message in faults.items():
        with pytest.raises(ptx.SimulationError, match=message):
            compute(text, 384)
