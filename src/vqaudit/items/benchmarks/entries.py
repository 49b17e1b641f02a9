"""The benchmarks that vqaudit knows by name, as data.

Knows sources and traps. Holds no item, no picture and no text of any benchmark. Counts are those that others printed;
`items.statistics` counts in the data itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vqaudit.items.benchmarks.entry import Benchmark, Published, Trap
from vqaudit.items.benchmarks.steps import (
    by_content,
    by_index,
    leave_out_open,
    leave_out_without_image,
    leave_out_without_options,
    name_subject,
    state_vision_question,
)
from vqaudit.items.benchmarks.traps import (
    COPIED_ROWS,
    IMAGE_PLACES,
    IN_QUESTION,
    INDEX_AS_TEXT,
    INSTRUCTION,
    LIST_AS_TEXT,
    NAN_CELLS,
    OPEN,
    SAME_PICTURE,
)
from vqaudit.items.columns import Columns

__all__ = ["BENCHMARKS", "MMMU_SUBJECTS"]

_TABLE_5 = "paper 1 (prompt-format flaws), table 5"
_TEXTS = "the questions' own texts"
_LMMS_EVAL = "lmms-eval's prompt"

MMMU_SUBJECTS = (
    *("Accounting", "Agriculture", "Architecture_and_Engineering", "Art", "Art_Theory", "Basic_Medical_Science"),
    *("Biology", "Chemistry", "Clinical_Medicine", "Computer_Science", "Design"),
    *("Diagnostics_and_Laboratory_Medicine", "Economics", "Electronics", "Energy_and_Power", "Finance"),
    *("Geography", "History", "Literature", "Manage", "Marketing", "Materials", "Math"),
    *("Mechanical_Engineering", "Music", "Pharmacy", "Physics", "Psychology", "Public_Health", "Sociology"),
)
"""The configurations of MMMU on the hub."""

_A_OKVQA = Benchmark(
    name="a-okvqa",
    title="A-OKVQA",
    hub="HuggingFaceM4/A-OKVQA",
    split="validation",
    splits=("train",),
    licence="Apache-2.0",
    licence_note="the annotations; the pictures are COCO's, under the terms of their owners",
    columns=Columns(
        id="question_id", question="question", options="choices", answer="correct_choice_idx", images="image"
    ),
    answers="index0",
    format="lower/double_brackets/line_break",
    format_source=_TABLE_5,
    published=(Published(where=_TABLE_5, questions=1145, rotations=4580, first_size=582, second_size=480),),
    traps=(
        Trap(
            what="The official prediction is an option's text, not a letter.",
            handled="An exact reply counts only as the shown ID; a free one may name an option by its whole text.",
        ),
        SAME_PICTURE,
    ),
    local="aokvqa_v1p0_val.json beside val2017/ of COCO (or --image-root), or a copy of the hub's files",
    native="a-okvqa",
)
_HR_BENCH = Benchmark(
    name="hr-bench-4k",
    title="HR-Bench-4K",
    hub="DreamMr/HR-Bench",
    configs=("hrbench_version_split",),
    split="hrbench_4k",
    columns=Columns(id="index", question="question", answer="answer", images="image"),
    answers="letter",
    copies=by_content,
    format_source=_TABLE_5,
    published=(Published(where=_TABLE_5, questions=200, rotations=800, first_size=4024, second_size=3503),),
    traps=(
        Trap(what=COPIED_ROWS.what, handled=COPIED_ROWS.handled + " Copies have the same texts and picture."),
        Trap(
            what="Pictures are base64 text of several megabytes.",
            handled="They are read whole and kept encoded; `--image-max-pixels` scales them down, which changes the "
            "benchmark.",
        ),
    ),
)
_MMBENCH = Benchmark(
    name="mmbench-dev",
    title="MMBench-DEV",
    hub="lmms-lab/MMBench",
    configs=("en",),
    split="dev",
    licence="Apache-2.0",
    licence_note="of the authors' repository",
    columns=Columns(
        id="index", question="question", answer="answer", images="image", hint="hint", category="category"
    ),
    answers="letter",
    copies=by_index,
    format="upper/dot/semicolon",
    format_source=_TABLE_5,
    published=(
        Published(where=_TABLE_5, questions=1292, rotations=4876, first_size=464, second_size=349),
        Published(where="hub card: 4,329 rows of the English dev split", questions=1164, rotations=4329),
    ),
    traps=(
        Trap(
            what=COPIED_ROWS.what + " Copy k of question i has the index i + k x 1,000,000; some questions have fewer "
            "copies than options.",
            handled=COPIED_ROWS.handled,
        ),
        NAN_CELLS,
        Trap(
            what="Harnesses join the hint to the question in different ways.",
            handled="The hint stands before the question on a line of its own.",
        ),
        Trap(
            what="Right options are unbalanced over the places (about a third are A).",
            handled="Circular orders balance them; with the data's own order alone the summary says so.",
        ),
    ),
)  # fmt: skip
_MME_REALWORLD = Benchmark(
    name="mme-realworld-lite",
    title="MME-RealWorld-Lite",
    hub="yifanzhang114/MME-RealWorld-lite-lmms-eval",
    split="train",
    licence="non-commercial; no redistribution",
    licence_note="the authors forbid to distribute, publish, copy, disseminate or modify the data",
    columns=Columns(
        id="index", question="question", options="multi-choice options", answer="answer", images="bytes",
        category="category",
    ),
    answers="letter",
    format="upper/double_brackets/line_break",
    format_source=_TABLE_5,
    published=(Published(where=_TABLE_5, questions=1919, rotations=9595, first_size=2836, second_size=1566),),
    traps=(
        Trap(
            what="Options carry IDs of their own, `(A) `, sometimes without the blank or in full-width brackets.",
            handled="They are taken off by pattern, never by counting characters.",
        ),
        LIST_AS_TEXT,
        Trap(
            what="Option (E) says that the picture does not show it; a model that declines looks like one that errs.",
            handled="It is an option like the others; the selection frequencies show how often it is chosen.",
        ),
        SAME_PICTURE,
    ),
)  # fmt: skip
_VSTAR = Benchmark(
    name="vstar",
    title="V*Bench",
    hub="lmms-lab/vstar-bench",
    split="test",
    licence="MIT",
    licence_note="of the authors' repository",
    columns=Columns(
        id="question_id", question="text", options="text", answer="label", images="image", category="category"
    ),
    answers="letter",
    steps=(leave_out_without_options,),
    format_source=_TABLE_5,
    published=(
        Published(where=_TABLE_5, questions=192, rotations=596, first_size=2246, second_size=1582),
        Published(where="hub card", questions=191),
    ),
    traps=(
        Trap(
            what="In the authors' folder the right option is always the first, so that always choosing the first "
            "scores 100 %.",
            handled="Options of that folder get an order that follows from the question's name (a seeded permutation); "
            "for any other copy a warning says so where the right option is always first.",
        ),
        IN_QUESTION,
        INSTRUCTION,
        Trap(
            what="Questions have 2 or 4 options.",
            handled="Figures are given by number of options where they must be (PIA, PriDe).",
        ),
    ),
    local="the authors' folder (direct_attributes/, relative_position/), or a copy of the hub's files",
    native="vstar",
)
_SCIENCEQA = Benchmark(
    name="scienceqa",
    title="ScienceQA",
    hub="derek-thomas/ScienceQA",
    split="test",
    splits=("validation", "train"),
    licence="CC BY-NC-SA 4.0",
    licence_note="non-commercial",
    columns=Columns(
        question="question", options="choices", answer="answer", images="image", hint="hint", category="subject"
    ),
    answers="index0",
    format_source=_LMMS_EVAL,
    published=(Published(where="authors' test split (2,017 with a picture, 2,224 without)", questions=4241),),
    traps=(
        Trap(
            what="The hint holds the passage that is needed to answer; some harnesses leave it out.",
            handled="It stands before the question.",
        ),
        Trap(what="More than half of the questions have no picture.", handled="They are asked without one; "
             "`scienceqa-img` leaves them out."),
        Trap(
            what="Lectures and solutions stand beside the question and would give the answer away.",
            handled="They are never shown.",
        ),
        SAME_PICTURE,
    ),
    local="problems.json (with pid_splits.json and the pictures beside it), its folder, or a copy of the hub's files",
    native="scienceqa",
)  # fmt: skip
_AI2D = Benchmark(
    name="ai2d",
    title="AI2D",
    hub="lmms-lab/ai2d",
    split="test",
    columns=Columns(question="question", options="options", answer="answer", images="image"),
    answers="index0",
    format_source=_LMMS_EVAL,
    published=(Published(where="hub card", questions=3088),),
    traps=(
        INDEX_AS_TEXT,
        Trap(
            what="Options may be single letters that label parts of the diagram (`c`, `D`, `b`, `a`), which collide "
            "with option IDs.",
            handled="The answer is an index and never read as such a letter; each item says so in its notes.",
        ),
        Trap(what="There is no ID.", handled="Rows are numbered."),
        SAME_PICTURE,
    ),
)
_MMMU = Benchmark(
    name="mmmu",
    title="MMMU",
    hub="MMMU/MMMU",
    configs=MMMU_SUBJECTS,
    split="validation",
    splits=("dev",),
    licence="Apache-2.0",
    columns=Columns(
        id="id", question="question", options="options", answer="answer", category="subject",
        images=tuple(f"image_{number}" for number in range(1, 8)),
    ),
    answers="letter",
    steps=(name_subject, leave_out_open),
    format_source=_LMMS_EVAL,
    published=(Published(where="authors' answer file (847 multiple-choice, 53 open)", questions=847),),
    traps=(OPEN, LIST_AS_TEXT, IMAGE_PLACES),
)  # fmt: skip
_MMMU_PRO = Benchmark(
    name="mmmu-pro",
    title="MMMU-Pro",
    hub="MMMU/MMMU_Pro",
    configs=("standard (10 options)",),
    split="test",
    licence="Apache-2.0",
    columns=_MMMU.columns,
    answers="letter",
    steps=(name_subject, leave_out_open),
    format_source=_LMMS_EVAL,
    published=(Published(where="authors' outputs", questions=1730),),
    traps=(
        LIST_AS_TEXT,
        IMAGE_PLACES,
        Trap(
            what="Questions have 1 to 12 options, not always 10.",
            handled="Every question has IDs of its own number; the one with a single option is left out and counted.",
        ),
    ),
)
_VISION_FIXED = (
    "not permuted: the picture itself holds the options under A, B, C, ..., so that another order or other IDs would "
    "contradict it"
)
_MMSTAR = Benchmark(
    name="mmstar",
    title="MMStar",
    hub="Lin-Chen/MMStar",
    split="val",
    columns=Columns(
        id="index", question="question", options="question", answer="answer", images="image", category="category"
    ),
    answers="letter",
    steps=(leave_out_without_options,),
    format="upper/colon/comma",
    format_source=_TEXTS,
    published=(Published(where="authors' card", questions=1500),),
    traps=(
        IN_QUESTION,
        Trap(
            what="The published file has the word `nan` where `None` was meant, in part as the right option.",
            handled="It is kept as an option, and a warning names it.",
        ),
    ),
)
_REALWORLDQA = Benchmark(
    name="realworldqa",
    title="RealWorldQA",
    hub="xai-org/RealworldQA",
    split="test",
    licence="CC BY-ND 4.0",
    columns=Columns(question="question", options="question", answer="answer", images="image"),
    answers="letter",
    steps=(leave_out_without_options,),
    format_source=_TEXTS,
    published=(Published(where="hub card, open questions included", questions=765),),
    traps=(
        IN_QUESTION,
        INSTRUCTION,
        Trap(what=OPEN.what + " They ask for a word or a number.", handled=OPEN.handled),
    ),
)

_ALL = (
    _A_OKVQA,
    _HR_BENCH,
    _MMBENCH,
    _MME_REALWORLD,
    _VSTAR,
    _SCIENCEQA,
    replace(
        _SCIENCEQA,
        name="scienceqa-img",
        title="ScienceQA-IMG",
        steps=(leave_out_without_image,),
        published=(Published(where="authors' test split, with a picture", questions=2017),),
    ),
    _AI2D,
    _MMMU,
    replace(
        _MMMU,
        name="mmmu-10",
        title="MMMU-10",
        configs=MMMU_SUBJECTS[:10],
        published=(Published(where="authors' answer file, these ten subjects", questions=286),),
        traps=(
            *_MMMU.traps,
            Trap(
                what="Paper 2 (CoT-prefix scoring) does not name its ten subjects.",
                handled="These are the first ten by name; others are chosen as in `--data mmmu:Art,Biology`.",
            ),
        ),
    ),
    _MMMU_PRO,
    replace(_MMMU_PRO, name="mmmu-pro-4", title="MMMU-Pro-4", configs=("standard (4 options)",)),
    replace(
        _MMMU_PRO,
        name="mmmu-pro-vision",
        title="MMMU-Pro-Vision",
        configs=("vision",),
        columns=Columns(id="id", question="question", options="options", answer="answer", images="image",
                        category="subject"),
        steps=(name_subject, leave_out_open, state_vision_question),
        not_permutable=_VISION_FIXED,
        traps=(
            LIST_AS_TEXT,
            Trap(
                what="Question and options stand in the picture, under IDs that no format can change.",
                handled="Nothing is permuted. The options are shown as text too, which the authors do not do: only "
                "formats with upper-case IDs agree with the picture, as `--design reference` asks.",
            ),
        ),
    ),
    _MMSTAR,
    _REALWORLDQA,
)  # fmt: skip
BENCHMARKS: Mapping[str, Benchmark] = {entry.name: entry for entry in _ALL}
"""Name on the command line -> entry."""
