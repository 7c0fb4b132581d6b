#!/usr/bin/env python3
"""Looks at the machine code that publishes an event: the instructions of each loop of
`perf/examples/hot_path.rs` where a slot is free and nobody sleeps.

Usage: objdump -d --no-show-raw-insn hot_path | ci/hot_path.py

A loop's usual way is the shortest one from the store of the event back to itself that takes no call, no
division and no locked instruction. That there is none is a failure: then each event pays for one. So is a way
that is not shorter than that of `rtrb`, which has no graph behind its queue. x86-64 only.
"""
import re
import sys
from collections import deque

MARK = "$0x4c415057"
OURS = ["lapwing_publish", "lapwing_try_publish", "lapwing_claim"]
RIVAL = "rtrb_push"
# What an event must not pay for. Another thread's word is stored and loaded plainly.
COSTLY = re.compile(r"^(call|lock|div|idiv|xchg.*\(|mfence|cpuid|syscall)")


def functions(lines):
    """The instructions of each of the loops' functions, by address."""
    found, current = {}, None
    for line in lines:
        if head := re.match(r"^[0-9a-f]+ <(.*)>:$", line):
            name = next((name for name in [*OURS, RIVAL] if name in head[1]), None)
            current = found.setdefault(name, {}) if name else None
        elif current is not None and (row := re.match(r"^\s*([0-9a-f]+):\s+(.*)$", line)):
            current[int(row[1], 16)] = row[2].strip()
    return found


def successors(code):
    """For each instruction that costs little, those that may come next."""
    following = dict(zip(list(code), list(code)[1:]))
    ways = {}
    for address, text in code.items():
        if COSTLY.match(text):
            continue
        targets = []
        if jump := re.match(r"^(j\w+)\s+([0-9a-f]+)", text):
            targets.append(int(jump[2], 16))
        if not text.startswith(("jmp", "ret", "ud2")) and address in following:
            targets.append(following[address])
        ways[address] = targets
    return ways


def usual_way(code):
    """Number of instructions from the store of the event back to itself; none if there is no such way."""
    ways = successors(code)
    lengths = [around(ways, store) for store, text in code.items() if MARK in text]
    return min((length for length in lengths if length), default=None)


def around(ways, start):
    seen, queue = {start}, deque([(start, 0)])
    while queue:
        address, length = queue.popleft()
        for target in ways.get(address, []):
            if target == start:
                return length + 1
            if target in ways and target not in seen:
                seen.add(target)
                queue.append((target, length + 1))
    return None


def main():
    found = functions(sys.stdin)
    lengths = {name: usual_way(found.get(name, {})) for name in [*OURS, RIVAL]}
    for name, length in lengths.items():
        print(f"{name:20} {length or 'no way without a call, a division or a lock'}")
    if not all(lengths.values()):
        sys.exit("hot_path: an event pays for a call, a division or a locked instruction, or no loop was found")
    slow = [name for name in OURS if lengths[name] >= lengths[RIVAL]]
    if slow:
        sys.exit(f"hot_path: no fewer instructions than {RIVAL}: {', '.join(slow)}")


if __name__ == "__main__":
    main()
