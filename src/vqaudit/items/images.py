"""Encoded pictures into upright RGB pixels, safely and always alike.

Knows encoded bytes and Pillow. Changes none of Pillow's global settings. Knows no item and no model.
"""

from __future__ import annotations

import io
import math
import warnings
from dataclasses import dataclass

import numpy as np
from PIL import ExifTags, Image, ImageFile

from vqaudit.errors import DatasetError, ImageError
from vqaudit.items.item import ImageSource

__all__ = ["FORMATS", "MAX_PIXELS", "DecodedImage", "check_picture", "decoding_settings", "image_size", "open_image"]

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "DIB", "TIFF", "PPM")
"""What is decoded (JPEG includes MPO): raster formats only, none that runs another program or is a document."""
MAX_PIXELS = 89_478_485
"""Pixels of the largest picture that is decoded: the size at which Pillow first warns of a decompression bomb."""
_WHITE = (255, 255, 255, 255)
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""EXIF orientation -> what makes the picture upright."""
_SIDEWAYS = (5, 6, 7, 8)
"""EXIF orientations that exchange width and height."""
_SIXTEEN_BIT = ("I", "I;16", "I;16B", "I;16L", "I;16N")


@dataclass(frozen=True, kw_only=True, slots=True)
class DecodedImage:
    """A picture as a model gets it."""

    pixels: Image.Image
    """RGB, upright, first frame, without metadata."""
    notes: tuple[str, ...] = ()
    """What was done to the picture beyond decoding it."""


def open_image(source: ImageSource, *, max_pixels: int | None = None) -> DecodedImage:
    """Decodes a picture into upright RGB.

    Transparent parts are shown over white, 16-bit grey is scaled by 1/257, floating-point grey from 0 to 1 by 255,
    of several frames the first is taken, and the orientation that a camera recorded is applied.

    Args:
        source: Where the picture is.
        max_pixels: A larger picture is scaled down to at most so many pixels, keeping its shape (Lanczos).

    Raises:
        ImageError: It cannot be read, is no raster picture, is cut off, or has more than `MAX_PIXELS` pixels.

    Example:
        >>> buffer = io.BytesIO()
        >>> Image.new("RGBA", (4, 2), (255, 0, 0, 0)).save(buffer, "PNG")
        >>> picture = open_image(ImageSource(data=buffer.getvalue()))
        >>> picture.pixels.getpixel((0, 0)), picture.notes
        ((255, 255, 255), ('transparent parts are shown over white',))
    """
    if max_pixels is not None and max_pixels < 1:
        raise DatasetError(f"max_pixels must be at least 1, not {max_pixels}")
    data = _read(source)
    try:
        with warnings.catch_warnings():
            # Pillow also warns of harmless oddities, such as broken EXIF, which do not change the pixels.
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            pixels, notes = _decode(data)
    except ImageError as error:
        raise ImageError(error.message, file=source.path) from error.__cause__
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ImageError(f"the picture is too large to be decoded safely ({error})", file=source.path) from error
    except Exception as error:
        # On broken files Pillow's decoders raise almost anything: OSError, SyntaxError, struct.error, IndexError ...
        raise ImageError(f"the picture cannot be decoded: {error or type(error).__name__}", file=source.path) from error
    if max_pixels is not None:
        pixels, scaled = _scale_down(pixels, max_pixels)
        notes = [*notes, *scaled]
    return DecodedImage(pixels=pixels, notes=tuple(notes))


def decoding_settings() -> dict[str, bool]:
    """Returns Pillow's settings in this process that decide which pictures can be decoded, for the manifest.

    `load_truncated_images`: whether a picture that is cut off is filled up instead of refused. It is off unless some
    other library turns it on.

    Example:
        >>> decoding_settings()
        {'load_truncated_images': False}
    """
    return {"load_truncated_images": bool(ImageFile.LOAD_TRUNCATED_IMAGES)}


def image_size(source: ImageSource) -> tuple[int, int]:
    """Returns width and height in pixels of the upright picture, from its header; no pixel is decoded.

    Raises:
        ImageError: It cannot be read, or is no raster picture.

    Example:
        >>> buffer = io.BytesIO()
        >>> Image.new("RGB", (4, 2)).save(buffer, "PNG")
        >>> image_size(ImageSource(data=buffer.getvalue()))
        (4, 2)
    """
    data = _read(source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                width, height = image.size
                return (height, width) if _orientation(image) in _SIDEWAYS else (width, height)
    except Exception as error:  # as in `open_image`: broken headers raise almost anything
        raise ImageError(f"the picture's size cannot be told: {error}", file=source.path) from error


def check_picture(data: bytes) -> None:
    """Refuses, by the header alone, what `open_image` would refuse for its kind or its size.

    Raises:
        ImageError: It is no raster picture of a known kind, or has more than `MAX_PIXELS` pixels.

    Example:
        >>> check_picture(b"<svg xmlns='http://www.w3.org/2000/svg'/>")
        Traceback (most recent call last):
        vqaudit.errors.ImageError: it is an SVG drawing, not a raster picture
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with _identified(data) as image:
                _refuse_size(image)
    except ImageError:
        raise
    except Exception as error:  # as in `open_image`: broken headers raise almost anything
        raise ImageError(f"the picture cannot be decoded: {error or type(error).__name__}") from error


def _read(source: ImageSource) -> bytes:
    try:
        data = source.read()
    except ImageError:
        raise
    except DatasetError as error:
        raise ImageError(error.message, file=source.path) from error
    if not data:
        raise ImageError("the picture is empty", file=source.path)
    return data


def _identified(data: bytes) -> Image.Image:
    try:
        return Image.open(io.BytesIO(data), formats=FORMATS)
    except Image.UnidentifiedImageError as error:
        raise ImageError(_what_it_is(data)) from error


def _decode(data: bytes) -> tuple[Image.Image, list[str]]:
    with _identified(data) as image:
        _refuse_size(image)
        notes = _frames(image)
        orientation = _orientation(image)
        image.load()
        # Asked again, since Pillow itself turns a TIFF on loading and then drops the tag.
        turn = _TURNS.get(_orientation(image))
        upright = image if turn is None else image.transpose(turn)
        if orientation in _TURNS:
            notes.append(f"turned upright (EXIF orientation {orientation})")
        pixels, changes = _to_rgb(upright)
    # A fresh picture carries no EXIF or palette along, which a later step might apply again.
    clean = Image.new("RGB", pixels.size)
    clean.paste(pixels)
    return clean, notes + changes


def _what_it_is(data: bytes) -> str:
    head = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    for mark, name in ((b"<svg", "an SVG drawing"), (b"<!doctype html", "a web page"), (b"<html", "a web page")):
        if head.startswith(mark) or (head.startswith(b"<?xml") and mark in head):
            return f"it is {name}, not a raster picture"
    return f"not a picture of a known kind ({', '.join(FORMATS)}); it begins with {data[:8]!r}"


def _refuse_size(image: Image.Image) -> None:
    width, height = image.size
    if width < 1 or height < 1:
        raise ImageError(f"the picture has no pixels ({width} x {height})")
    if width * height > MAX_PIXELS:
        raise ImageError(f"the picture has {width} x {height} pixels; at most {MAX_PIXELS:,} are decoded")


def _frames(image: Image.Image) -> list[str]:
    count = getattr(image, "n_frames", 1)
    if count == 1:
        return []
    image.seek(0)
    return [f"first of several frames (n_frames={count})"]


def _orientation(image: Image.Image) -> int:
    """Returns the orientation that the camera recorded; 1, upright, also where the metadata is broken."""
    try:
        recorded = image.getexif().get(ExifTags.Base.Orientation, 1)
    except Exception:  # broken metadata raises SyntaxError, struct.error, ValueError ..., and the pixels are sound
        return 1
    return recorded if recorded in _TURNS else 1


def _to_rgb(image: Image.Image) -> tuple[Image.Image, list[str]]:
    if image.mode in _SIXTEEN_BIT:
        return _from_16_bit(image), ["16-bit grey is scaled to 8 bits"]
    if image.mode == "F":
        return _from_float(image), ["floating-point grey is scaled to 8 bits"]
    if image.has_transparency_data:
        return _over_white(image.convert("RGBA"))
    if image.mode == "CMYK":
        return image.convert("RGB"), ["CMYK is converted to RGB without a colour profile"]
    return image.convert("RGB"), []


def _over_white(image: Image.Image) -> tuple[Image.Image, list[str]]:
    lowest, _ = image.getchannel("A").getextrema()
    background = Image.new("RGBA", image.size, _WHITE)
    flat = Image.alpha_composite(background, image).convert("RGB")
    return flat, [] if lowest == 255 else ["transparent parts are shown over white"]


def _from_16_bit(image: Image.Image) -> Image.Image:
    values = np.asarray(image).astype(np.int64)
    if values.min() < 0 or values.max() > 65535:
        raise ImageError(
            f"grey levels from {values.min()} to {values.max()}; 0 to 65535 can be shown, so save it with 8 or 16 bits"
        )
    grey = (values + 128) // 257
    transparent = image.info.get("transparency")
    if isinstance(transparent, int):
        grey[values == transparent] = 255
    return Image.fromarray(grey.astype(np.uint8)).convert("RGB")


def _from_float(image: Image.Image) -> Image.Image:
    values = np.asarray(image, dtype=np.float64)
    if not np.isfinite(values).all() or values.min() < 0 or values.max() > 1:
        raise ImageError("floating-point grey levels outside 0 to 1; save the picture with 8 or 16 bits")
    return Image.fromarray(np.rint(values * 255).astype(np.uint8)).convert("RGB")


def _scale_down(image: Image.Image, max_pixels: int) -> tuple[Image.Image, list[str]]:
    width, height = image.size
    if width * height <= max_pixels:
        return image, []
    scale = math.sqrt(max_pixels / (width * height))
    narrow = max(1, math.floor(min(width, height) * scale))
    long = max(1, min(math.floor(max(width, height) * scale), max_pixels // narrow))
    size = (long, narrow) if width >= height else (narrow, long)
    note = f"scaled down from {width} x {height} to {size[0]} x {size[1]} pixels"
    return image.resize(size, Image.Resampling.LANCZOS), [note]
