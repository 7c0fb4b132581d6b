#!/usr/bin/env python3
"""Writes the table of ARCHITECTURE.md that shows the sizes of the protocol and the tuning, and how they are separated.

Usage: ci/structure.py             (writes the table)
       ci/structure.py --check     (fails if the table is out of date, or if a limit is exceeded)

A line of code is one that is neither blank nor a comment, outside tests.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "lapwing/src"
PAGE = ROOT / "ARCHITECTURE.md"
BEGIN = "<!-- structure: begin (ci/structure.py writes this table) -->\n"
END = "<!-- structure: end -->"

# Most code lines of the protocol: as many as a reader can review in an afternoon.
MOST_OF_PROTOCOL = 3000
# Most files on the way of an event: as many as in the LMAX Disruptor.
MOST_FILES = 8
# The files of the protocol that an event passes through, with one producer and one stage, while no thread waits.
PUBLISHED = ["claims/single.rs", "claims/window.rs", "claims/limit.rs", "claims/gate.rs", "control/mod.rs", "ring_buffer/mod.rs",
             "parking/event_count.rs", "parking/word.rs"]
HANDLED = ["reading/polling.rs", "reading/barrier.rs", "reading/cursor.rs", "reading/reader.rs", "life.rs", "ring_buffer/mod.rs",
           "control/mod.rs", "parking/released.rs"]


def without_tests(text):
    """The lines of `text` outside items that are only for tests."""
    lines, kept, at = text.split("\n"), [], 0
    while at < len(lines):
        if not re.match(r"\s*#\[cfg\((all\()?test\b", lines[at]):
            kept.append(lines[at])
            at += 1
            continue
        depth = opened = 0
        while True:
            line = re.sub(r'"(\\.|[^"])*"', '""', lines[at])
            depth += line.count("{") - line.count("}")
            opened |= "{" in line
            at += 1
            if (opened and depth <= 0) or (not opened and lines[at - 1].rstrip().endswith(";")):
                break
    return kept


def code(path):
    """The lines of code of a file."""
    return [line for line in without_tests(path.read_text()) if line.strip() and not line.strip().startswith("//")]


def files(folder):
    return sorted(path for path in (SOURCE / folder).rglob("*.rs") if path.name != "tests.rs")


def figures():
    protocol, tuning = files("protocol"), files("tuning")
    lines = lambda paths: sum(len(code(path)) for path in paths)
    edges = sum("crate::tuning" in line for path in protocol for line in code(path))
    everything = [path for path in files("") if "models" not in path.relative_to(SOURCE).parts]
    text = "\n".join("\n".join(code(path)) for path in everything)
    for name in PUBLISHED + HANDLED:
        assert (SOURCE / "protocol" / name).is_file(), name
    return {
        "code lines of the protocol": (f"{lines(protocol)} in {len(protocol)} files", lines(protocol) <= MOST_OF_PROTOCOL),
        "code lines of the tuning": (f"{lines(tuning)} in {len(tuning)} files", True),
        "imports of the tuning by the protocol": (edges, edges == 0),
        "files of the protocol that an event passes through, published": (len(PUBLISHED), len(PUBLISHED) <= MOST_FILES),
        "... handled": (len(HANDLED), len(HANDLED) <= MOST_FILES),
        "functions with `inline(always)`": (text.count("#[inline(always)]"), True),
        "public functions": (len(re.findall(r"^\s*pub (?:const |unsafe )*fn ", text, re.M)), True),
        "public types and traits": (len(re.findall(r"^\s*pub (?:struct|enum|trait|type) ", text, re.M)), True),
    }


def main():
    found = figures()
    rows = [f"| {name} | {value} |" for name, (value, _) in found.items()]
    table = "\n".join(["| | |", "|---|---|", *rows]) + "\n"
    page = PAGE.read_text()
    start, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    wanted = page[:start] + table + page[end:]
    failed = [f"{name}: {value}" for name, (value, is_within) in found.items() if not is_within]
    if "--check" not in sys.argv:
        PAGE.write_text(wanted)
    elif wanted != page:
        failed.append("the table of ARCHITECTURE.md is out of date: run ci/structure.py")
    for line in failed:
        print(f"structure: {line}", file=sys.stderr)
    sys.exit(bool(failed))


main()
