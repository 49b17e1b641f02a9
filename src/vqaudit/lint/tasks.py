"""Task configurations of lm-eval and lmms-eval as descriptions, from YAML or from the results that repeat them.

Knows the keys of both harnesses. A function is read, never run; what cannot be known stays unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vqaudit.lint.description import Dead, Description, Event, Limit, Part, Reader, Scored, Text
from vqaudit.lint.finding import Place
from vqaudit.lint.functions import FunctionFacts, read_class_uses, read_function
from vqaudit.lint.shapes import as_list, as_mapping, as_tokens
from vqaudit.lint.templates import fixed_pieces, shown_ids, without_examples
from vqaudit.lint.yaml_files import Tagged, YamlFile

__all__ = ["TaskConfig", "describe_task", "task_of_file"]

LM_EVAL_DEFAULT_TOKENS = 256
"""What lm-eval generates where a task states no limit (`max_gen_toks` of its model classes)."""
_EVENTS: dict[str, Event] = {
    "multiple_choice": "option-likelihood",
    "loglikelihood": "option-likelihood",
    "generate_until": "generation",
    "generate_until_multi_round": "generation",
    "generate_visual_cot": "generation",
}
_LIMITS = ("max_gen_toks", "max_new_tokens", "max_tokens")
_SETTINGS = "lmms_eval_specific_kwargs"
_LETTERS = frozenset("ABCDEFGHIJ")


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskConfig:
    """A task's settings, its includes merged."""

    name: str
    values: Mapping[str, Any]
    place: Callable[..., Place]
    """From keys to where they are written."""
    folder: Path | None
    """Where its functions' modules are looked for; None where there are none."""
    harness: str
    own_settings: bool = True
    """Whether its prompt settings stand in its own file, not in one that other tasks include too."""

    def function(self, key: str) -> FunctionFacts | None:
        """Returns what the function of a key says; None where there is none or it cannot be found."""
        value = self.values.get(key)
        if self.folder is None or not isinstance(value, Tagged) or value.tag != "!function":
            return None
        near = Path(value.place.file).parent
        return read_function(value.value, near) or read_function(value.value, self.folder)


def task_of_file(file: YamlFile) -> TaskConfig | None:
    """Returns the task that a YAML file declares; None for a group, or a template for other files."""
    values = file.values
    asks = "doc_to_text" in values or "doc_to_messages" in values
    if not asks and "output_type" not in values:
        return None
    task = values.get("task")
    name = task if isinstance(task, str) else file.path.stem
    parts = {"lmms_eval", "lmms-eval"} & set(file.path.absolute().parts)
    lmms = bool(parts) or any(key in values for key in ("doc_to_visual", "doc_to_messages", _SETTINGS))
    return TaskConfig(
        name=name,
        values=values,
        place=file.place,
        folder=file.path.parent,
        harness="lmms-eval" if lmms else "lm-eval",
        own_settings=_SETTINGS in file.own,
    )


def describe_task(task: TaskConfig) -> tuple[Description, ...]:
    """Returns a task's descriptions: one, or one for each model name that has a prompt of its own."""
    event = _event(task)
    if event is None:
        return ()
    settings = as_mapping(task.values.get(_SETTINGS))
    own = {str(name): value for name, value in settings.items() if isinstance(value, Mapping)}
    default = own.pop("default", None) or {k: v for k, v in settings.items() if isinstance(v, str)}
    base = _described(task, event, default, name="default" if "default" in settings else None)
    base = replace(base, variants=tuple(own), dead=_dead(task, settings))
    others = [replace(_described(task, event, {**default, **o}, name=name), variant=name) for name, o in own.items()]
    return (base, *others)


def _event(task: TaskConfig) -> Event | None:
    stated = task.values.get("output_type")
    if stated is None and task.harness == "lmms-eval":
        return "generation"
    return _EVENTS.get(str(stated))


def _described(task: TaskConfig, event: Event, settings: Mapping[str, Any], *, name: str | None) -> Description:
    texts = tuple(_texts(task, settings, name))
    stops, stops_place = _stops(task)
    return Description(
        name=task.name,
        place=task.place("output_type"),
        event=event,
        texts=texts,
        scored=_scored(task) if event == "option-likelihood" else None,
        ids_shown=_ids_shown(task, texts),
        limit=_limit(task) if event == "generation" else None,
        stops=stops,
        stops_place=stops_place,
        readers=tuple(_readers(task)) if event == "generation" else (),
        whole_string=_whole_string(task) if event == "generation" else None,
        guesses=_guesses(task),
        fewshot=bool(task.values.get("num_fewshot")) or "fewshot_config" in task.values,
    )


def _texts(task: TaskConfig, settings: Mapping[str, Any], name: str | None) -> Iterator[Text]:
    """The prompt's words in the order in which the model reads them."""
    description = task.values.get("description")
    if isinstance(description, str):
        yield from _template(description, "instruction", task.place("description"))
    used = _used_settings(task, settings, name)
    yield from (text for key, text in used if key.startswith("pre"))
    for key in ("doc_to_messages", "doc_to_text"):
        value = task.values.get(key)
        facts = task.function(key)
        if facts is not None:
            part: Part = "earlier" if task.values.get("output_type") == "generate_visual_cot" else "question"
            yield from _function_texts(facts, part)
        elif isinstance(value, str) and _is_template(value):
            yield from _template(value, "question", task.place(key))
    yield from (text for key, text in used if not key.startswith("pre"))
    prefix = task.values.get("gen_prefix")
    if isinstance(prefix, str):
        yield Text(words=prefix, part="prefill", place=task.place("gen_prefix"))


def _is_template(value: str) -> bool:
    """A bare word is the name of a column, whose text is in the data; so are the names that logs give functions."""
    return ("{{" in value or "{%" in value or len(value.split()) > 1) and not value.startswith(("<function", "def "))


def _template(template: str, part: Part, place: Place) -> Iterator[Text]:
    for piece in fixed_pieces(without_examples(template)):
        yield Text(words=piece.words, part=part, place=place, certain=piece.certain)


def _function_texts(facts: FunctionFacts, part: Part) -> Iterator[Text]:
    for piece in facts.pieces:
        place = replace(facts.place, line=piece.line)
        yield Text(words=without_examples(piece.words), part=part, place=place, certain=piece.certain)


def _used_settings(task: TaskConfig, settings: Mapping[str, Any], name: str | None) -> list[tuple[str, Text]]:
    """The prompt settings that reach the model, by what the function reads; both usual ones where that is unknown."""
    facts = task.function("doc_to_text")
    messages = task.function("doc_to_messages")
    keys = (facts.keys if facts else frozenset()) | (messages.keys if messages else frozenset())
    found = []
    for key, value in settings.items():
        known = facts is not None and not facts.settings_leave
        read = key in keys if known else key in ("pre_prompt", "post_prompt")
        if read and isinstance(value, str) and len(value.split()) > 1:
            place = task.place(_SETTINGS, *([name] if name else []), key)
            part: Part = "instruction" if key.startswith("pre") else "ending"
            part = "earlier" if key.startswith("generation") else part
            found.append((key, Text(words=value, part=part, place=place)))
    return found


def _dead(task: TaskConfig, settings: Mapping[str, Any]) -> tuple[Dead, ...]:
    dead: dict[str, Dead] = {}
    asks = "doc_to_messages" if task.values.get("doc_to_messages") is not None else "doc_to_text"
    facts = task.function(asks)
    if facts is not None and not facts.settings_leave:
        for name, block in settings.items():
            inner = block.items() if isinstance(block, Mapping) else [(name, block)]
            path = [name] if isinstance(block, Mapping) else []
            for key, value in inner:
                if isinstance(value, str) and len(value.split()) > 1 and key not in facts.keys:
                    place = task.place(_SETTINGS, *path, key)
                    dead.setdefault(
                        key, Dead(words=f"{key}: {value.strip()}", place=place, shared=not task.own_settings)
                    )
    return (*dead.values(), *_dead_filters(task))


def _dead_filters(task: TaskConfig) -> Iterator[Dead]:
    for part in _filter_parts(task):
        function = part.get("function")
        pattern = part.get("regex_pattern")
        if not isinstance(function, Tagged) or not isinstance(pattern, str) or task.folder is None:
            continue
        if read_class_uses(function.value, Path(function.place.file).parent, "regex_pattern") is False:
            yield Dead(words=f"regex_pattern: {pattern}", place=function.place)


def _filter_parts(task: TaskConfig) -> Iterator[Mapping[str, Any]]:
    for each in as_list(task.values.get("filter_list")):
        yield from (part for part in as_list(as_mapping(each).get("filter")) if isinstance(part, Mapping))


def _readers(task: TaskConfig) -> Iterator[Reader]:
    for part in _filter_parts(task):
        pattern = part.get("regex_pattern")
        if part.get("function") == "regex" and isinstance(pattern, str):
            yield Reader(pattern=pattern, place=task.place("filter_list"), last=part.get("group_select") == -1)
    facts = task.function("process_results")
    if facts is None:
        return
    for pattern, line, at_start in facts.patterns:
        place = replace(facts.place, line=line)
        yield Reader(pattern=f"^(?:{pattern})" if at_start else pattern, place=place, sole=len(facts.patterns) == 1)


def _guesses(task: TaskConfig) -> Place | None:
    facts = task.function("process_results")
    return None if facts is None or facts.guesses is None else replace(facts.place, line=facts.guesses)


def _whole_string(task: TaskConfig) -> Place | None:
    """lm-eval's `exact_match` on an unfiltered reply compares the whole of it."""
    names = [as_mapping(metric).get("metric") for metric in as_list(task.values.get("metric_list"))]
    handled = any(task.values.get(key) is not None for key in ("filter_list", "process_results"))
    return None if handled or names != ["exact_match"] else task.place("metric_list")


def _limit(task: TaskConfig) -> Limit | None:
    stated = as_mapping(task.values.get("generation_kwargs"))
    for key in _LIMITS:
        if (tokens := as_tokens(stated.get(key))) is not None:
            return Limit(tokens=tokens, place=task.place("generation_kwargs", key))
    if task.harness == "lm-eval":
        return Limit(tokens=LM_EVAL_DEFAULT_TOKENS, place=task.place("generation_kwargs"), stated=False)
    return None


def _stops(task: TaskConfig) -> tuple[tuple[str, ...], Place | None]:
    stops = as_list(as_mapping(task.values.get("generation_kwargs")).get("until"))
    return tuple(str(stop) for stop in stops if stop is not None), task.place("generation_kwargs", "until")


def _scored(task: TaskConfig) -> Scored | None:
    choices = task.values.get("doc_to_choice")
    place = task.place("doc_to_choice")
    facts = task.function("doc_to_choice")
    if facts is not None:
        if facts.cuts is not None:
            return Scored(kind="cut texts", place=replace(facts.place, line=facts.cuts))
        return Scored(kind="ids" if facts.letters else "texts", place=facts.place)
    if isinstance(choices, list):
        strings = tuple(str(choice) for choice in choices)
        return Scored(kind="ids" if _are_ids(strings) else "texts", place=place, strings=strings)
    if isinstance(choices, str) and not choices.startswith(("<function", "def ")):
        letters = "'A'" in choices or '"A"' in choices
        named = any(word in choices for word in ("choices", "options", "endings", "text", "sol", "alternatives"))
        return Scored(kind="ids", place=place) if letters else Scored(kind="texts", place=place) if named else None
    return None


def _are_ids(strings: tuple[str, ...]) -> bool:
    bare = [string.strip().strip("().:") for string in strings]
    return len(bare) > 1 and all(len(b) == 1 for b in bare) and (set(bare) <= _LETTERS or bare == sorted(bare))


def _ids_shown(task: TaskConfig, texts: tuple[Text, ...]) -> tuple[str, ...] | None:
    """The IDs before the options; None where the options come out of data or code that was not read."""
    question = "\n".join(text.words for text in texts if text.part == "question")
    if shown := shown_ids(question):
        return shown
    template = task.values.get("doc_to_text")
    if not isinstance(template, str) or not _is_template(template):
        return None
    filled = {word.lower() for word in _filled_names(template)}
    opaque = ("choice", "option", "query", "prompt", "input", "question", "text", "instruction", "ctx", "context")
    told = len(filled) > 1 and "{%" not in template and not any(name in word for word in filled for name in opaque)
    return () if told else None


def _filled_names(template: str) -> list[str]:
    return [part.partition("}}")[0].strip() for part in template.split("{{")[1:]]
