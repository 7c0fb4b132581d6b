#!/usr/bin/env python3
"""Measures our exchange, without and with its journal, in turns with exchange-core, on the same commands.

exchange-core runs with each of two wait strategies. A figure of ours is compared with the better one.

Usage: exchange/rival/compare.py [--rounds N] [--rates R,...] [--commands N] [--folder FOLDER] [--limit SECONDS] [--json FILE]

A round runs each row once, in a shuffled order with a fixed seed. A row is a side at a rate, in commands per second; 0
is as fast as the side takes them. Each run is a process of its own, which warms up at full speed. Delays are in
microseconds from the time when a command should be sent to its last answer. A figure is the median of the rounds, with
their range.

A run must answer all commands, refuse none, and trade as often and as many lots as each other run. A run that takes too
long is killed. The exit code is 1 if a run failed. Without Java and Maven only our rows are measured.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
RUN = ROOT / "exchange/rival/run.sh"
RIVAL = "exchange-core"
# Its wait strategies: which is faster depends on the rate and on the number of CPUs.
WAITS = ["YIELDING", "BLOCKING"]
DELAYS = ["p50", "p90", "p99", "p99.9", "p99.99", "max"]
# What two runs of the same commands have in common.
ANSWERS = ["commands", "trades", "traded"]
NOT_INSTALLED = 77


def arguments():
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rates", type=lambda text: [int(float(rate)) for rate in text.split(",")],
                        default=[100_000, 1_000_000, 3_000_000, 5_000_000, 0], help="commands per second, with commas")
    parser.add_argument("--commands", type=int, default=1_000_000, help="commands of a run")
    parser.add_argument("--warm-ups", type=int, default=2, help="rounds of a process before the one that counts")
    parser.add_argument("--folder", type=pathlib.Path, default=TARGET, help="a folder on the disk of the journal")
    parser.add_argument("--limit", type=float, default=120, help="seconds until a run is killed")
    parser.add_argument("--program", type=pathlib.Path, default=TARGET / "release/exchange", help="our exchange")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures to this file")
    options = parser.parse_args()
    if min(options.rounds, options.commands) < 1 or min(options.rates) < 0:
        parser.error("--rounds and --commands must be at least 1, and no rate below 0")
    return options


def commands(options, flow):
    """The command line of each side, without a rate."""
    ours = [options.program, "bench", "--commands", options.commands, "--warm-ups", options.warm_ups, "--rate"]
    sides = {
        "lapwing": lambda rate: [*ours, rate],
        "lapwing + journal": lambda rate: [*ours, rate, "--journal", "--folder", options.folder],
    }
    built = subprocess.run([RUN, "--build"], check=False, capture_output=True, text=True)
    if built.returncode == 0:
        for wait in WAITS:
            sides[f"{RIVAL}, {wait.lower()}"] = (
                lambda rate, wait=wait: [RUN, flow, options.commands, rate, options.warm_ups, wait])
    elif built.returncode != NOT_INSTALLED:
        raise SystemExit(f"exchange-core does not build: {built.stderr.strip()}")
    return sides, built.stderr.strip() if built.returncode else None


def measure(command, limit):
    """Runs a side once. Returns its figures, or the reason why there are none."""
    command = [str(part) for part in command]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"failed": f"killed: no answer in {limit:g} seconds"}
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        complaint = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        return {"failed": f"exit code {done.returncode}: {complaint[0]}"}
    return json.loads(lines[-1])


def check(runs):
    """Says what is wrong with the answers, and marks the runs that it concerns. The first run of ours is the measure."""
    sound = [run for row in runs.values() for run in row if "failed" not in run]
    for run in sound:
        expected, found = ({name: of[name] for name in ANSWERS} for of in (sound[0], run))
        if run["refused"]:
            run["failed"] = f"{run['refused']} commands refused: {run.get('codes', 'see the reports')}"
        elif found != expected:
            run["failed"] = f"{found} in place of {expected}"


def values(row, name):
    """A figure in all runs of a row that have succeeded."""
    return [run[name] for run in row if "failed" not in run]


def quartiles(found):
    """The quartiles at the nearest rank, as the laboratory has them."""
    ordered = sorted(found)
    lower = (len(ordered) - 1) // 4
    return [ordered[lower], ordered[len(ordered) - 1 - lower]]


def ratios(runs, rate, side, name):
    """The ratio in each round to the way of waiting in which the rival does better. Empty without a rival."""
    rivals = [row for (at, other), row in runs.items() if at == rate and other.startswith(RIVAL) and values(row, name)]
    if not rivals:
        return []
    best = max if name == "per_second" else min
    row, rival = runs[rate, side], best(rivals, key=lambda row: statistics.median(values(row, name)))
    pairs = [(run, other) for run, other in zip(row, rival) if "failed" not in run and "failed" not in other]
    return [run[name] / max(other[name], 1) for run, other in pairs]


def lost(runs, rate, side):
    """The figures at which a side is behind the rival, by the median of the ratios."""
    behind = []
    for name in ["per_second"] if rate == 0 else DELAYS:
        found = ratios(runs, rate, side, name)
        if found and (statistics.median(found) < 1) == (name == "per_second"):
            behind.append(name)
    return behind


def cell(found, scale):
    """A median and its range."""
    if not found:
        return "-"
    middle, least, most = (f"{value / scale:.3g}" if value < scale * 100 else f"{value / scale:.0f}"
                           for value in (statistics.median(found), min(found), max(found)))
    return middle if len(found) == 1 else f"{middle} ({least}..{most})"


def table(runs, sides, rates):
    """The table in Markdown."""
    head = ["M/s asked", "side", "M/s", *DELAYS, "refused", f"behind {RIVAL}"]
    lines = [head, ["---"] * len(head)]
    for rate in rates:
        for side in sides:
            row = runs[rate, side]
            delays = ["" if rate == 0 else cell(values(row, name), 1e3) for name in DELAYS]
            refused = max((run.get("refused", 0) for run in row), default=0)
            failed = sum("failed" in run for run in row)
            behind = "" if side.startswith(RIVAL) else ", ".join(lost(runs, rate, side))
            asked = f"{rate / 1e6:g}" if rate else "all"
            speed = cell(values(row, "per_second"), 1e6) + (f", {failed} of {len(row)} runs failed" if failed else "")
            lines.append([asked, side, speed, *delays, str(refused), behind])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def record(rate, side, runs):
    """A row for the file of JSON."""
    row, figures = runs[rate, side], {}
    for name in ["per_second"] if rate == 0 else ["per_second", *DELAYS]:
        found, to_rival = values(row, name), ratios(runs, rate, side, name)
        figures[name] = {
            "median": statistics.median(found) if found else None,
            "quartiles": quartiles(found) if found else None,
            "ratio_to_rival": statistics.median(to_rival) if to_rival else None,
            "ratio_quartiles": quartiles(to_rival) if to_rival else None,
        }
    return {"benchmark": "exchange-compare", "side": side, "rate": rate, "figures": figures, "runs": row,
            "behind_rival": [] if side.startswith(RIVAL) else lost(runs, rate, side)}


def answer(*command):
    """What a program prints, or `unknown`."""
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def machine():
    """The machine and the builds, as the laboratory names them."""
    info = pathlib.Path("/proc/cpuinfo")
    models = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")] \
        if info.exists() else []
    return {
        "os": platform.system().lower(), "arch": platform.machine(), "kernel": platform.release(),
        "cpu": models[0] if models else "unknown", "logical_cpus": os.cpu_count(),
        "affinity": sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "measured_at": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": answer("git", "describe", "--always", "--dirty", "--abbrev=10"),
        "rustc": answer("rustc", "--version"),
    }


def cpu_time():
    """CPU seconds of the whole machine, and of this process with its children. None if the system does not say."""
    try:
        ticks = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    except OSError:
        return None
    own = os.times()
    busy = sum(ticks) - ticks[3] - ticks[4]  # without idle and iowait
    return busy / os.sysconf("SC_CLK_TCK") - (own.user + own.system + own.children_user + own.children_system)


def main():
    """Measures, prints the table and writes the file."""
    options = arguments()
    flow = TARGET / "exchange-flow.bin"
    subprocess.run([str(part) for part in (options.program, "bench", "--commands", options.commands, "--dump", flow)],
                   check=True)
    sides, missing = commands(options, flow)
    rows = [(rate, side) for rate in options.rates for side in sides]
    runs = {row: [] for row in rows}
    found, begun, before = machine(), time.monotonic(), cpu_time()
    shuffled = random.Random(1)
    complete = False
    try:
        for number in range(options.rounds):
            shuffled.shuffle(rows)
            for rate, side in rows:
                run = measure(sides[side](rate), options.limit)
                runs[rate, side].append(run)
                print(f"round {number + 1}: {side}, {rate} per second: {run.get('failed', 'done')}", file=sys.stderr)
        complete = True
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    if before is not None:
        found["cpus_used_by_others"] = max(0, (cpu_time() - before) / (time.monotonic() - begun))
    check(runs)
    print(table(runs, sides, options.rates))
    print(missing or "", end="\n" if missing else "")
    failures = [f"{side}, {rate} per second: {run['failed']}"
                for (rate, side), row in runs.items() for run in row if "failed" in run]
    print("\n".join(failures), end="\n" if failures else "")
    if options.json:
        results = [record(rate, side, runs) for rate in options.rates for side in sides]
        report = {"machine": found, "missing": [missing] if missing else [], "complete": complete, "results": results}
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    sys.exit(bool(failures) or not complete)


if __name__ == "__main__":
    main()
