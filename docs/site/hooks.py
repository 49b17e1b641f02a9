"""Makes pages that are written for the repository read alike on the site.

Anchors get the names that they have in plain Markdown views (GitHub's rule), and links to files of the repository that
are no part of the site become the names of these files.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page

_UPWARD_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]\n]+)\]\((?P<path>(?:\.\./)+[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")


def github_slug(text: str, separator: str) -> str:
    """Returns the anchor of a heading: lower case, no punctuation but `-` and `_`, every blank a separator."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", separator)


def name_outside_files(text: str, *, page: str) -> str:
    """Returns the text of a page with links that leave docs/ replaced by the names of what they lead to.

    Args:
        text: Markdown.
        page: The page's path within docs/.
    """

    def replace(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link["path"]))
        if not path.startswith("../"):
            return link[0]
        path = path.removeprefix("../")
        return f"`{path}`" if link["text"].strip("`") == path else f"{link['text']} (`{path}`)"

    return _UPWARD_LINK.sub(replace, text)


def on_config(config: MkDocsConfig, **_: Any) -> MkDocsConfig:
    """Runs once, before pages are read."""
    config.mdx_configs["toc"] = {**config.mdx_configs.get("toc", {}), "slugify": github_slug}
    return config


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Runs for every page."""
    return name_outside_files(markdown, page=page.file.src_uri)
