#!/usr/bin/env python3
"""Checks that each model can fail: breaks one ordering, fence, re-check or order of two statements at a time.

Usage: ci/mutants.py [ROW|NUMBER ...]          (the edits of these rows or with these numbers; default: all)
       ci/mutants.py --texts                   (only checks that each edit finds its text; runs no model)
       ci/mutants.py --search ROW|NUMBER ...   (runs every model with each of these edits; prints which ones fail)
       ci/mutants.py --search survivors        (the same; fails if a model sees an edit that has an argument)

The edits are in `mutants_list.py`. All of them are compiled into the test programs of the core, of the library and of
the segments in shared memory, from a copy of the three in which each edit is a choice at its site: `if
crate::mutants::is(7) { Ordering::Relaxed } else { Ordering::Release }`. A program reads the number of its edit from an
environment variable. A build for each of the 432 edits would take hours. The choices are made in a copy, since so many
of them would make the code hard to read. A model of the library may see an edit of the core.

The check fails if a model passes with its edit, since such a model proves nothing. That it passes without an edit is
the subject of `models.sh`. The check also fails if an edit has neither a model nor an argument why no model sees it, if
its text does not occur exactly once in its file, or if a model overflows its stack or runs too long.

Of 432 edits, 404 are caught. Of the 28 survivors, eleven change only a delay, the number of polls or the place of a
wait; twelve are orderings that loom cannot show, because a fence, a read-modify-write or another load next to them
carries the same; two need time, which loom does not have; one raises a flag that is raised already where threads of a
model park; and two are fences for `membarrier`, which no model calls.

The list was made from the models, so it cannot show what they leave out. Three further rounds chose edits from the
code alone, each with a schedule or an input that exposes it. The models and tests of that time missed 5 of 30, 11 of
30 and 8 of 32. Each of these 24 has a model or a test now, and none of them was a fault of the library.
"""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
from mutants_list import DROP, MUTANTS, RELAXED, SURVIVORS

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The crates with edits, each with the packages whose models run its code.
CRATES = {
    "core/src": ["lapwing-core", "lapwing"],
    "lapwing/src": ["lapwing"],
    "shared/src": ["lapwing-shared"],
}
# The directory and the flags of models.sh, so that the dependencies are built once.
TARGET = ROOT / (os.environ.get("CARGO_TARGET_DIR", "target") + "-loom")
# Number of models that run at the same time. A model keeps one CPU busy.
JOBS = min(os.cpu_count() or 1, 8)
# Longest time of one model, in seconds.
LIMIT_S = 300
# The same in a search, where most models pass.
SEARCH_LIMIT_S = 30
SEARCH_PREEMPTIONS = "2"
# How often the output of a model is read, in seconds, and what says there that it failed.
PAUSE_S = 0.5
FAILED = "FAILED"
VARIABLE = "LAPWING_MUTANT"
PREEMPTIONS = os.environ.get("LOOM_MAX_PREEMPTIONS", "3")

# The module that the copy of each crate gets: the number of the edit that is made.
CHOICE = f"""
#[cfg(loom)]
pub mod mutants {{
    use std::sync::OnceLock;

    pub fn is(number: u32) -> bool {{
        static CHOSEN: OnceLock<u32> = OnceLock::new();
        let chosen = || std::env::var("{VARIABLE}").map_or(0, |number| number.parse().unwrap());
        *CHOSEN.get_or_init(chosen) == number
    }}
}}
"""


class Edit:
    """One edit of a crate."""

    def __init__(self, number, name, rows, texts, replacements, models, argument):
        self.number, self.name, self.rows = number, name, rows.split()
        self.texts = [texts] if isinstance(texts, str) else list(texts)
        self.replacements = [replacements] if isinstance(replacements, str) else list(replacements)
        self.models, self.argument = models.split(), argument

    def __str__(self):
        text = " ".join(re.sub(r"\[\[|\]\]", "", " … ".join(self.texts)).split())
        return f"{self.number:3} {'/'.join(self.rows):8} {self.name:30} {text[:60]:60}"

    def condition(self):
        """Returns the condition that this edit is made."""
        return f"crate::mutants::is({self.number})"

    def packages(self):
        """Returns the packages whose models may see it."""
        return next(packages for folder, packages in CRATES.items() if self.name.startswith(f"{folder}/"))

    def sites(self, source):
        """Yields the range of each site in `source`, and its choice. Raises ValueError if a text is not there once."""
        replacements = iter(self.replacements)
        for text in self.texts:
            plain = re.sub(r"\[\[|\]\]", "", text)
            if (count := source.count(plain)) != 1:
                raise ValueError(f"the text must occur once in {self.name}, but occurs {count} times: {plain!r}")
            start = source.index(plain)
            for begin, end in regions(text):
                replacement = next(replacements)
                if replacement == RELAXED:
                    begin, end = ordering(plain, begin, end)
                    replacement = "Ordering::Relaxed"
                yield start + begin, start + end, choice(self.condition(), plain[begin:end], replacement)
        if next(replacements, None) is not None:
            raise ValueError(f"more replacements than sites in {self.name}: {self.texts}")


def regions(text):
    """Returns the ranges of `text`, without its marks, that `[[` and `]]` enclose. Without marks: the whole text."""
    found, length = [], 0
    for index, part in enumerate(re.split(r"\[\[|\]\]", text)):
        if index % 2 == 1:
            found.append((length, length + len(part)))
        length += len(part)
    return found or [(0, length)]


def ordering(text, begin, end):
    """Returns the range of the only ordering in that part of `text` that is not relaxed."""
    found = [match.span() for match in re.finditer(r"Ordering::(?!Relaxed)\w+", text[begin:end])]
    if len(found) != 1:
        raise ValueError(f"there must be one ordering to relax: {text!r}")
    return begin + found[0][0], begin + found[0][1]


def choice(condition, text, replacement):
    """Returns the text before the site, and after it, such that `replacement` is there under `condition`."""
    if "$M" in replacement:
        # A template of its own: `$T` is the site.
        if replacement.count("$T") != 1:
            raise ValueError(f"a template must have `$T` once: {replacement!r}")
        before, _, after = replacement.replace("$M", condition).partition("$T")
        return before, after
    if replacement == DROP:
        return f"if !{condition} {{ ", " }"
    if text.endswith((";", "}")):
        return f"if {condition} {{ {replacement} }} else {{ ", " }"
    return f"(if {condition} {{ {replacement} }} else {{ ", " })"


def all_edits():
    """Returns all edits, numbered from 1."""
    edits = []
    for listed, is_caught in [(MUTANTS, True), (SURVIVORS, False)]:
        for name, entries in listed.items():
            for rows, texts, replacements, last in entries:
                models, argument = (last, "") if is_caught else ("", last)
                edits.append(Edit(len(edits) + 1, name, rows, texts, replacements, models, argument))
    return edits


def with_choices(source, edits):
    """Returns `source` with a choice at each site of `edits`. A site may be part of another one."""
    sites = sorted((begin, -end, edit.number, parts) for edit in edits for begin, end, parts in edit.sites(source))
    pieces, open_sites, position = [], [], 0

    def close_until(limit):
        nonlocal position
        while open_sites and open_sites[-1][0] <= limit:
            end, after = open_sites.pop()
            pieces.extend([source[position:end], after])
            position = end

    for begin, end, number, (before, after) in sites:
        close_until(begin)
        if open_sites and -end > open_sites[-1][0]:
            raise ValueError(f"edit {number} overlaps the end of another one: {source[begin:-end]!r}")
        pieces.extend([source[position:begin], before])
        position = begin
        open_sites.append((-end, after))
    close_until(len(source))
    return "".join(pieces) + source[position:]


def copy_with_choices(tree, edits):
    """Copies the workspace to `tree`, with a choice at each site of `edits`."""
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("target*", ".git"))
    for name in {edit.name for edit in edits}:
        path = tree / name
        path.write_text(with_choices(path.read_text(), [edit for edit in edits if edit.name == name]))
    for folder in CRATES:
        library = tree / folder / "lib.rs"
        source = library.read_text()
        # After the documentation of the crate. The choices need not be pretty.
        items = re.search(r"^(?!//!)", source, re.MULTILINE).start()
        library.write_text(f"{source[:items]}#![allow(warnings)]\n{source[items:]}{CHOICE}")


def build(tree, packages):
    """Builds the models of `packages` in `tree`; returns the test program of each."""
    env = dict(os.environ, RUSTFLAGS=os.environ.get("RUSTFLAGS", "") + " --cfg loom", CARGO_TARGET_DIR=str(TARGET))
    selected = [argument for package in packages for argument in ("--package", package)]
    command = ["cargo", "test", "--profile", "model", *selected, "--lib", "--no-run"]
    result = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True)
    paths = [tree / path for path in re.findall(r"Executable unittests .*\((.*)\)", result.stderr)]
    # A program has the name of its package and a hash.
    programs = {path.name.rsplit("-", 1)[0].replace("_", "-"): path for path in paths}
    if result.returncode != 0 or programs.keys() != set(packages):
        sys.exit(f"the mutants do not compile:\n{result.stderr[-6000:]}")
    return programs


def run(model, number, limit=LIMIT_S, preemptions=PREEMPTIONS):
    """Runs a model, as `models` returns it, with edit `number`. Returns "fails", "passes", or what went wrong."""
    _, program, path = model
    env = dict(os.environ, LOOM_MAX_PREEMPTIONS=preemptions, RUST_BACKTRACE="0", **{VARIABLE: str(number)})
    # Not captured: a thread of a failed model may hold the lock of the captured output for ever.
    command = [program, "--exact", path, "--nocapture", "--test-threads=1"]
    with tempfile.TemporaryFile("w+") as file:
        process = subprocess.Popen(command, env=env, stdout=file, stderr=subprocess.STDOUT)
        output, end = "", time.monotonic() + limit
        while process.poll() is None and time.monotonic() < end:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PAUSE_S)
            file.seek(0)
            output = file.read()
            if f"{FAILED}\n" in output:
                break  # the ends of its channels may wait for threads that are gone
        if process.poll() is None:
            process.kill()
            process.wait()
            if f"{FAILED}\n" not in output:
                return f"not finished after {limit} s"
        file.seek(0)
        output = file.read()
    if "overflowed its stack" in output:
        return "overflowed its stack, independent of the edit"
    if "1 passed" not in output and "running 1 test" not in output:
        return f"did not run: {output[-500:]}"
    return "passes" if process.returncode == 0 else "fails"


def models(programs):
    """Returns the package, the program and the path of each model, by its name."""
    found = {}
    for package, program in programs.items():
        lines = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
        for path in [line.removesuffix(": test") for line in lines if "loom_" in line]:
            name = path.rsplit("::", 1)[-1]
            if name in found:
                sys.exit(f"two models have the name {name}")
            found[name] = (package, program, path)
    return found


def texts_missing(edits):
    """Yields a message for each edit whose sites are not found."""
    for edit in edits:
        try:
            list(edit.sites((ROOT / edit.name).read_text()))
        except (ValueError, StopIteration, OSError) as error:
            yield f"edit {edit.number}: {error}"


def chosen(edits, arguments):
    """Returns the edits that `arguments` select: rows, numbers, "survivors", or nothing for all."""
    if arguments == ["survivors"]:
        return [edit for edit in edits if edit.argument]
    wanted = set(arguments)
    return [edit for edit in edits if not wanted or wanted & {str(edit.number), *edit.rows}]


def check(edits, found, pool):
    """Runs the models of each edit. Returns the number of edits that each model saw, and messages for the others."""
    def outcome(edit, model):
        verdict = run(found[model], edit.number) if model in found else "is no model"
        print(f"{edit} {model:50} {verdict}", flush=True)
        return verdict

    runs = [(edit, [pool.submit(outcome, edit, model) for model in edit.models]) for edit in edits]
    caught, wrong = 0, []
    for edit, verdicts in runs:
        bad = [f"{model} {verdict.result()}" for model, verdict in zip(edit.models, verdicts)
               if verdict.result() != "fails"]
        wrong.extend(f"{edit}: {line}" for line in bad)
        caught += bool(edit.models) and not bad
    return caught, wrong


def search(edits, found, pool):
    """Runs each of `edits` with each model that may see it, quick ones first. Prints up to three that fail. Returns
    messages."""
    def duration(model):
        start = time.monotonic()
        verdict = run(found[model], 0, SEARCH_LIMIT_S, SEARCH_PREEMPTIONS)
        return time.monotonic() - start, model, verdict

    def failing(edit):
        seen, left_out = [], []
        for model in (model for model in quick if found[model][0] in edit.packages()):
            verdict = run(found[model], edit.number, SEARCH_LIMIT_S, SEARCH_PREEMPTIONS)
            if verdict == "fails":
                seen.append(model)
            elif verdict != "passes":
                left_out.append(f"({model} {verdict})")
            if len(seen) == 3:
                break
        print(f"{edit} {' '.join(seen + left_out) or 'survives'}", flush=True)
        return f"{edit}: has an argument why no model sees it, but {seen[0]} fails" if seen and edit.argument else ""

    timed = sorted(pool.map(duration, found))
    quick = [model for _, model, verdict in timed if verdict == "passes"]
    print("not tried:", *(f"{model} {verdict}," for _, model, verdict in timed if verdict != "passes"))
    return [message for message in pool.map(failing, edits) if message]


def main(arguments):
    edits = all_edits()
    if missing := list(texts_missing(edits)):
        sys.exit("\n".join(missing))
    for name in {edit.name for edit in edits}:
        with_choices((ROOT / name).read_text(), [edit for edit in edits if edit.name == name])
    if arguments == ["--texts"]:
        return
    is_search = arguments[:1] == ["--search"]
    tried = chosen(edits, arguments[is_search:])
    if not tried:
        sys.exit(f"no such row: {arguments}")
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(JOBS) as pool:
        tree = pathlib.Path(temporary) / "tree"
        copy_with_choices(tree, edits)
        programs = build(tree, sorted({package for edit in tried for package in edit.packages()}))
        built = time.monotonic()
        print(f"built in {built - start:.0f} s", flush=True)
        found = models(programs)
        if is_search:
            sys.exit("\n".join(search(tried, found, pool)) or None)
        caught, wrong = check(tried, found, pool)
    argued = sum(bool(edit.argument) for edit in tried)
    unexplained = [edit for edit in tried if not edit.models and not edit.argument]
    wrong.extend(f"{edit}: no model, and no argument why none sees it" for edit in unexplained)
    print(f"mutants: {len(tried)} of {len(edits)} tried, {caught} caught, {argued} survive with an argument, "
          f"{len(tried) - caught - argued} without; {time.monotonic() - built:.0f} s")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main(sys.argv[1:])
