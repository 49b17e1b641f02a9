"""The shared path: what rows have in common is computed once, and each row's own tokens behind it.

Knows rows, beginnings and branches. Knows no request, no option ID and no text. It agrees with the plain path up to
rounding, which `paths` checks for every model that is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch

from vqaudit.engines.base import Depth
from vqaudit.engines.local.batching import Shared
from vqaudit.engines.local.branches import Branch, Strategy
from vqaudit.engines.local.plain import MOST_LOGITS, PlainPath
from vqaudit.engines.local.prefixes import PrefixStore
from vqaudit.engines.local.sessions import Cost, Generated, Row
from vqaudit.engines.local.states import Caught, catching

__all__ = ["SharedPath"]


class SharedPath:
    """Sessions behind shared beginnings.

    Args:
        plain: Computes beginnings.
        ends: Any of these token IDs ends a reply.
        strategy: How rows see a beginning.
    """

    def __init__(self, plain: PlainPath, *, ends: Sequence[int], strategy: Strategy) -> None:
        self.network = plain.network
        self.strategy: Strategy = strategy
        self.ends = tuple(ends)
        self.store = PrefixStore(self.network, plain.prefill, strategy)

    def begin(self, rows: Sequence[Row], shared: Shared) -> SharedSession:
        """Returns a session over rows: each longer than what they share, all with its tokens and pictures."""
        return SharedSession(self, rows, shared)


class SharedSession:
    """Rows behind one beginning. Made by `SharedPath.begin`; it is over once it has generated."""

    def __init__(self, path: SharedPath, rows: Sequence[Row], shared: Shared) -> None:
        self._path = path
        prefix = path.store.get(rows[0], shared.chain)
        self._own = [row.token_ids[prefix.length :] for row in rows]
        self._branch = Branch(path.network, prefix, len(rows), path.strategy)
        self._costs = [Cost(len(own), prefix.length) for own in self._own]
        self._add(0, shared.fresh, -shared.fresh)
        self._logits: torch.Tensor | None = None

    def _add(self, place: int, computed: int, reused: int = 0) -> None:
        before = self._costs[place]
        self._costs[place] = Cost(before.computed + computed, before.reused + reused)

    def costs(self) -> list[Cost]:
        """Returns what each row has cost so far; what the beginning cost stands with the first row."""
        return list(self._costs)

    def _last_logits(self) -> torch.Tensor:
        if self._logits is None:
            self._logits = self._branch.step(self._own)[:, -1]
        return self._logits

    @torch.inference_mode()
    def first(self) -> torch.Tensor:
        """Returns the distributions of the token after each row: rows x vocabulary."""
        return self._last_logits().float().log_softmax(-1).cpu()

    @torch.inference_mode()
    def first_with_states(self, depth: Depth) -> Caught:
        """Returns the same with the states behind them; see `sessions.Session`."""
        with catching(self._path.network.model, depth) as caught:
            logprobs = self.first()
            return Caught(logprobs, caught())

    @torch.inference_mode()
    def after(self, wanted: Sequence[tuple[int, tuple[int, ...]]]) -> Iterator[tuple[int, torch.Tensor]]:
        """Yields the distributions after further tokens; see `sessions.Session`."""
        vocabulary = self._last_logits().shape[-1]
        longest = max((len(tokens) for _, tokens in wanted), default=1)
        most = max(1, min(len(self._own), MOST_LOGITS // (longest * vocabulary)))
        for start in range(0, len(wanted), most):
            part = wanted[start : start + most]
            branch = self._branch.select([row for row, _ in part])
            width = max(len(tokens) for _, tokens in part)
            logits = branch.step([tokens for _, tokens in part], keep=width)
            for place, (row, tokens) in enumerate(part):
                self._add(row, len(tokens))
                yield start + place, logits[place, -len(tokens) :].float().log_softmax(-1).cpu()

    @torch.inference_mode()
    def generate(self, max_tokens: int) -> list[Generated]:
        """Returns the greedy reply to each row, at most `max_tokens` tokens."""
        logits, branch = self._last_logits(), self._branch
        replies = [_Reply() for _ in self._own]
        rows = list(range(len(replies)))
        for _ in range(max_tokens):
            self._note(replies, rows, logits)
            going = [place for place, row in enumerate(rows) if not replies[row].ended]
            if not going or len(replies[rows[going[0]]].tokens) == max_tokens:
                break
            if 2 * len(going) <= len(rows):  # rows that have ended ride along until half have
                branch, rows = branch.select(going), [rows[place] for place in going]
            logits = branch.step([[replies[row].last] for row in rows])[:, -1]
        for place, reply in enumerate(replies):
            self._add(place, len(reply.tokens) + reply.ended)
        return [reply.generated() for reply in replies]

    def _note(self, replies: list[_Reply], rows: list[int], logits: torch.Tensor) -> None:
        logprobs = logits.float().log_softmax(-1)
        tokens = logits.argmax(-1).tolist()
        ends = logprobs[:, list(self._path.ends)].exp().sum(-1).tolist()
        finite = logprobs.isnan().any(-1).logical_not().tolist()
        for place, row in enumerate(rows):
            reply = replies[row]
            if reply.ended:
                continue
            if reply.first is None:
                reply.first = logprobs[place].cpu()
            reply.note(tokens[place], ends[place], finite[place], is_end=tokens[place] in self._path.ends)


@dataclass(slots=True)
class _Reply:
    """A greedy reply while it is written."""

    tokens: list[int] = field(default_factory=list)
    last: int = 0
    ended: bool = False
    finite: bool = True
    ends: list[float] = field(default_factory=list)
    first: torch.Tensor | None = None

    def note(self, token: int, end: float, finite: bool, *, is_end: bool) -> None:
        self.last, self.ended = token, is_end
        self.ends.append(end)
        self.finite = self.finite and finite
        if not is_end:
            self.tokens.append(token)

    def generated(self) -> Generated:
        assert self.first is not None
        return Generated(
            tokens=tuple(self.tokens),
            ended=self.ended,
            first=self.first,
            end_probabilities=tuple(self.ends),
            finite=self.finite,
        )
