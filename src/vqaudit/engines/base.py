"""What an engine is asked and what it answers.

Knows prompts as parts, IDs as strings and events as data. Knows no dataset, no format, and never the answer:
a `Request` has no field for it, and its trial ID is opaque.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray
    from PIL.Image import Image as PixelImage

__all__ = [
    "DEFAULT_MAX_TOKENS",
    "TOP_TOKENS",
    "Depth",
    "Engine",
    "Event",
    "ForcedToken",
    "Generation",
    "HiddenStates",
    "IDScore",
    "IDScores",
    "Image",
    "ImagePart",
    "LensLayer",
    "OptionLikelihood",
    "OptionScore",
    "Outcome",
    "RationaleScores",
    "Readout",
    "Reply",
    "Request",
    "StateKeeper",
    "StreamingEngine",
    "TextPart",
    "TopToken",
    "Unsteady",
]

TOP_TOKENS = 5
"""Most probable next tokens that an outcome keeps."""
DEFAULT_MAX_TOKENS = 512
"""Limit of a free generation."""

Depth = Literal["last", "all"]
"""Whose hidden states are kept: the last layer's (what the output embedding multiplies), or every layer's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TextPart:
    """Plain text of the user's turn. Control tokens of the model inside it are text, never control."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ImagePart:
    """The place of `Request.images[index]`."""

    index: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """One picture, decoded safely before it came here. Engines key their caches by `digest`."""

    digest: str
    pixels: PixelImage = field(repr=False, compare=False)
    """RGB, upright, first frame."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """The whole greedy reply within a budget of new tokens (paper 1, appendix A.4)."""

    vocabulary: tuple[str, ...]
    """Every ID of the set that the *dataset* uses: the budget is the most tokens that any of them needs."""
    budget: Literal["emitted", "paper"] | int = "emitted"
    """`emitted`: counted in place, as the model emits it; `paper`: tokens of the bare ID; or a number."""
    further: int = 8
    """Greedy tokens kept beyond the budget, to tell how the reply would have gone on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class IDScores:
    """The next-token probabilities of the shown IDs (paper 2, Eq. 2)."""

    watch: tuple[str, ...] = ()
    """Words whose first tokens' total probability is returned as `watch_mass` (paper 2, Eq. 8)."""
    states: Depth | None = None
    """Whose hidden states at the prompt's last position come back with the scores; None = nobody's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ForcedToken:
    """Exactly one greedy token, whatever it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OptionLikelihood:
    """The log-probability of each continuation after the prompt (paper 1, Eq. 9)."""

    continuations: tuple[str, ...]
    """One per shown position, with the white space that joins it to the prompt."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Generation:
    """A long greedy generation."""

    max_tokens: int = DEFAULT_MAX_TOKENS


@dataclass(frozen=True, kw_only=True, slots=True)
class RationaleScores:
    """A greedy rationale, then a cue, then the next-token probabilities of the shown IDs.

    The outcome's `reply` is the rationale as it was kept. Where the rationale itself comes to say the cue, it is cut
    before the last place where it does, so that the IDs are scored where the model would name its answer.
    """

    cue: str
    """What is written after the rationale, on a line of its own."""
    max_tokens: int = DEFAULT_MAX_TOKENS
    """Limit of the rationale."""
    watch: tuple[str, ...] = ()
    """As for `IDScores`."""


Event = Reply | IDScores | ForcedToken | OptionLikelihood | Generation | RationaleScores


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One trial as an engine sees it."""

    trial: str
    """Opaque."""
    parts: tuple[TextPart | ImagePart, ...]
    """The user's turn."""
    images: tuple[Image, ...] = ()
    option_ids: tuple[str, ...] = ()
    """The IDs shown, by position; empty where none are shown."""
    event: Event
    system: str | None = None
    prefill: str = ""
    """What the assistant's turn already begins with."""

    @property
    def text(self) -> str:
        """The user's turn with `<image k>` (from 1) where image k stands."""
        return "".join(part.text if isinstance(part, TextPart) else f"<image {part.index + 1}>" for part in self.parts)


@dataclass(frozen=True, kw_only=True, slots=True)
class IDScore:
    """What the model gives to one shown ID."""

    option_id: str
    logprob: float | None
    """Natural log of the probability over the whole vocabulary, all spellings summed; None = not known."""
    rank: int | None = None
    """Rank of its most probable spelling in the whole vocabulary, from 1."""
    token_ids: tuple[int, ...] = ()
    """The most probable spelling."""
    spelling: str = ""
    """The text of those tokens, white space included."""
    in_place_logprob: float | None = None
    """The same for the spelling that the tokenizer makes at this place alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OptionScore:
    """What the model gives to one option's text."""

    logprob: float
    """Sum over its tokens."""
    tokens: int
    characters: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TopToken:
    """One of the most probable next tokens."""

    token_id: int | None
    """None where a server names tokens by their text alone."""
    text: str
    logprob: float


@dataclass(frozen=True, kw_only=True, slots=True)
class LensLayer:
    """What one layer says of the shown IDs, read through the final norm and the output embedding."""

    id_logprobs: tuple[float, ...]
    """By position: natural log of the ID's probability over the whole vocabulary, single tokens alone."""
    id_ranks: tuple[int | None, ...]
    """By position: rank of its most probable spelling in the whole vocabulary, from 1."""
    id_mass: float
    watch_mass: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class HiddenStates:
    """Hidden states at the last position of one prompt."""

    values: NDArray[float32] = field(repr=False, compare=False)
    """Layers x width. Of `last`, one layer; of `all`, the number of blocks plus one: what enters the first block,
    what leaves each, and instead of what leaves the last, the same after the final norm."""
    lens: tuple[LensLayer, ...] = ()
    """By layer; empty where only the last is kept, where an ID takes several tokens, or where norm and output
    embedding alone do not give the model's distribution."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Readout:
    """How a model reads IDs off its last state."""

    token_ids: Mapping[str, tuple[int, ...]]
    """ID -> every single token that is written as it; empty where it takes several."""
    rows: Mapping[int, NDArray[float32]] = field(repr=False)
    """Token ID -> its row of the output embedding."""
    biases: Mapping[int, float]
    layers: int
    """Number of the last layer: how many blocks there are."""
    width: int
    softcap: float | None = None
    """Where set, a logit x is read as softcap * tanh(x / softcap)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came back for one request. Exactly one per request, failures included."""

    trial: str
    reply: str | None = None
    """The text within the budget, special tokens dropped, white space kept; None for score events."""
    prefixes: tuple[str, ...] = ()
    """For `Reply`: the text after each further token beyond the budget, from the beginning (cumulative)."""
    reasoning: str | None = None
    """What a server returned as reasoning, apart from the reply."""
    finish_reason: Literal["stop", "length", "content_filter"] | None = None
    """`stop`: the model ended within budget + further (or the limit); `length`: it was cut."""
    budget: int | None = None
    """New tokens allowed for an exact reply, after resolution."""
    id_scores: tuple[IDScore, ...] = ()
    """By position; also kept beside a `Reply`, where the engine sees the first token's probabilities."""
    id_bound: float | None = None
    """Where some ID's log-probability is not known: none of those IDs has more than this."""
    id_mass: float | None = None
    """Probability that the next token is any shown ID, in any spelling."""
    watch_mass: float | None = None
    end_given_id: float | None = None
    """Where the greedy reply began with a shown ID: probability that the reply ends right after it."""
    top_tokens: tuple[TopToken, ...] = ()
    """The most probable next tokens, `TOP_TOKENS` at most."""
    option_scores: tuple[OptionScore, ...] = ()
    """By position."""
    states: HiddenStates | None = None
    """For `IDScores` that ask for them."""
    seconds: float | None = None
    """Share of the batch's wall-clock time."""
    tokens_computed: int | None = None
    tokens_reused: int | None = None
    tokens_written: int | None = None
    """Tokens that the model wrote, thinking included; a part of `tokens_computed`."""
    tries: int | None = None
    """Requests that were sent for this outcome, those that failed and were sent again included."""
    error: str | None = None
    """Why there is no answer; the trial is then `failed`, or `bad_input` where `bad_input` is set."""
    bad_input: bool = False
    """The input cannot be put to this model (too long, no image support); trying again would not help."""


@runtime_checkable
class Engine(Protocol):
    """Whoever answers: a local model, a server, a script, a simulation."""

    @property
    def name(self) -> str:
        """How the manifest names the model."""
        ...

    @property
    def batch_sensitive(self) -> bool:
        """Whether an answer can depend, in its last digits, on what shares its batch.

        A resumed run then re-runs an unfinished batch whole, so that it writes what an unbroken run would.
        """
        ...

    def describe(self) -> Mapping[str, Any]:
        """What the manifest keeps of this engine: model, revision, dtype, device, template, limits. JSON values."""
        ...

    def describe_ids(self, option_ids: Sequence[str]) -> Mapping[str, Any]:
        """How these IDs are tokenised: `{id: {"bare": [...], "in_place": [...], ...}}`; empty where not known."""
        ...

    def check(self, events: Iterable[Event]) -> None:
        """Refuses, before anything is spent, events that this engine cannot score.

        Raises:
            UnsupportedEvent: Names the event and the engines that can score it.
        """
        ...

    def count_tokens(self, request: Request) -> int | None:
        """Prompt tokens of a request, image tokens included, or None where the engine cannot tell."""
        ...

    def batches(self, requests: Sequence[Request]) -> Iterator[Sequence[Request]]:
        """Cuts requests into the batches that `answer` takes: a pure function of the requests."""
        ...

    def answer(self, batch: Sequence[Request]) -> Sequence[Outcome]:
        """Returns exactly one outcome per request, in any order; one request's failure is its outcome.

        Raises:
            EngineError: Nothing can be answered any more (the model is gone); the run stops and can be resumed.
        """
        ...

    def close(self) -> None:
        """Frees what the engine holds."""
        ...


@runtime_checkable
class StateKeeper(Protocol):
    """An engine that can return hidden states."""

    def readout(self, option_ids: Sequence[str]) -> Readout:
        """Returns how IDs are read off the last state.

        Raises:
            EngineError: These IDs cannot be written with this model.
        """
        ...

    def check_depth(self, depth: Depth) -> None:
        """Refuses states that this model cannot give, before anything is spent.

        Raises:
            UnsupportedEvent: It does not say where its layers are.
        """
        ...


@runtime_checkable
class StreamingEngine(Engine, Protocol):
    """An engine that hands over every outcome as it comes, so that a batch that dies loses no answer it had."""

    def stream(self, batch: Sequence[Request]) -> Iterator[Outcome]:
        """Yields exactly one outcome per request, in any order; closing the iterator drops what is still open.

        Raises:
            EngineError: Nothing can be answered any more; what was yielded before holds.
        """
        ...


@runtime_checkable
class Unsteady(Protocol):
    """An engine that may answer the same request differently the next time, greedy decoding or not."""

    @property
    def unsteady(self) -> bool:
        """Whether runs should ask some trials twice to tell how often that happens."""
        ...
