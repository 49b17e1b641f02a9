"""What an engine is asked: pictures are named by what is shown of them."""

import io

from PIL import Image as PixelImage

from vqaudit.items import ImageSource, Item
from vqaudit.run.requests import Pictures


def item_with_a_picture() -> Item:
    buffer = io.BytesIO()
    PixelImage.linear_gradient("L").save(buffer, "PNG")
    source = ImageSource(data=buffer.getvalue())
    return Item(id="1", question="?", options=("a", "b"), answer=0, images=(source,))


def test_a_picture_with_fewer_pixels_is_another_picture() -> None:
    """An engine that serves two runs keys its caches by this name, and must not answer the second from the first."""
    item = item_with_a_picture()
    whole, small, smaller = (Pictures(max_pixels=limit).of(item)[0] for limit in (None, 1024, 64))
    assert whole.pixels.size != small.pixels.size != smaller.pixels.size
    assert len({whole.digest, small.digest, smaller.digest}) == 3
    assert Pictures(max_pixels=64).of(item)[0].digest == smaller.digest


def test_a_whole_picture_keeps_the_name_of_its_file() -> None:
    item = item_with_a_picture()
    assert Pictures(max_pixels=None).of(item)[0].digest == item.images[0].digest()
