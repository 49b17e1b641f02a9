"""The words after the options, as data: what each says, what it asks for, and how strongly it invites a rationale.

Knows strings. Knows no event, no item and no engine. Paper 2 finds that immediate scores fall with *continuation
strength* (its Table 2), so every ending carries its strength.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vqaudit.errors import VariantError

__all__ = ["ENDINGS", "Asks", "Ending", "Strength"]

Asks = Literal["id", "reasoning", "text", "nothing"]
"""What is asked for: an option ID, a rationale, an option's text, or nothing in particular."""
Strength = Literal["none", "answer", "minimal", "explicit"]
"""How strongly a long continuation is invited: not at all, an answer instead, by a cue of a word, by a request."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """The words after the options.

    Example:
        >>> ENDINGS["cot"].strength, ENDINGS["answer-cue"].asks
        ('explicit', 'id')
    """

    name: str
    text: str
    """`{instruction}` stands for paper 1's instruction, which names the IDs shown; `{kind}` for what the IDs are:
    letter, number or roman number."""
    asks: Asks
    """What these words ask the model to write next. Where the options are hidden, an ID can only mean a text."""
    strength: Strength = "none"

    def __post_init__(self) -> None:
        if not self.name or any(mark in self.name for mark in ":/@ |"):
            raise VariantError(f"ending name {self.name!r} must not be empty or hold a blank, ':', '/', '@' or '|'")


ENDINGS: dict[str, Ending] = {
    ending.name: ending
    for ending in (
        Ending(name="instruction", text="{instruction}", asks="id", strength="answer"),
        Ending(name="bare", text="", asks="nothing"),
        Ending(name="answer-cue", text="Answer:", asks="id", strength="answer"),
        Ending(name="final-answer", text="Final answer:", asks="id", strength="answer"),
        Ending(name="option-cue", text="The correct option is", asks="id", strength="answer"),
        Ending(
            name="id-only",
            text="Answer with the option's {kind} from the given choices directly.",
            asks="id",
            strength="answer",
        ),
        Ending(name="lead-in", text="The answer is", asks="text", strength="answer"),
        Ending(name="reasoning-cue", text="Reasoning:", asks="reasoning", strength="minimal"),
        Ending(name="explanation-cue", text="Explanation:", asks="reasoning", strength="minimal"),
        Ending(name="cot", text="Let me think step by step.", asks="reasoning", strength="explicit"),
        Ending(name="lets-think", text="Let's think step by step.", asks="reasoning", strength="explicit"),
        Ending(
            name="reason-first",
            text="First reason step by step, then give the answer.",
            asks="reasoning",
            strength="explicit",
        ),
        Ending(
            name="explain-first",
            text="Explain your reasoning step by step before you answer.",
            asks="reasoning",
            strength="explicit",
        ),
        Ending(
            name="work-out",
            text="Let's work this out in a step by step way to be sure we have the right answer.",
            asks="reasoning",
            strength="explicit",
        ),
    )
}
"""Shipped endings. `instruction` is paper 1's; `bare` (Direct) and `cot` are paper 2's conditions, and `answer-cue`
and `reasoning-cue` two of its eleven endings; `lets-think` is Kojima et al. (2022), `work-out` Zhou et al. (2023),
`id-only` the sentence that LLaVA's evaluations made common. The others are ours."""
