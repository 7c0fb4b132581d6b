#!/usr/bin/env python3
"""Checks that the tests with recorded system calls can fail: removes one sync, or one wait for a sync, at a time.

Usage: ci/power_cut.py [--texts] [ROUNDS]    (default: 3 runs of each edit, each of which must fail)

Each edit is made in a copy of the workspace. `--texts` only checks that each edit finds its text.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Not the usual directory: cargo would take what it has built from the copy for what it builds from the original.
TARGET = ROOT / (os.environ.get("CARGO_TARGET_DIR", "target") + "-power-cut")
JOURNAL, EXCHANGE = "lapwing-journal", "exchange"
# Longest time of one run, in seconds. A test takes half a minute.
LIMIT_S = 600

# What is missing, the file, its text, what replaces it, and the packages whose test must fail.
EDITS = [
    ("the sync of a file", "journal/src/storage/disk.rs",
     "self.0.sync_data()", "Ok(())", [JOURNAL, EXCHANGE]),
    ("the sync of a folder", "journal/src/storage/open_folder.rs",
     "self.0.sync_all()", "Ok(())", [JOURNAL, EXCHANGE]),
    ("the sync of the folders above", "journal/src/storage/folders.rs",
     "File::open(folder)?.sync_all()", "File::open(folder).map(drop)", [JOURNAL]),
    ("the wait of the stage *synced* for its sync", "journal/src/syncer.rs",
     "self.core.syncing().sync()?;", "", [JOURNAL]),
    ("the wait of answers for more than the write", "exchange/src/service/durable.rs",
     "journal.wait_synced(end, LONGEST_WAIT)? >= end", "journal.next_sequence() >= end", [EXCHANGE]),
    ("the wait of answers for anything", "exchange/src/service/durable.rs",
     "journal.wait_synced(end, LONGEST_WAIT)? >= end", "{ let _ = journal; true }", [EXCHANGE]),
    ("the wait of a snapshot for the sync", "exchange/src/service/snapshotting.rs",
     "if !self.wait_until_synced(sequence) {", "if sequence == 0 && !self.wait_until_synced(sequence) {", [EXCHANGE]),
]


def edited(edit):
    """Returns the text of the file with the edit."""
    name, path, text, replacement, _ = edit
    source = (ROOT / path).read_text()
    if source.count(text) != 1:
        sys.exit(f"power_cut: {path} must have the text {text!r} once: {name}")
    return source.replace(text, replacement)


def build(tree, package):
    """Returns the test program of a package."""
    command = ["cargo", "test", "--package", package, "--test", "power_cut", "--no-run"]
    env = dict(os.environ, CARGO_TARGET_DIR=str(TARGET))
    result = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"power_cut: an edit does not compile:\n{result.stderr[-4000:]}")
    return result.stderr.rsplit("(", 1)[1].split(")", 1)[0]


def fails(tree, program):
    """Runs a test program. Returns whether a test has failed because of what a power cut leaves."""
    command = [program, "--ignored", "survive", "durable"]
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    with subprocess.Popen(command, cwd=tree, start_new_session=True, **pipes) as process:
        try:
            output, _ = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            # With the programs that it has started.
            os.killpg(process.pid, signal.SIGKILL)
            return False
    return process.returncode != 0 and "moment=" in output


def main():
    arguments = sys.argv[1:]
    texts = [edited(edit) for edit in EDITS]
    if arguments == ["--texts"]:
        return
    rounds = int(arguments[0]) if arguments else 3
    missed = 0
    with tempfile.TemporaryDirectory() as temporary:
        tree = pathlib.Path(temporary) / "lapwing"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("target*", ".git"))
        for (name, path, _, _, packages), text in zip(EDITS, texts):
            (tree / path).write_text(text)
            for package in packages:
                program = build(tree, package)
                found = sum(fails(tree, program) for _ in range(rounds))
                print(f"power_cut: without {name}: the test of {package} failed {found} of {rounds} times", flush=True)
                missed += rounds - found
            shutil.copyfile(ROOT / path, tree / path)
    sys.exit(f"power_cut: {missed} runs did not fail" if missed else 0)


main()
