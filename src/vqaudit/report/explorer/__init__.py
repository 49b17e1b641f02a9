"""The item explorer's data: every trial of a run in a form that a page can carry and a browser can filter at once.

Knows records. Knows no HTML: `templates/explorer/*.js` read what `packing` writes.
"""

from vqaudit.report.explorer.data import MAX_PACKED, Explorer, explorer_data

__all__ = ["MAX_PACKED", "Explorer", "explorer_data"]
