"""How figures are written: per cent, percentage points, intervals, counts, times. Never NaN, never None.

Knows numbers. The terminal and the page print what this module returns, so that they cannot disagree on a digit.
"""

from __future__ import annotations

from vqaudit.analysis.estimates import Estimate

__all__ = [
    "UNKNOWN",
    "bounds",
    "count",
    "difference",
    "duration",
    "interval",
    "pct",
    "points",
    "probability",
    "signed",
    "signed_points",
]

UNKNOWN = "–"
"""What stands where there is no figure; the reason stands elsewhere."""
_MINUS = "−"
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def pct(value: float | None) -> str:
    """Returns a share in [0, 1] as per cent.

    Example:
        >>> pct(0.4126), pct(None)
        ('41.3 %', '–')
    """
    return UNKNOWN if value is None else f"{100 * value:.1f} %"


def points(value: float | None) -> str:
    """Returns a distance of two shares, in [0, 1], as percentage points.

    Example:
        >>> points(0.491)
        '49.1 pp'
    """
    return UNKNOWN if value is None else f"{100 * value:.1f} pp"


def signed_points(value: float | None) -> str:
    """Returns a difference of two shares, in [-1, 1], as percentage points with a sign.

    Example:
        >>> signed_points(-0.098), signed_points(0.042), signed_points(-0.0001)
        ('−9.8 pp', '+4.2 pp', '0.0 pp')
    """
    return UNKNOWN if value is None else f"{_signed(value)} pp"


def signed(value: float | None) -> str:
    """Returns a difference of two shares, in [-1, 1], in percentage points where the unit stands elsewhere.

    Example:
        >>> signed(-0.098), signed(None)
        ('−9.8', '–')
    """
    return UNKNOWN if value is None else _signed(value)


def bounds(estimate: Estimate | None, *, signed: bool = False) -> str:
    """Returns the 95 % interval in per cent, or nothing where there is none.

    Example:
        >>> bounds(Estimate(value=0.5, low=0.4, high=0.6))
        '[40.0, 60.0]'
    """
    if estimate is None or estimate.low is None or estimate.high is None:
        return ""
    write = _signed if signed else _plain
    return f"[{write(estimate.low)}, {write(estimate.high)}]"


def interval(estimate: Estimate | None) -> str:
    """Returns a share with its 95 % interval.

    Example:
        >>> interval(Estimate(value=0.413, low=0.38, high=0.447)), interval(Estimate(value=0.5, n=1))
        ('41.3 % [38.0, 44.7]', '50.0 %')
    """
    return UNKNOWN if estimate is None else f"{pct(estimate.value)} {bounds(estimate)}".rstrip()


def difference(estimate: Estimate | None) -> str:
    """Returns a difference with its 95 % interval.

    Example:
        >>> difference(Estimate(value=-0.098, low=-0.33, high=0.14))
        '−9.8 pp [−33.0, +14.0]'
    """
    if estimate is None:
        return UNKNOWN
    return f"{signed_points(estimate.value)} {bounds(estimate, signed=True)}".rstrip()


def probability(value: float | None) -> str:
    """Returns a p-value or a probability of being best, with two digits where small.

    Example:
        >>> probability(0.0312), probability(0.00002), probability(0.5), probability(None)
        ('0.031', '< 0.001', '0.500', '–')
    """
    if value is None:
        return UNKNOWN
    return "< 0.001" if 0 <= value < 0.001 else f"{value:.3f}"


def count(number: int | None) -> str:
    """Returns a whole number with its thousands apart.

    Example:
        >>> count(11520), count(960), count(None)
        ('11,520', '960', '–')
    """
    return UNKNOWN if number is None else f"{number:,}"


def duration(seconds: float | None) -> str:
    """Returns a time in the two largest units that it needs.

    Example:
        >>> duration(0.0123), duration(7.25), duration(200), duration(7500), duration(200_000)
        ('0.012 s', '7.2 s', '3 min 20 s', '2 h 5 min', '2 d 7 h')
    """
    if seconds is None:
        return UNKNOWN
    if seconds < 1:
        return f"{seconds:.2g} s"
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    return _in_units(round(seconds))


def _in_units(seconds: int) -> str:
    for large, small, names in ((_DAY, _HOUR, ("d", "h")), (_HOUR, _MINUTE, ("h", "min")), (_MINUTE, 1, ("min", "s"))):
        if seconds >= large:
            whole, rest = divmod(seconds, large)
            return f"{whole} {names[0]} {rest // small} {names[1]}" if rest // small else f"{whole} {names[0]}"
    return f"{seconds} s"


def _plain(value: float) -> str:
    return f"{100 * value:.1f}"


def _signed(value: float) -> str:
    text = f"{100 * value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", _MINUS)
