"""Model names -> models: folders, hub IDs and GGUF files.

Knows transformers' Auto classes and which part of a checkpoint belongs to which. Knows no request.
"""

from __future__ import annotations

import inspect
import io
from contextlib import nullcontext, redirect_stderr
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import transformers as hf

from vqaudit.engines.local.adapters import add_vision_adapter
from vqaudit.engines.local.processors import without_video_processors
from vqaudit.engines.local.quiet import quiet
from vqaudit.engines.local.repairs import mend
from vqaudit.engines.local.spec import LocalSpec
from vqaudit.errors import EngineError, EngineUnavailable

__all__ = ["Loaded", "load"]

_GGUF_PACKAGES = ("gguf", "accelerate")


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """A model with what its checkpoint says about its use."""

    model: Any
    """In evaluation mode, on its device."""
    tokenizer: Any
    processor: Any | None
    """What makes pictures into inputs; None for a model without pictures."""
    template: str | None
    """The chat template's source."""
    begin: tuple[int, ...]
    """Token IDs that stand before every prompt that does not already begin with them."""
    ends: tuple[int, ...]
    """Token IDs that end a reply: those of the generation configuration, of the model and of the tokenizer."""
    max_positions: int | None
    """Most tokens that the model can take; None where it does not say."""
    mended: tuple[str, ...] = ()
    """Faults of transformers' model that are mended here."""

    @property
    def image_token(self) -> str | None:
        """What the template writes for a picture."""
        return None if self.processor is None else self.processor.image_token

    @property
    def image_token_ids(self) -> frozenset[int]:
        """Token IDs that stand for a part of a picture."""
        ids = () if self.processor is None else self.processor.image_token_ids
        return frozenset(token for token in ids if token is not None)

    @property
    def accepted(self) -> frozenset[str]:
        """Names of the model's arguments."""
        return frozenset(inspect.signature(self.model.forward).parameters)

    @property
    def type_key(self) -> str | None:
        """The argument that says which tokens are a picture's, where the family has one."""
        if self.processor is None or not self.processor.return_mm_token_type_ids:
            return None
        return "token_type_ids" if "token_type_ids" in self.processor.model_input_names else "mm_token_type_ids"


def load(model: str | Path, spec: LocalSpec) -> Loaded:
    """Loads a model, prints nothing.

    Args:
        model: A folder, a hub ID, or the path of a GGUF file of a language model.
        spec: Device, dtype, revision and the like.

    Raises:
        EngineError: There is no such model, it lacks weights, or this device cannot hold it.
        EngineUnavailable: A package that it needs is missing.
    """
    place = _Place.of(model, spec)
    try:
        with quiet():
            config = hf.AutoConfig.from_pretrained(place.name, **place.options)
            processor = _load_processor(place) if _takes_images(config) else None
            tokenizer = _load_tokenizer(place) if processor is None else processor.tokenizer
            network = _load_network(place, config, spec)
    except ImportError as error:
        raise EngineUnavailable(f"model {str(model)!r} ({error})", extra=place.extra) from error
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise EngineError(
            f"model {str(model)!r} cannot be loaded: {reason[0]} (give a folder, a hub ID or a .gguf file)"
        ) from error
    template = _template(tokenizer, processor)
    return Loaded(
        model=network,
        tokenizer=tokenizer,
        processor=processor,
        template=template,
        begin=_begin(tokenizer, adds=processor is not None or template is None),
        ends=_ends(network, tokenizer),
        max_positions=getattr(network.config.get_text_config(), "max_position_embeddings", None),
        mended=mend(network),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """Where a checkpoint is, as transformers is told."""

    name: str
    options: dict[str, Any]
    extra: str

    @classmethod
    def of(cls, model: str | Path, spec: LocalSpec) -> _Place:
        options = {"revision": spec.revision, "trust_remote_code": spec.trust_remote_code}
        path = Path(model)
        if path.suffix == ".gguf":
            if not path.is_file():
                raise EngineError(f"there is no file {str(model)!r}")
            if not all(map(find_spec, _GGUF_PACKAGES)):
                raise EngineUnavailable("a GGUF file", extra="gguf")
            return cls(name=str(path.parent), options={**options, "gguf_file": path.name}, extra="gguf")
        return cls(name=str(model), options=options, extra="local")


def _takes_images(config: Any) -> bool:
    known = (
        type(config) in hf.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING or type(config) in hf.MODEL_FOR_MULTIMODAL_LM_MAPPING
    )
    return known or getattr(config, "vision_config", None) is not None


def _load_processor(place: _Place) -> Any:
    with without_video_processors():
        processor = hf.AutoProcessor.from_pretrained(place.name, **place.options)
    if getattr(processor, "image_token", None) is None or not hasattr(processor, "get_text_with_replacements"):
        raise EngineError(
            f"{type(processor).__name__} does not say which text stands for a picture; "
            "vqaudit supports the vision-language families that transformers itself implements"
        )
    return processor


def _load_tokenizer(place: _Place) -> Any:
    return hf.AutoTokenizer.from_pretrained(place.name, **place.options)


def _load_network(place: _Place, config: Any, spec: LocalSpec) -> Any:
    device = _device(spec)
    options = {
        **place.options,
        "dtype": _dtype(spec, device),
        "attn_implementation": spec.attn_implementation,
        "output_loading_info": True,
    }
    # The GGUF reader draws a progress bar that nothing else turns off.
    silence = redirect_stderr(io.StringIO()) if "gguf_file" in place.options else nullcontext()
    with silence:
        network, report = _auto_class(config).from_pretrained(place.name, **options)
    lacking = [*report["missing_keys"], *(key for key, *_ in report["mismatched_keys"])]
    if lacking:
        raise EngineError(f"the checkpoint {place.name!r} lacks {len(lacking)} weights, such as {min(lacking)!r}")
    add_vision_adapter(network, place.name, revision=spec.revision)
    try:
        return network.to(device).eval()
    except (RuntimeError, AssertionError) as error:
        raise EngineError(f"device {spec.device!r} cannot hold the model: {error}") from error


def _auto_class(config: Any) -> Any:
    if type(config) in hf.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING:
        return hf.AutoModelForImageTextToText
    if _takes_images(config):
        return hf.AutoModelForMultimodalLM
    return hf.AutoModelForCausalLM


def _device(spec: LocalSpec) -> torch.device:
    if spec.device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.device(spec.device)
    except RuntimeError as error:
        raise EngineError(f"torch knows no device {spec.device!r}; give auto, cpu, cuda or cuda:N") from error


def _dtype(spec: LocalSpec, device: torch.device) -> torch.dtype | str:
    if spec.dtype != "auto":
        return getattr(torch, spec.dtype)
    return torch.float32 if device.type == "cpu" else "auto"


def _template(tokenizer: Any, processor: Any | None) -> str | None:
    template = getattr(processor, "chat_template", None) or tokenizer.chat_template
    if isinstance(template, dict):
        template = template.get("default")
    return template or None


def _begin(tokenizer: Any, *, adds: bool) -> tuple[int, ...]:
    """Token IDs that the tokenizer itself puts before a text.

    As in transformers: a processor and a model without a chat template let it; a language model's chat is taken
    as the template makes it.
    """
    if not adds:
        return ()
    bare = tokenizer.encode("a", add_special_tokens=False)
    full = tokenizer.encode("a", add_special_tokens=True)
    return tuple(full[: full.index(bare[0])]) if bare and bare[0] in full else ()


def _ends(network: Any, tokenizer: Any) -> tuple[int, ...]:
    named = [
        getattr(network.generation_config, "eos_token_id", None),
        getattr(network.config.get_text_config(), "eos_token_id", None),
        tokenizer.eos_token_id,
    ]
    flat = [token for value in named for token in (value if isinstance(value, list | tuple) else [value])]
    size = network.get_output_embeddings().weight.shape[0]
    # some configurations name an end token of another tokenizer, beyond what the model can write
    return tuple(sorted({token for token in flat if token is not None and token < size}))
