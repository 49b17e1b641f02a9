"""The pages of docs/ that follow from the tables of named benchmarks and models; `generate.py` writes them."""

from __future__ import annotations

from vqaudit.engines.models import MODELS, ModelEntry, memory_needed
from vqaudit.items.benchmarks import BENCHMARKS, Benchmark, Published

__all__ = ["benchmarks_page", "models_page"]

_BENCHMARKS = """# Benchmarks by name

```
vqaudit data                              lists them
vqaudit data mmstar                       source, licence, standard format, traps
vqaudit data mmstar --stats               reads the data and counts
vqaudit run --model MODEL --data mmstar --out RUN
```

## What `--data` takes
| value | meaning |
|---|---|
| `mmstar` | the data set on the Hugging Face hub, through `datasets` (extra `hub`), which keeps what it downloads |
| `mmstar=FOLDER` | a local copy: the hub's files as they lie in its repository, or what `datasets.save_to_disk` wrote |
| `mmstar=FILE` | one Parquet, TSV, CSV, JSON or JSONL file; the hub's columns, VLMEvalKit's, or others found by name |
| `mmstar=OWNER/NAME` | another data set of the hub with the same layout; `OWNER/NAME@REVISION` pins a commit |
| `mmmu:Art,Music` | some of the parts of a benchmark that has several |
| `FILE` | your own file ([command line](cli.md)); columns found by name or said with `--columns` |

`--split` takes another split that has right answers; `--image-root` says where pictures of a local copy lie. Case,
blanks, `-`, `_`, `.` and `*` do not count in names (`V*Bench` is `vstar`).

Without a network the message says what to download and how to pass it. Code that comes with a data set is never run.
The manifest of a run keeps source, split, the number of rows left out by reason, and the SHA-256 of everything asked.

## What is done to every benchmark
- Rows that are no questions of their own (open questions, rotated copies, a single option) are **left out and counted**
  by reason: in the terminal, in `vqaudit data --stats`, in the manifest. Any other bad row is an error that names row,
  column and item; `--skip-bad-items` leaves those out and lists them.
- Items that show the **same picture are one group**: intervals cluster by it.
- Items whose options speak of other options by ID or place are not permuted.
- Nothing of any benchmark is part of this package. Entries hold names, figures that others printed, and traps.

Options that stand inside the text are read in your own files too: `--columns '{"options": "question"}'` takes them
out of the column `question`. Rows with the question as an object (`{"question": {"stem": ..., "choices": [...]}}`, as
in ARC) are read as they are.

## What was checked, and what was not
No entry was read from the hub where it was written, since that machine had no access to it. Every layout is tested on
fixtures of the same columns and types, written with `datasets`; samples of real rows were read for MMBench (20
questions and their copies), ScienceQA (12), A-OKVQA (1), MMMU-Pro (all 1,730 of the authors' outputs: 1,729
questions and the one with a single option). Names of data sets and splits are those that public harnesses use. Entries
have no pinned revision for the same reason: the digest in the manifest tells two versions apart.

The two columns of picture sizes in paper 1's table 5 are headed H and W. For A-OKVQA (COCO's pictures, mostly wider
than high) they read 582 and 480; they may be exchanged. `--stats` prints both beside the counted means.

MMBench-DEV: the paper has 1,292 questions and 4,876 circular rows, the hub's English dev split 1,164 and 4,329, and
an older file (20230712) 1,176 and 4,377. Compare scores only where the number of questions agrees.

## Entries
"""

_MODELS = """# Models by name

```
vqaudit models                            lists them, with memory
vqaudit models gemma-3-4b                 engine, size, memory, traps
vqaudit run --model qwen2-vl-7b --data mmstar --out RUN
```

A short name stands for a hub ID. **Any other hub ID, folder or GGUF file works without an entry**; a folder of a short
name means the folder. Names behind a server are the server's own: `--model openai:NAME --base-url URL`. What a local
model cannot share or score exactly is found out when it is loaded, entry or not: it is compared with the plain path
([decision 8](decisions/0008-shared-prefixes.md)).

## What was run
No entry was run with its real weights where this page was written. The families marked *tiny* are tested on tiny random
models of the same classes: every event, with and without pictures, shared prefixes against the plain path. Families
marked *no* were not run at all. Numbers of parameters are those that transformers' classes have when they are built
from the published configurations (tested without weights), except Phi-3.5-vision and MiniCPM-V, whose numbers are the
model cards'; Phi-4's includes its adapters.

## Memory
Weights: `parameters x bytes`. Keys and values of one token: `2 x layers x KV heads x head size x bytes`. A batch of `B`
prompts that share a beginning of `P` tokens and have `s` of their own holds `P + B s` tokens where it is kept once and
`B (P + s)` where each row has a copy. The table is for bfloat16, P = 2,048, B = 48, s = 60; `vqaudit models
NAME --prefix P --rows B` gives others. Sliding-window layers count in full. Activations, the picture encoder at work
and the allocator's reserve come on top; batches are cut to `kv_budget` and never need the whole table's last column.

"""


def benchmarks_page() -> str:
    """Returns docs/benchmarks.md."""
    lines = [
        _BENCHMARKS,
        "| name | questions as published | standard format | hub data set | licence |",
        "|---|---|---|---|---|",
    ]
    for entry in BENCHMARKS.values():
        figures = next((f for f in entry.published if f.questions), None)
        questions = "" if figures is None else f"{figures.questions:,}"
        licence = entry.licence or "not stated where it was read"
        lines.append(
            f"| [`{entry.name}`](#{entry.name}) | {questions} | `{entry.format}` | {_hub(entry)} | {licence} |"
        )
    for entry in BENCHMARKS.values():
        lines += _benchmark(entry)
    return "\n".join(lines) + "\n"


def _benchmark(entry: Benchmark) -> list[str]:
    note = f" ({entry.licence_note})" if entry.licence_note else ""
    configs = [config for config in entry.configs if config is not None]
    parts = f"; {'parts' if len(configs) > 1 else 'configuration'} {', '.join(configs)}" if configs else ""
    return [
        "",
        f"### {entry.name}",
        f"{entry.title}: {_hub(entry)}{parts}; split `{entry.split}`"
        + (f" (also {', '.join(f'`{name}`' for name in entry.splits)})" if entry.splits else "")
        + f". Licence: {entry.licence or 'not stated where it was read; see the data card'}{note}.",
        f"Standard format `{entry.format}` ({entry.format_source}). Local copy: {entry.local}.",
        *(f"As published: {_figures(figures)}." for figures in entry.published),
        "",
        *(f"- {trap.what} **→** {trap.handled}" for trap in entry.traps),
    ]


def _hub(entry: Benchmark) -> str:
    return f"[{entry.hub}](https://huggingface.co/datasets/{entry.hub})"


def _figures(figures: Published) -> str:
    parts = [f"{figures.questions:,} questions"] if figures.questions else []
    parts += [f"{figures.rotations:,} circular rows"] if figures.rotations else []
    if figures.first_size and figures.second_size:
        parts.append(f"mean picture {figures.first_size:,.0f} and {figures.second_size:,.0f} pixels")
    return f"{', '.join(parts)} ({figures.where})"


def models_page() -> str:
    """Returns docs/models.md."""
    lines = [
        _MODELS,
        "| name | hub ID | engine | tried | parameters (10^9) | weights (GiB) | KV kept once (GiB) | KV copied (GiB) |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for entry in MODELS.values():
        memory = memory_needed(entry.shape, prefix=2048)
        sizes = " | ".join(f"{value:.1f}" for value in (memory.weights, memory.shared, memory.expanded))
        link = f"[{entry.hub}](https://huggingface.co/{entry.hub})"
        billions = f"{entry.shape.parameters / 1e9:.2f}"
        lines.append(f"| `{entry.name}` | {link} | {entry.engine} | {entry.tried} | {billions} | {sizes} |")
    lines += ["", "## Traps"]
    for entry in MODELS.values():
        lines += _model(entry)
    return "\n".join(lines) + "\n"


def _model(entry: ModelEntry) -> list[str]:
    paper = f" In the papers: {entry.paper}." if entry.paper else ""
    return [
        "",
        f"### {entry.name}",
        f"{entry.title} ({entry.year}), licence: {entry.licence}. Context {entry.context:,} tokens; a picture takes "
        f"{entry.picture}.{paper}",
        "",
        *(f"- {trap}" for trap in entry.traps),
    ]
