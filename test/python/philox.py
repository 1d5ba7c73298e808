# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which elements dropout keeps: Philox4x32-10 of the element's number, the same everywhere."""

import numpy as np


def philox(counter: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Philox4x32 with 10 rounds: counters [n, 4] and keys [n, 2] of 32-bit words."""
    c = [counter[:, i].astype(np.uint64) for i in range(4)]
    k = [key[:, i].astype(np.uint64) for i in range(2)]
    word = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        first, second = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [
            (second >> np.uint64(32)) ^ c[1] ^ k[0],
            second & word,
            (first >> np.uint64(32)) ^ c[3] ^ k[1],
            first & word,
        ]
        k = [(k[0] + np.uint64(0x9E3779B9)) & word, (k[1] + np.uint64(0xBB67AE85)) & word]
    return np.stack(c, axis=1).astype(np.uint32)


def keep_mask(shape: tuple[int, ...], seed: int, offset: int, p: float) -> np.ndarray:
    """Which elements stay."""
    count = int(np.prod(shape))
    blocks = np.arange(-(-count // 4), dtype=np.uint64)
    low, high = np.uint64(0xFFFFFFFF), np.uint64(32)
    offset_word = np.full(blocks.shape, np.int64(offset)).view(np.uint64)
    seed_word = np.full(blocks.shape, np.int64(seed)).view(np.uint64)
    counter = np.stack(
        [blocks & low, blocks >> high, offset_word & low, offset_word >> high], axis=1
    )
    key = np.stack([seed_word & low, seed_word >> high], axis=1)
    words = philox(counter, key).reshape(-1)[:count]
    return (words.astype(np.float64) >= np.round(p * 2**32)).reshape(shape)
