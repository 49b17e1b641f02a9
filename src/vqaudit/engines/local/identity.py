"""Which model this is: what a manifest keeps, so that a run can be told from one of other weights.

Knows files, versions and settings. Computes nothing with the model.
"""

from __future__ import annotations

import hashlib
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from vqaudit.engines.local.adapters import FOLDERS, has_vision_adapter
from vqaudit.engines.local.loading import Loaded

__all__ = ["describe_model", "weights_fingerprint"]

_SMALL = 64 * 2**20
_WEIGHTS = ("*.safetensors", "*.bin", "*.gguf")
_PACKAGES = ("torch", "transformers", "tokenizers", "pillow", "peft")


def describe_model(name: str, loaded: Loaded) -> dict[str, Any]:
    """Returns who the model is, as JSON values."""
    network = loaded.model
    return {
        "engine": "local",
        "model": name,
        "commit": getattr(network.config, "_commit_hash", None),
        "class": type(network).__name__,
        "parameters": sum(weights.numel() for weights in network.parameters()),
        "dtype": str(network.dtype).removeprefix("torch."),
        "device": str(network.device),
        "device_name": _device_name(network.device),
        "attention": getattr(network.config, "_attn_implementation", None),
        "max_positions": loaded.max_positions,
        "end_tokens": loaded.tokenizer.convert_ids_to_tokens(list(loaded.ends)),
        "begin_tokens": loaded.tokenizer.convert_ids_to_tokens(list(loaded.begin)),
        "tokenizer": type(loaded.tokenizer).__name__,
        "image_processor": _image_processor(loaded.processor),
        "chat_template": loaded.template,
        "chat_template_sha256": None if loaded.template is None else _sha256(loaded.template.encode()),
        "weights": weights_fingerprint(name, network),
        "vision_adapter": has_vision_adapter(network),
        "mended": list(loaded.mended),
        "packages": {package: _version(package) for package in _PACKAGES},
    }


def weights_fingerprint(name: str, network: Any) -> dict[str, Any]:
    """Returns, for each file of weights, its size and a hash.

    The hash is over the whole file where it is smaller than 64 MB; over a larger safetensors file's header, which
    names every tensor; over the first and last megabyte of any other.
    """
    commit = getattr(network.config, "_commit_hash", None)
    within = FOLDERS[network.config.model_type] if has_vision_adapter(network) else None
    files = {file.name: file for file in _weight_files(name, commit)}
    files |= {f"{within}/{file.name}": file for file in _weight_files(name, commit, within=within) if within}
    return {name: {"bytes": file.stat().st_size, "sha256": _file_hash(file)} for name, file in files.items()}


def _weight_files(name: str, commit: str | None, *, within: str | None = None) -> list[Path]:
    path = Path(name)
    if path.is_file():
        return [path]
    folder = path if path.is_dir() else _snapshot(name, commit)
    return [] if folder is None else sorted(file for kind in _WEIGHTS for file in (folder / (within or "")).glob(kind))


def _snapshot(name: str, commit: str | None) -> Path | None:
    """The folder in which the hub's client keeps this commit, without asking the network."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, revision=commit, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError):
        return None


def _file_hash(file: Path) -> str:
    size = file.stat().st_size
    with file.open("rb") as handle:
        if size < _SMALL:
            return _sha256(handle.read())
        if file.suffix == ".safetensors":
            length = handle.read(8)
            return _sha256(length + handle.read(int.from_bytes(length, "little")))
        head = handle.read(2**20)
        handle.seek(-(2**20), 2)
        return _sha256(head + handle.read())


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()


def _image_processor(processor: Any | None) -> dict[str, Any] | None:
    if processor is None:
        return None
    kind = type(processor.image_processor).__name__
    return {
        "processor": type(processor).__name__,
        "class": kind,
        "backend": "pil" if kind.endswith("Pil") else getattr(processor.image_processor, "backend", "torchvision"),
        "size": _plain(getattr(processor.image_processor, "size", None)),
    }


def _plain(size: Any) -> Any:
    return {key: value for key, value in dict(size).items() if value is not None} if size is not None else None


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
