"""Sound bytes into unsound ones: a byte changed, a piece cut, doubled, moved or taken from elsewhere, a nasty word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

NASTY = (
    *(b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x1b[2J", b"\xe2\x80\xae", b"\r", b"\n\n", b"\\ud800"),
    *(
        b"[" * 2000,
        b"[" * 600 + b"]" * 600,
        b'{"a":' * 400 + b"1" + b"}" * 400,
        b'{"a":' * 2000,
        b"(" * 300,
        b"-" * 5000,
        b"9" * 5000,
        b"1e999",
        b"-1e999",
        b"NaN",
        b"Infinity",
    ),
    *(b"null", b"true", b"{}", b"[]", b'""', b'"', b"'", b",", b":", b"\\", b"<svg", b"<html>", b"../../", b"/etc/"),
    *(b"http://x/y.png", b"file:///x", b"=cmd()", b"!!python/object:os.system", b"&a [*a]", b"<<: *x", b"|\n"),
    *(
        b"\xff\xff\xff\x7f",
        b"\x00\x00\x00\x80",
        b"\xff\xff\xff\xff",
        b"\x01\x00\x00\x00",
        b"-1",
        b"0",
        b"18446744073709551616",
    ),
)


def mutate(data: bytes, others: Sequence[bytes], rng: np.random.Generator) -> bytes:
    """Returns the data after one to six changes."""
    for _ in range(int(rng.integers(1, 7))):
        data = _CHANGES[int(rng.integers(len(_CHANGES)))](data, others, rng)
    return data[: 1 << 20]


def _span(data: bytes, rng: np.random.Generator) -> tuple[int, int]:
    start = int(rng.integers(len(data) + 1))
    return start, min(len(data), start + int(rng.integers(1, 40)))


def _byte(data: bytes, others: Sequence[bytes], rng: np.random.Generator) -> bytes:
    start = int(rng.integers(len(data) + 1))
    return data[:start] + bytes([int(rng.integers(256))]) + data[start + 1 :]


def _bit(data: bytes, others: Sequence[bytes], rng: np.random.Generator) -> bytes:
    if not data:
        return data
    place = int(rng.integers(len(data)))
    return data[:place] + bytes([data[place] ^ (1 << int(rng.integers(8)))]) + data[place + 1 :]


def _cut(data: bytes, others: Sequence[bytes], rng: np.random.Generator) -> bytes:
    start, end = _span(data, rng)
    return data[:start] if rng.random() < 0.2 else data[:start] + data[end:]


def _double(data: bytes, others: Sequence[bytes], rng: np.random.Generator) -> bytes:
    start, end = _span(data, rng)
    return data[:end] + data[start:end] * int(rng.integers(1, 5)) + data[end:]


def _move(data: bytes, others: Sequence[bytes], rng: np.random.Generator) -> bytes:
    start, end = _span(data, rng)
    piece, rest = data[start:end], data[:start] + data[end:]
    place = int(rng.integers(len(rest) + 1))
    return rest[:place] + piece + rest[place:]


def _splice(data: bytes, others: Sequence[bytes], rng: np.random.Generator) -> bytes:
    other = others[int(rng.integers(len(others)))]
    start, end = _span(other, rng)
    place, after = _span(data, rng)
    return data[:place] + other[start:end] + data[after:]


def _word(data: bytes, others: Sequence[bytes], rng: np.random.Generator) -> bytes:
    start, end = _span(data, rng)
    kept = start if rng.random() < 0.5 else end
    return data[:start] + NASTY[int(rng.integers(len(NASTY)))] + data[kept:]


_CHANGES = (_byte, _bit, _cut, _double, _move, _splice, _word, _word)
