"""Threefry-2x32 of 20 rounds, from its definition (Salmon, Moraes, Dror, Shaw, 2011), on numpy arrays."""

from __future__ import annotations

import numpy as np

ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
PARITY = 0x1BD11BDA


def words(seed: int, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The low and the high words of `count` blocks from number `first` on."""
    numbers = np.uint64(first % 2**64) + np.arange(count, dtype=np.uint64)
    low, high = seed % 2**32, seed % 2**64 >> 32
    key = np.array([low, high, low ^ high ^ PARITY], np.uint32)
    x = (numbers & np.uint64(2**32 - 1)).astype(np.uint32) + key[0]
    y = (numbers >> np.uint64(32)).astype(np.uint32) + key[1]
    for turn in range(20):
        x = x + y
        rotation = np.uint32(ROTATIONS[turn % 8])
        y = (y << rotation | y >> (np.uint32(32) - rotation)) ^ x
        if turn % 4 == 3:
            injection = turn // 4 + 1
            x = x + key[injection % 3]
            y = y + key[(injection + 1) % 3] + np.uint32(injection)
    return x, y


def blocks(seed: int, first: int, count: int) -> np.ndarray:
    """Blocks as integers of 64 bits."""
    low, high = words(seed, first, count)
    return low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)


def halves(seed: int, first: int, count: int) -> np.ndarray:
    """`count` words of 32 bits: the low ones of half as many blocks, then the high ones."""
    return np.concatenate(words(seed, first, (count + 1) // 2))[:count]
