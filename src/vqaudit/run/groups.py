"""Groups: the unit of work, whole items whose prompts share what can be shared.

Knows plans. Asks nobody. Groups are the plan's own windows, whoever asks them and however many, so that an engine
cuts the same batches from them and writes the same records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from vqaudit.asking.plan import Plan, Trial
from vqaudit.run.requests import AskSpec

__all__ = ["Group", "Waiting", "cut_groups"]

_LIKELIHOOD_TOKENS = 8
"""What an option's text is taken for, in new tokens, when groups are put in order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """One group, complete: it can be asked by a process that has neither the plan nor the dataset."""

    number: int
    plan: Plan
    """The part of the plan that this group is, asked trials included: batches are cut from all of them."""
    pending: frozenset[str]
    """Trials that have no answer yet."""
    attempts: Mapping[str, int]
    """Number of the attempt, for trials that were asked before."""
    attempts_from: int = 0
    """Number of the attempt for all others."""
    careful: bool = False
    """Whether every batch is noted before it is asked and written before the next: a worker was lost over the group."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """A group that nobody has asked yet; small, since a plan may have thousands."""

    number: int
    trials: tuple[Trial, ...] = field(repr=False)
    pending: frozenset[str] = field(repr=False)
    weight: int
    """Tokens that it makes an engine write, about; the longest group goes first."""
    tries: int = 0
    """Workers that were lost over it."""
    suspects: frozenset[str] = field(default=frozenset(), repr=False)
    """Trials that the last of them had in hand."""
    strikes: int = 0
    """Workers in a row that were lost with just these in hand."""

    def again(self, pending: frozenset[str], suspects: frozenset[str]) -> Waiting:
        """Returns what is left of the group after a worker was lost over it.

        Args:
            pending: Trials without a record.
            suspects: Those that the worker had in hand; empty where that is not known.
        """
        same = bool(suspects) and suspects == self.suspects
        strikes = self.strikes + 1 if same else int(bool(suspects))
        return replace(self, pending=pending, tries=self.tries + 1, suspects=suspects, strikes=strikes)

    def group(self, plan: Plan, attempts: Mapping[str, int], *, attempts_from: int) -> Group:
        """Returns the group as a worker gets it."""
        # Every try has numbers of its own, so that what a lost worker still writes is older.
        known = {trial: attempts[trial] + 1 + self.tries for trial in self.pending if trial in attempts}
        return Group(
            number=self.number,
            plan=plan.part(self.trials),
            pending=self.pending,
            attempts={trial: max(attempt, attempts_from + self.tries) for trial, attempt in known.items()},
            attempts_from=attempts_from + self.tries,
            careful=self.tries > 0,
        )


def _weight(trial: Trial, spec: AskSpec) -> int:
    """New tokens of a trial and one for its prompt."""
    event = trial.variant.interface.event
    if event == "generation":
        return 1 + spec.max_tokens
    if event == "option-likelihood":
        return 1 + _LIKELIHOOD_TOKENS * len(trial.variant.order)
    return 2


def cut_groups(plan: Plan, pending: set[str], spec: AskSpec) -> Iterator[Waiting]:
    """Yields the groups with pending trials, in the plan's order."""
    for number, window in enumerate(plan.windows()):
        wanted = [trial for trial in window if trial.id in pending]
        if wanted:
            yield Waiting(
                number=number,
                trials=window,
                pending=frozenset(trial.id for trial in wanted),
                weight=sum(_weight(trial, spec) for trial in wanted),
            )
