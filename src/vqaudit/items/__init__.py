"""What is asked: questions with options, right answers and images, read from files and screened.

Knows data. Knows nothing of formats, models or records.
"""

from vqaudit.items.columns import Columns
from vqaudit.items.dataset import Dataset, SkippedItem
from vqaudit.items.demo import DEMO_MODELS, demo_items, demo_model_path
from vqaudit.items.images import open_image
from vqaudit.items.item import ImageSource, Item
from vqaudit.items.loading import load_items

__all__ = [
    "DEMO_MODELS",
    "Columns",
    "Dataset",
    "ImageSource",
    "Item",
    "SkippedItem",
    "demo_items",
    "demo_model_path",
    "load_items",
    "open_image",
]
