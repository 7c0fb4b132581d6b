#!/usr/bin/env python3
"""A preprocessor of mdBook for links that leave the book, such as ../lab/METHOD.md, or a decision, which is not in
SUMMARY.md.

A code host shows such files, the HTML pages do not have them. With `git-repository-url` in docs/book.toml the links lead
to the repository. Without it, they become text with the path.
"""
import json
import posixpath
import re
import sys

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


def outside(link, page, chapters):
    """The path in the repository that `link` of `page` points to, if that is not one of the `chapters`."""
    path, _, anchor = link.partition("#")
    if not path or "://" in link:
        return None
    target = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), path))
    is_inside = target.removeprefix("docs/") in chapters if target.endswith(".md") else target.startswith("docs/")
    return None if is_inside else target + ("#" + anchor if anchor else "")


def rewrite(text, page, chapters, repository):
    """The text of `page` with its links to other parts of the repository changed."""
    def replace(match):
        target = outside(match[3], page, chapters)
        if target is None:
            return match[0]
        if repository:
            return f"{match[1]}[{match[2]}]({repository}/blob/HEAD/{target})"
        path = target.partition("#")[0]
        return match[2] if path in match[2] else f"{match[2]} (`{path}`)"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else LINK.sub(replace, part) for part in parts)


def chapters_of(items):
    """All chapters, nested ones included."""
    for item in items:
        chapter = item.get("Chapter") if isinstance(item, dict) else None
        if chapter:
            yield chapter
            yield from chapters_of(chapter["sub_items"])


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    context, book = json.load(sys.stdin)
    html = context["config"].get("output", {}).get("html", {})
    repository = html.get("git-repository-url", "").rstrip("/")
    chapters = list(chapters_of(book["items"]))
    paths = {chapter["path"] for chapter in chapters}
    for chapter in chapters:
        chapter["content"] = rewrite(chapter["content"], chapter["path"] or "", paths, repository)
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
