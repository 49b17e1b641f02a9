"""The tables of a run directory, column by column, each with what it means.

Knows columns. Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pyarrow as pa

__all__ = [
    "ITEM_SCHEMA",
    "PART_OF",
    "PLAN_SCHEMA",
    "SCHEMA_VERSION",
    "SEGMENT_SCHEMA",
    "TRIAL_SCHEMA",
    "VOLATILE_COLUMNS",
    "describe_columns",
    "trial_columns",
]

SCHEMA_VERSION = 1
PART_OF = b"vqaudit_part_of"
"""Metadata key of a schema that leaves columns out on purpose: what it does not name is not read."""


def _column(name: str, kind: pa.DataType, meaning: str, *, required: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=not required, metadata={"meaning": meaning})


def describe_columns(schema: pa.Schema) -> list[tuple[str, str, str]]:
    """Returns (name, type, meaning) of every column, for the documentation."""
    return [(f.name, str(f.type), f.metadata[b"meaning"].decode()) for f in schema]


_ID_SCORE = pa.struct(
    [
        ("option_id", pa.string()),
        ("logprob", pa.float64()),
        ("rank", pa.int32()),
        ("token_ids", pa.list_(pa.int32())),
        ("spelling", pa.string()),
        ("in_place_logprob", pa.float64()),
    ]
)
_OPTION_SCORE = pa.struct([("logprob", pa.float64()), ("tokens", pa.int32()), ("characters", pa.int32())])
_TOP_TOKEN = pa.struct([("token_id", pa.int32()), ("text", pa.string()), ("logprob", pa.float64())])

TRIAL_SCHEMA = pa.schema(
    [
        # which trial
        _column(
            "trial",
            pa.string(),
            "Name of the trial: 16 hexadecimal digits, equal for equal item IDs and variants in any run.",
            required=True,
        ),
        _column("item", pa.string(), "ID of the item.", required=True),
        # how it was asked; null where a log is silent or the variant has no such thing
        _column("id_set", pa.string(), "Name of the ID set; null where no IDs are shown or a log is silent."),
        _column("delimiter", pa.string(), "Name of the delimiter."),
        _column("separator", pa.string(), "Name of the separator."),
        _column("order", pa.list_(pa.int16()), "Option index at each position."),
        _column(
            "id_order",
            pa.list_(pa.int16()),
            "Index into the ID set at each position; natural unless a design separates IDs from positions.",
        ),
        _column("interface", pa.string(), "Name of the interface."),
        _column("ending", pa.string(), "Name of the ending."),
        _column("place", pa.string(), "Where the ending stands: `user` or `assistant`."),
        _column(
            "event",
            pa.string(),
            "What is scored: `reply`, `id-scores`, `forced-token`, `option-likelihood`, `generation`, "
            "`rationale-scores`.",
        ),
        _column("option_ids", pa.list_(pa.string()), "The IDs shown, by position."),
        _column("segments", pa.list_(pa.string()), "Hashes whose texts, concatenated, are the user's turn."),
        _column("prefill", pa.string(), "What the assistant's turn began with."),
        # what came back
        _column(
            "reply",
            pa.string(),
            "The raw reply; for `reply` events the text within the budget, white space kept; for `rationale-scores` "
            "the rationale behind which the IDs were scored.",
        ),
        _column("further", pa.string(), "Greedy text beyond the budget of a `reply` event."),
        _column("reasoning", pa.string(), "What a server returned as reasoning, apart from the reply."),
        _column("finish_reason", pa.string(), "`stop`, `length` or `content_filter`."),
        _column("budget", pa.int32(), "New tokens allowed for an exact reply."),
        _column(
            "id_scores",
            pa.list_(_ID_SCORE),
            "By position: ID, log-probability over the whole vocabulary (all spellings summed), rank from 1, token ids "
            "and text of the most probable spelling, log-probability of the in-place spelling. Kept beside replies "
            "too, where every shown ID is a single token.",
        ),
        _column(
            "id_bound",
            pa.float64(),
            "Where the log-probability of a shown ID is null: none of those IDs has more than this.",
        ),
        _column("id_mass", pa.float64(), "Probability that the next token is any shown ID, in any spelling."),
        _column("watch_mass", pa.float64(), "Probability of the watched words' first tokens."),
        _column(
            "end_given_id", pa.float64(), "Where the reply began with a shown ID: probability that it ends right there."
        ),
        _column("top_tokens", pa.list_(_TOP_TOKEN), "The five most probable next tokens."),
        _column(
            "option_scores",
            pa.list_(_OPTION_SCORE),
            "By position: summed log-probability, tokens and characters of the option's text.",
        ),
        # what it was read as
        _column(
            "outcome",
            pa.string(),
            "The strict reading: `chosen`, `ambiguous`, `refused`, `empty`, `truncated`, `unreadable`, `bad_input`, "
            "`failed`.",
            required=True,
        ),
        _column("position", pa.int16(), "Position chosen, from 0; null unless `chosen`."),
        _column("chosen", pa.int16(), "Option index chosen; null unless `chosen`."),
        _column("reason", pa.string(), "Which rule decided, or why none."),
        _column("margin", pa.float64(), "Best score minus the second, in natural log; null where undefined."),
        _column("longer_id", pa.string(), "The shown ID that the reply would have been with more tokens."),
        _column("lenient_outcome", pa.string(), "The lenient reading of a `reply` event, further tokens included."),
        _column("lenient_position", pa.int16(), "Its position."),
        _column("lenient_chosen", pa.int16(), "Its option index."),
        _column("lenient_reason", pa.string(), "Its reason."),
        _column(
            "logged_reading",
            pa.string(),
            "Of imported trials: the option ID that the log's own scorer read; empty where it read none; null where "
            "the log does not say.",
        ),
        _column("logged_right", pa.bool_(), "Of imported trials: the log's own verdict; null where it gives none."),
        # how it went
        _column(
            "attempt",
            pa.int32(),
            "Counts attempts at this trial; higher is newer. From 0, or from above what a lost worker may write.",
            required=True,
        ),
        _column("worker", pa.string(), "Who wrote the record."),
        _column("seconds", pa.float64(), "Share of its batch's wall-clock time."),
        _column("tokens_computed", pa.int32(), "Tokens that went through the decoder for this trial."),
        _column("tokens_reused", pa.int32(), "Tokens whose computation was shared."),
        _column("tokens_written", pa.int32(), "Tokens that the model wrote, thinking included; where a server tells."),
        _column(
            "tries", pa.int32(), "Requests sent for this record, repeated ones included; where a server was asked."
        ),
        _column("error", pa.string(), "Why there is no answer."),
    ]
)
"""One row per attempt at a trial. Positions and option indices count from 0; log-probabilities are natural."""


def trial_columns(names: Collection[str], *, inner: Mapping[str, Collection[str]] | None = None) -> pa.Schema:
    """Returns the schema of some columns of the trials, for readers that need no more: a tenth of the memory.

    Args:
        names: Columns.
        inner: Of columns that are lists of records, the fields that are read.

    Example:
        >>> trial_columns(["trial", "id_scores"], inner={"id_scores": ["logprob"]}).field("id_scores").type
        ListType(list<element: struct<logprob: double>>)
    """
    kept = (TRIAL_SCHEMA.field(name) for name in TRIAL_SCHEMA.names if name in names)
    narrow = [_narrowed(field, (inner or {}).get(field.name)) for field in kept]
    return pa.schema(narrow, metadata={PART_OF: b"trials"})


def _narrowed(field: pa.Field, inner: Collection[str] | None) -> pa.Field:
    if inner is None:
        return field
    struct = field.type.value_type
    kept = [struct.field(place) for place in range(struct.num_fields) if struct.field(place).name in inner]
    return field.with_type(pa.list_(pa.field("element", pa.struct(kept))))


VOLATILE_COLUMNS = ("attempt", "worker", "seconds", "tries")
"""Columns that may differ between two runs that measured the same."""

ITEM_SCHEMA = pa.schema(
    [
        _column("item", pa.string(), "ID of the item.", required=True),
        _column("question", pa.string(), "The question."),
        _column("options", pa.list_(pa.string()), "Option texts in dataset order."),
        _column("answer", pa.int16(), "Index of the right option; null where a log does not tell."),
        _column("cluster", pa.string(), "What intervals cluster by: the group, else the item.", required=True),
        _column("category", pa.string(), "Category, where the dataset has one."),
        _column("hint", pa.string(), "What stands before the question."),
        _column(
            "images",
            pa.list_(pa.string()),
            "First 32 hexadecimal digits of the SHA-256 of each encoded picture; null where it cannot be read.",
        ),
        _column(
            "n_orders",
            pa.int16(),
            "Admissible circular orders: the number of options, or 1 where the item must not be permuted.",
        ),
        _column("notes", pa.list_(pa.string()), "What screening found."),
        _column("source", pa.string(), "File and row."),
    ]
)
"""One row per item, in dataset order. `images` holds hashes; `n_orders` counts the admissible circular orders."""

PLAN_SCHEMA = pa.schema(
    [
        _column(
            "trial",
            pa.string(),
            "Name of the trial: 16 hexadecimal digits, equal for equal item IDs and variants in any run.",
            required=True,
        ),
        _column("item", pa.string(), "ID of the item.", required=True),
        _column(
            "design",
            pa.string(),
            "`grid`, `reference`, `randomised`, `permuted`, `scrambled-ids`, `whose-a`, or of a second stage "
            "`confirm-worst`, `confirm-best`.",
            required=True,
        ),
        _column(
            "draw",
            pa.int32(),
            "Number of the randomised draw of an item (of its order in a second stage, of the seed of a permutation), "
            "from 0; else 0.",
            required=True,
        ),
        _column("interface", pa.string(), "Name of the interface.", required=True),
    ]
)
"""One row per trial and reason for it: a trial that two designs share has two rows and one record.

`draw` counts the randomised draws of an item, its orders in a second stage or its seeded permutations, from 0 (else
0)."""

SEGMENT_SCHEMA = pa.schema(
    [
        _column("segment", pa.string(), "Hash of the text.", required=True),
        _column("text", pa.string(), "A piece of prompt text.", required=True),
    ]
)
