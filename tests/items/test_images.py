"""Pictures as they come in the wild become upright RGB, or a clear error."""

import contextlib
import io
import struct
import warnings
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageFile

from vqaudit.errors import DatasetError, ImageError
from vqaudit.items.images import MAX_PIXELS, open_image
from vqaudit.items.item import ImageSource

STORED = {
    1: None,
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}
"""What a camera does to the upright picture under each EXIF orientation."""


def encode(image, kind="PNG", **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def decode(data, **options):
    return open_image(ImageSource(data=data), **options)


def quarters():
    pixels = np.full((32, 48, 3), 255, np.uint8)
    pixels[:16, :24], pixels[:16, 24:], pixels[16:, :24] = (255, 0, 0), (0, 255, 0), (0, 0, 255)
    return pixels


def png_header(width, height):
    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "WEBP", "JPEG"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_is_turned_upright(kind, orientation):
    upright = quarters()
    turn = STORED[orientation]
    stored = Image.fromarray(upright) if turn is None else Image.fromarray(upright).transpose(turn)
    exif = Image.Exif()
    exif[0x112] = orientation
    options = {"WEBP": {"lossless": True}, "JPEG": {"quality": 100, "subsampling": 0}}.get(kind, {})
    picture = decode(encode(stored, kind, exif=exif, **options))
    assert np.abs(np.asarray(picture.pixels).astype(int) - upright).max() <= (4 if kind == "JPEG" else 0)
    assert any("orientation" in note for note in picture.notes) == (orientation > 1)


def test_turned_pixels_carry_no_orientation_along():
    exif = Image.Exif()
    exif[0x112] = 6
    picture = decode(encode(Image.new("RGB", (4, 2)), "JPEG", exif=exif))
    assert not picture.pixels.getexif()
    assert not picture.pixels.info


def test_broken_metadata_does_not_cost_the_picture():
    data = encode(Image.new("RGB", (4, 2), (9, 9, 9)), "JPEG", exif=b"Exif\x00\x00MM\x00*\xff\xff\xff\xff")
    assert decode(data).pixels.size == (4, 2)


def test_transparency_is_shown_over_white():
    pixels = np.array([[[0, 0, 0, 255], [0, 0, 0, 0], [0, 0, 0, 128]]], np.uint8)
    picture = decode(encode(Image.fromarray(pixels)))
    levels = np.asarray(picture.pixels)[0, :, 0]
    assert levels[0] == 0
    assert levels[1] == 255
    assert abs(int(levels[2]) - 127) <= 1
    assert "white" in picture.notes[0]


def test_grey_with_alpha_and_alpha_palette_are_shown_over_white():
    grey = Image.new("LA", (2, 1), (0, 0))
    grey.putpixel((0, 0), (0, 255))
    palette = Image.new("PA", (2, 1), (0, 0))
    palette.putpixel((0, 0), (0, 255))
    for data in (encode(grey), encode(palette, "TIFF")):
        assert [decode(data).pixels.getpixel((x, 0))[0] for x in (0, 1)] == [0, 255]


def test_a_transparent_palette_entry_is_white_and_the_others_keep_their_colour():
    image = Image.new("P", (2, 1), 0)
    image.putpalette([255, 0, 0, 0, 255, 0])
    image.putpixel((1, 0), 1)
    for kind in ("PNG", "GIF"):
        pixels = decode(encode(image, kind, transparency=1)).pixels
        assert [pixels.getpixel((x, 0)) for x in (0, 1)] == [(255, 0, 0), (255, 255, 255)]
    plain = decode(encode(image)).pixels
    assert [plain.getpixel((x, 0)) for x in (0, 1)] == [(255, 0, 0), (0, 255, 0)]


def test_a_transparent_colour_of_rgb_and_of_grey_is_white():
    image = Image.new("RGB", (2, 1), (1, 2, 3))
    image.putpixel((1, 0), (9, 9, 9))
    pixels = decode(encode(image, transparency=(9, 9, 9))).pixels
    assert [pixels.getpixel((x, 0)) for x in (0, 1)] == [(1, 2, 3), (255, 255, 255)]
    deep = Image.fromarray(np.array([[257, 514]], np.uint16))
    pixels = decode(encode(deep, transparency=514)).pixels
    assert [pixels.getpixel((x, 0))[0] for x in (0, 1)] == [1, 255]


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
@pytest.mark.parametrize("mode", ["I;16", "I;16B"])
def test_16_bit_grey_is_scaled_and_not_clipped(kind, mode):
    values = np.array([[0, 16384, 32768, 65535, 257]], np.uint16)
    big = mode == "I;16B"
    image = Image.frombytes(mode, (5, 1), values.astype(">u2" if big else "<u2").tobytes())
    levels = np.asarray(decode(encode(image, kind)).pixels)[0, :, 0]
    assert levels.tolist() == [0, 64, 128, 255, 1]


def test_32_bit_grey_with_16_bit_values_is_scaled_and_others_are_refused():
    fits = Image.fromarray(np.array([[0, 65535]], np.int32))
    assert np.asarray(decode(encode(fits, "TIFF")).pixels)[0, :, 0].tolist() == [0, 255]
    for value in (65536, -1):
        with pytest.raises(ImageError, match=str(value)):
            decode(encode(Image.fromarray(np.array([[0, value]], np.int32)), "TIFF"))


def test_floating_point_grey_from_0_to_1_is_scaled_and_others_are_refused():
    fits = Image.fromarray(np.array([[0.0, 0.5, 1.0]], np.float32))
    assert np.asarray(decode(encode(fits, "TIFF")).pixels)[0, :, 0].tolist() == [0, 128, 255]
    for value in (1.5, np.nan):
        with pytest.raises(ImageError, match="outside 0 to 1"):
            decode(encode(Image.fromarray(np.array([[0.0, value]], np.float32)), "TIFF"))


def test_cmyk_has_the_right_sense():
    for kind in ("JPEG", "TIFF"):
        red = Image.new("CMYK", (8, 8), (0, 255, 255, 0))
        pixel = decode(encode(red, kind)).pixels.getpixel((4, 4))
        assert np.abs(np.subtract(pixel, (255, 0, 0))).max() < 10


def test_one_bit_pictures_are_black_and_white():
    image = Image.new("1", (2, 1), 0)
    image.putpixel((1, 0), 1)
    assert [decode(encode(image)).pixels.getpixel((x, 0)) for x in (0, 1)] == [(0, 0, 0), (255, 255, 255)]


@pytest.mark.parametrize(("kind", "options"), [("GIF", {}), ("WEBP", {"lossless": True}), ("PNG", {}), ("MPO", {})])
def test_of_several_frames_the_first_is_taken(kind, options):
    frames = [Image.new("RGB", (8, 8), colour) for colour in ((255, 0, 0), (0, 0, 255))]
    picture = decode(encode(frames[0], kind, save_all=True, append_images=frames[1:], **options))
    assert np.abs(np.subtract(picture.pixels.getpixel((4, 4)), (255, 0, 0))).max() < 3
    assert any("n_frames=2" in note for note in picture.notes)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "PPM"])
@pytest.mark.parametrize("share", [0.02, 0.5, 0.95])
def test_a_truncated_picture_is_an_error(kind, share):
    noise = np.random.default_rng(1).integers(0, 256, (60, 80, 3), dtype=np.uint8)
    data = encode(Image.fromarray(noise), kind)
    with pytest.raises(ImageError):
        decode(data[: int(len(data) * share)])


def test_a_truncated_progressive_jpeg_is_an_error():
    noise = np.random.default_rng(1).integers(0, 256, (60, 80, 3), dtype=np.uint8)
    data = encode(Image.fromarray(noise), "JPEG", progressive=True)
    with pytest.raises(ImageError, match="truncated"):
        decode(data[: len(data) // 2])


def test_a_bomb_is_refused_from_its_header():
    for side in (20_000, 10_000):
        with pytest.raises(ImageError, match="pixels"):
            decode(png_header(side, side))


def test_our_limit_holds_where_someone_lifted_pillows(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    with pytest.raises(ImageError, match=f"{MAX_PIXELS:,}"):
        decode(png_header(20_000, 20_000))


def test_pillows_globals_are_left_alone():
    before = (Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES, list(warnings.filters))
    decode(encode(Image.new("RGB", (2, 2))))
    assert (Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES, list(warnings.filters)) == before


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>', "SVG"),
        (b"\xef\xbb\xbf  <svg/>", "SVG"),
        (b"<!DOCTYPE html><html></html>", "web page"),
        (b"%PDF-1.4", "not a picture of a known kind"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not a picture of a known kind"),
        (b"not a picture", "not a picture of a known kind"),
        (png_header(0, 5), "not a picture"),
    ],
)
def test_what_is_no_picture_is_named(data, words):
    with pytest.raises(ImageError, match=words):
        decode(data)


def test_a_missing_file_is_an_image_error_that_names_it(tmp_path):
    with pytest.raises(ImageError, match=r"gone\.png.*cannot be read"):
        open_image(ImageSource(path=tmp_path / "gone.png"))


def test_a_broken_file_is_named(tmp_path):
    path = tmp_path / "broken.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\nxx")
    with pytest.raises(ImageError) as caught:
        open_image(ImageSource(path=path))
    assert caught.value.file == str(path)


@given(width=st.integers(1, 300), height=st.integers(1, 300), limit=st.integers(1, 20_000))
def test_scaling_keeps_the_limit_and_the_shape(width, height, limit):
    picture = decode(encode(Image.new("RGB", (width, height), (10, 20, 30))), max_pixels=limit)
    new_width, new_height = picture.pixels.size
    assert new_width * new_height <= max(limit, 1)
    assert picture.pixels.getpixel((0, 0)) == (10, 20, 30)
    if width * height <= limit:
        assert picture.pixels.size == (width, height)
        assert picture.notes == ()
    else:
        assert f"from {width} x {height}" in picture.notes[0]
        if min(new_width, new_height) > 20:
            assert new_width / new_height == pytest.approx(width / height, rel=0.06)


def test_a_limit_below_one_pixel_is_refused():
    with pytest.raises(DatasetError, match="max_pixels"):
        decode(encode(Image.new("RGB", (2, 2))), max_pixels=0)


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"BM", b"II*\x00", b"\xff\xd8\xff\xe0"]),
)
def test_any_bytes_give_a_picture_or_an_image_error(body, head):
    with contextlib.suppress(ImageError):
        assert decode(head + body).pixels.mode == "RGB"


def test_decoding_twice_gives_the_same_pixels():
    noise = np.random.default_rng(2).integers(0, 256, (40, 50, 4), dtype=np.uint8)
    data = encode(Image.fromarray(noise))
    first, second = (decode(data, max_pixels=500) for _ in range(2))
    assert first.pixels.tobytes() == second.pixels.tobytes()
    assert first.notes == second.notes
