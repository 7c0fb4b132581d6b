#!/usr/bin/env python3
"""Checks the machine code that publishes an event and that passes one to a handler. Reads the instructions of each
loop of `lab/hot_path/src/main.rs`, on the path where a slot is free and no thread is parked. x86-64 only.

Usage: objdump -d --no-show-raw-insn lapwing-hot-path | ci/hot_path.py

The hot path of a loop is the shortest path from the store of the event back to itself without a call, a division or a
locked instruction. The check fails in each of these cases:

- A loop has no such path. Each event then pays for a call, a division or a locked instruction. An event of one of
  several producers takes the locked instruction of its claim, but no call.
- The path is not shorter than that of `rtrb`, a queue without a graph of consumers.
- The path stores more than the event and the cursor. Stores wait for cache lines of other CPUs, and the store buffer
  holds few of them.
- The path does not load the flags of the ring after its stores: the compiler fence between them (O6, O8) had no effect.
- The loop of a handler that computes a sum stores anything. The sum must stay in a register.
"""
import re
import sys
from collections import deque

# The store of a published event, and the rotation in the handler. No other instruction has these constants.
PUBLISHED = re.compile(r"\$0x4c415057")
HANDLED = re.compile(r"^(rol\s+\$0x29|rorx?\s+\$0x17),")
OURS = ["lapwing_publish", "lapwing_try_publish", "lapwing_claim"]
SHARED = "lapwing_shared_publish"
RIVAL = "rtrb_push"
STORE = re.compile(r"^v?mov\w*\s+[$%][^,]*,[^,]*\(.*\)$")
# Most stores of an event: the event itself, and the cursor.
STORES = 2
# The load of the flags, and the test of its four bits.
LOAD = re.compile(r"^mov\w*\s+[^,$%]*\(.*\),%\w+$")
FLAGS = re.compile(r"^test[bwl]?\s+\$0xf,")
# Instructions that are not allowed for each event. The words of other threads need only plain loads and stores.
COSTLY = re.compile(r"^(call|lock|div|idiv|xchg.*\(|mfence|cpuid|syscall)")
# Those that are not allowed for an event of one of several producers.
COSTLY_OF_SHARED = re.compile(r"^(call|div|idiv|mfence|cpuid|syscall)")


def functions(lines):
    """Returns the name of each function, and its instructions by address."""
    found = []
    for line in lines:
        if head := re.match(r"^[0-9a-f]+ <(.*)>:$", line):
            found.append((head[1], {}))
        elif found and (row := re.match(r"^\s*([0-9a-f]+):\s+(.*)$", line)):
            found[-1][1][int(row[1], 16)] = row[2].strip()
    return found


def successors(code, costly):
    """Returns, for each instruction that is not `costly`, those that may follow it."""
    following = dict(zip(list(code), list(code)[1:]))
    ways = {}
    for address, text in code.items():
        if costly.match(text):
            continue
        targets = []
        if jump := re.match(r"^(j\w+)\s+([0-9a-f]+)", text):
            targets.append(int(jump[2], 16))
        if not text.startswith(("jmp", "ret", "ud2")) and address in following:
            targets.append(following[address])
        ways[address] = targets
    return ways


def loops(code, mark, costly=COSTLY):
    """Returns the instructions on the path from each one that matches `mark` back to itself, if there is a path."""
    marked = [address for address, text in code.items() if mark.search(text)]
    ways = successors(code, costly) if marked else {}
    found = [around(ways, address) for address in marked]
    return [[code[address] for address in way] for way in found if way]


def hot_path(found, name, costly=COSTLY):
    """Returns the shortest loop that publishes an event in the function `name`; empty if there is none."""
    ways = [way for symbol, code in found if name in symbol for way in loops(code, PUBLISHED, costly)]
    return min(ways, key=len, default=[])


def stores(way):
    return sum(bool(STORE.match(text)) for text in way)


def checks_after_its_stores(way):
    """Whether `way`, which has its last instruction first, loads the flags after its last store and then tests them."""
    after = next((place for place, text in enumerate(way) if STORE.match(text)), 0)
    tested = [place for place, text in enumerate(way[:after]) if FLAGS.match(text)]
    return any("(" in way[place] or any(map(LOAD.match, way[place:after])) for place in tested)


def around(ways, start):
    """Returns the shortest path from `start` back to it, as addresses; `None` if there is no path."""
    before, queue = {start: None}, deque([start])
    while queue:
        address = queue.popleft()
        for target in ways.get(address, []):
            if target == start:
                return path_to(address, before)
            if target in ways and target not in before:
                before[target] = address
                queue.append(target)
    return None


def path_to(address, before):
    way = []
    while address is not None:
        way.append(address)
        address = before[address]
    return way


def main():
    found = functions(sys.stdin)
    ways = {name: hot_path(found, name) for name in [*OURS, RIVAL]}
    ways[SHARED] = hot_path(found, SHARED, COSTLY_OF_SHARED)
    # Found without a name, since the handler is inlined into the code of the stage.
    handlers = [way for _, code in found for way in loops(code, HANDLED)]
    for name, way in [*ways.items(), *(("handler", way) for way in handlers)]:
        figures = f"{len(way)}, {stores(way)} of them stores"
        print(f"{name:22} {figures if way else 'no path without a call, a division or a locked instruction'}")
    if not all(ways.values()) or not handlers:
        sys.exit("hot_path: an event takes a call, a division or a locked instruction, or no loop was found")
    slow = [name for name in OURS if len(ways[name]) >= len(ways[RIVAL])]
    if slow:
        sys.exit(f"hot_path: not fewer instructions than {RIVAL}: {', '.join(slow)}")
    wasteful = [name for name in OURS if stores(ways[name]) > STORES]
    if wasteful:
        sys.exit(f"hot_path: more than {STORES} stores per event: {', '.join(wasteful)}")
    unfenced = [name for name in OURS if not checks_after_its_stores(ways[name])]
    if unfenced:
        sys.exit(f"hot_path: the flags are not loaded after the stores: {', '.join(unfenced)}")
    if any(map(stores, handlers)):
        sys.exit("hot_path: the handler stores its sum for each event")


if __name__ == "__main__":
    main()
