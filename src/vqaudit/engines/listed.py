"""Option IDs in lists of likely tokens: what a server tells of them, and what it leaves open.

Knows token texts, log-probabilities and IDs. Knows neither model nor server.

A server lists the most probable tokens at each position of its greedy reply. An ID that is one token and is listed is
known; one that is not listed is no more probable than what is left. Where an ID takes several tokens (`10`), or
another shown ID goes on from it (`1`, `10`), the lists are followed along the reply: only there is the next
distribution told.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from vqaudit.engines.base import IDScore, TopToken
from vqaudit.errors import EngineReplyError

__all__ = ["ListedIDs", "ListedPosition", "positions_needed", "read_listed"]

_SENTINEL = -9000.0
"""Some servers write -9999 for an entry that they do not have."""
_ABOVE_ZERO = 1e-6
"""What a log-probability may be above 0 by rounding."""
_SPELLINGS = 4
"""Single tokens that read, stripped, as one ID: bare, and with a blank or a line break around it."""
_NEGLIGIBLE = 0.01
"""Share that may be unknown of what is called known: of an ID's probability, and of the ID mass in all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedPosition:
    """One position of a greedy reply."""

    text: str
    """The token that was written."""
    top: tuple[TopToken, ...]
    """The most probable tokens there, of any order; entries without text or with a sentinel are left out."""

    @classmethod
    def of(cls, text: str, top: Iterable[tuple[str, float | None]]) -> ListedPosition:
        """Returns a position from (text, log-probability) pairs, likeliest first, each once.

        Raises:
            EngineReplyError: A log-probability above zero.
        """
        kept: dict[tuple[str, float], None] = {}
        for token, logprob in top:
            if not token or logprob is None or not logprob > _SENTINEL:
                continue
            if logprob > _ABOVE_ZERO:
                raise EngineReplyError(f"a log-probability must be <= 0, got {logprob:.4g} for the token {token!r}")
            kept[token, min(logprob, 0.0)] = None  # some servers list the written token a second time
        ordered = sorted(kept, key=lambda pair: -pair[1])
        return cls(text=text, top=tuple(TopToken(token_id=None, text=t, logprob=p) for t, p in ordered))


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedIDs:
    """What lists of likely tokens tell of the shown IDs."""

    scores: tuple[IDScore, ...]
    """By position. A log-probability is the sum over listed single tokens, and over the reply's own way to the ID.
    It is None where no spelling is listed, or where more than 1 % of it depends on what follows."""
    bound: float | None
    """None of those that are None has more than this; None where every ID is known."""
    mass: float | None
    """Probability that the reply begins with any shown ID; None where more than 1 % of it is open."""


def positions_needed(option_ids: Sequence[str]) -> int:
    """Returns how many positions can matter: 1 where every ID is one character and none goes on from another.

    Example:
        >>> positions_needed(["A", "B"]), positions_needed(["i", "ii", "iii"]), positions_needed(["9", "10"])
        (1, 4, 3)
    """
    longest = max((len(option_id) for option_id in option_ids), default=1)
    return 1 if longest == 1 else longest + 1


@dataclass(slots=True)
class _Open:
    """What is known of one ID so far, as log-probabilities that add up."""

    known: list[float] = field(default_factory=list)
    open: list[float] = field(default_factory=list)
    """Upper bounds of what is listed and may belong to it, depending on what follows."""
    elsewhere: list[float] = field(default_factory=list)
    """Upper bounds of what may belong to it in other spellings: not listed, or begun by a listed token such as a
    blank. They matter only where no spelling is known: a tokenizer makes one way of an ID."""
    best: TopToken | None = None
    rank: int | None = None

    def keep(self, logprob: float, token: TopToken, rank: int | None) -> None:
        if not self.known or logprob > max(self.known):
            self.best, self.rank = token, rank
        self.known.append(logprob)

    @property
    def settled(self) -> float | None:
        """The log-probability, where what is open does not matter beside it."""
        if not self.known:
            return None
        known = _log_sum(self.known)
        return known if not self.open or _log_sum(self.open) <= known + math.log(_NEGLIGIBLE) else None

    @property
    def most(self) -> float:
        """No more than this."""
        parts = [*self.known, *self.open, *self.elsewhere]
        return min(0.0, _log_sum(parts)) if parts else -math.inf


def _log_sum(logprobs: Sequence[float]) -> float:
    """Adds probabilities given as logarithms."""
    top = max(logprobs)
    return top if top == -math.inf else top + math.log(math.fsum(math.exp(value - top) for value in logprobs))


def read_listed(positions: Sequence[ListedPosition], option_ids: Sequence[str]) -> ListedIDs:
    """Returns what the lists of a greedy reply tell of each shown ID.

    Args:
        positions: The reply's positions from its beginning; as many as `positions_needed` tell all that lists can.
        option_ids: The shown IDs.

    Raises:
        EngineReplyError: The server listed nothing.

    Example:
        >>> first = ListedPosition.of("B", [("B", -0.3), (" B", -2.5), ("A", -1.9), ("", -9999.0)])
        >>> found = read_listed([first], ["A", "B", "C"])
        >>> [score.logprob and round(score.logprob, 3) for score in found.scores], round(found.bound, 2)
        ([-1.9, -0.195, None], -3.59)
    """
    if not positions or not positions[0].top:
        raise EngineReplyError("the server listed no likely tokens")
    found = {option_id: _Open() for option_id in option_ids}
    begun, before = "", 0.0
    for place, position in enumerate(positions):
        following = positions[place + 1] if place + 1 < len(positions) else None
        step = _Step(begun=begun, before=before, position=position, following=following, first=place == 0)
        for token in position.top:
            _take(token, step, found)
        _leave_open(step, found)
        begun += position.text
        written = next((token.logprob for token in position.top if token.text == position.text), None)
        if written is None or not _may_go_on(begun, option_ids):
            break
        before += written
    return _summed(found)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Step:
    """One position on the way along a reply."""

    begun: str
    """What was written before it."""
    before: float
    """Log-probability of that."""
    position: ListedPosition
    following: ListedPosition | None
    first: bool


def _take(token: TopToken, step: _Step, found: dict[str, _Open]) -> None:
    """Counts one listed token for the IDs that it is or begins."""
    text = (step.begun + token.text).strip()
    if step.begun.strip() == text and text:
        return  # white space after what is written already
    logprob = step.before + token.logprob
    followed = token.text == step.position.text and step.following is not None
    for option_id, state in found.items():
        if option_id == text:
            longer = [other[len(option_id) :] for other in found if other != option_id and other.startswith(option_id)]
            if not longer:
                state.keep(logprob, token, _rank(token, step))
            elif followed and step.following is not None:
                low, high = _going_on(step.following, longer)
                state.keep(logprob + math.log1p(-min(high, 1 - 1e-12)), token, _rank(token, step))
                if high > low:
                    state.open.append(logprob + math.log(high - low))
            else:
                state.open.append(logprob)
        elif option_id.startswith(text) and not followed:
            state.elsewhere.append(logprob)


def _rank(token: TopToken, step: _Step) -> int | None:
    return step.position.top.index(token) + 1 if step.first else None


def _going_on(position: ListedPosition, rests: Sequence[str]) -> tuple[float, float]:
    """Least and most probability that what follows carries the ID on towards a longer one."""
    on = [token for token in position.top if any(r.startswith(token.text) or token.text.startswith(r) for r in rests)]
    listed = math.fsum(math.exp(token.logprob) for token in on)
    return min(1.0, listed), min(1.0, listed + math.exp(_unlisted(position)))


def _unlisted(position: ListedPosition) -> float:
    """The most that a few tokens that are not listed can have: none has more than the least listed one."""
    if not position.top:
        return 0.0
    rest = 1 - math.fsum(math.exp(token.logprob) for token in position.top)
    least = position.top[-1].logprob + math.log(_SPELLINGS)
    return min(least, math.log(rest) if rest > 0 else -math.inf, 0.0)


def _leave_open(step: _Step, found: dict[str, _Open]) -> None:
    """Every ID may still have what is not listed."""
    rest = _unlisted(step.position)
    if rest == -math.inf:
        return
    for option_id, state in found.items():
        if option_id.startswith(step.begun.strip()):
            state.elsewhere.append(step.before + rest)


def _may_go_on(begun: str, option_ids: Sequence[str]) -> bool:
    text = begun.lstrip()
    return any(option_id != text and option_id.startswith(text) for option_id in option_ids)


def _summed(found: dict[str, _Open]) -> ListedIDs:
    scores = tuple(
        IDScore(
            option_id=option_id,
            logprob=state.settled,
            rank=state.rank,
            spelling="" if state.best is None else state.best.text,
        )
        for option_id, state in found.items()
    )
    unknown = [state.most for state in found.values() if state.settled is None]
    settled = [score.logprob for score in scores if score.logprob is not None]
    mass = min(1.0, math.fsum(math.exp(value) for value in settled))
    in_doubt = math.fsum(math.exp(value) for value in unknown)
    in_doubt += max((math.exp(value) for state in found.values() for value in state.elsewhere), default=0.0)
    return ListedIDs(
        scores=scores,
        bound=max(unknown) if unknown else None,
        mass=mass if in_doubt <= _NEGLIGIBLE else None,
    )
