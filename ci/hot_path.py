#!/usr/bin/env python3
"""Looks at the machine code that publishes an event, and that hands one to a handler: the instructions of each
loop of `perf/hot_path/src/main.rs` where a slot is free and nobody sleeps.

Usage: objdump -d --no-show-raw-insn lapwing-hot-path | ci/hot_path.py

A loop's usual way is the shortest one from the store of the event back to itself that takes no call, no
division and no locked instruction. That there is none is a failure: then each event pays for one. So is a way
that is not shorter than that of `rtrb`, which has no graph behind its queue, and one that stores more than the
event and the cursor: stores wait for lines of other CPUs, and few fit into the queue where they do. A handler
that adds up what it is handed must not store at all: then what it keeps stays in a register.

And one that spins must not branch by what it has seen before the return by which the CPU predicts that it has seen
something (`lapwing/src/tuning/predicted_branch.rs`): that branch would be predicted, and wrongly. x86-64 only.
"""
import re
import sys
from collections import deque

# What the store of a published event and the rotation of the handler look like, and nothing else does.
PUBLISHED = re.compile(r"\$0x4c415057")
HANDLED = re.compile(r"^(rol\s+\$0x29|rorx?\s+\$0x17),")
OURS = ["lapwing_publish", "lapwing_try_publish", "lapwing_claim"]
RIVAL = "rtrb_push"
SPINS = "lapwing_wait"
# At the cursor, and at the stages upstream.
LOOKS = 2
STORE = re.compile(r"^v?mov\w*\s+[$%][^,]*,[^,]*\(.*\)$")
# The comparison of a look, and the return address that follows from it, just before the return.
COMPARED = re.compile(r"^cmp")
BEYOND = re.compile(r"^set(a|b)\b")
PREDICTED = re.compile(r"^mov\s+%\w+,\(%rsp\)$")
# The event, and the cursor.
STORES = 2
# What an event must not pay for. Another thread's word is stored and loaded plainly.
COSTLY = re.compile(r"^(call|lock|div|idiv|xchg.*\(|mfence|cpuid|syscall)")


def functions(lines):
    """The name of each function, and its instructions by address."""
    found = []
    for line in lines:
        if head := re.match(r"^[0-9a-f]+ <(.*)>:$", line):
            found.append((head[1], {}))
        elif found and (row := re.match(r"^\s*([0-9a-f]+):\s+(.*)$", line)):
            found[-1][1][int(row[1], 16)] = row[2].strip()
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


def loops(code, mark):
    """The instructions from each one that has `mark` back to itself, where there is such a way."""
    marked = [address for address, text in code.items() if mark.search(text)]
    ways = successors(code) if marked else {}
    found = [around(ways, address) for address in marked]
    return [[code[address] for address in way] for way in found if way]


def usual_way(found, name):
    """The shortest loop that publishes an event in the function `name`; none if there is none."""
    ways = [way for symbol, code in found if name in symbol for way in loops(code, PUBLISHED)]
    return min(ways, key=len, default=[])


def stores(way):
    return sum(bool(STORE.match(text)) for text in way)


def predicted_looks(code):
    """For each return that goes elsewhere if a look saw nothing, the instructions from its comparison to the call before it."""
    texts = list(code.values())
    found = []
    for place, text in enumerate(texts):
        if PREDICTED.match(text) and texts[place + 1].startswith("ret"):
            call = place - 2  # after it comes the way on, then this
            compared = [before for before in range(call) if COMPARED.match(texts[before])]
            found.append(texts[compared[-1] : call] if compared else [])
    return found


def is_straight(look):
    """Whether `look` asks if a sequence is beyond another, and does not branch by the answer."""
    return any(map(BEYOND.match, look)) and not any(text.startswith("j") for text in look)


def around(ways, start):
    """The shortest way from `start` back to it, as addresses; none if there is no way."""
    before, queue = {start: None}, deque([start])
    while queue:
        address = queue.popleft()
        for target in ways.get(address, []):
            if target == start:
                return way_to(address, before)
            if target in ways and target not in before:
                before[target] = address
                queue.append(target)
    return None


def way_to(address, before):
    way = []
    while address is not None:
        way.append(address)
        address = before[address]
    return way


def main():
    found = functions(sys.stdin)
    ways = {name: usual_way(found, name) for name in [*OURS, RIVAL]}
    # No name: the handler is part of the stage's own code.
    handlers = [way for _, code in found for way in loops(code, HANDLED)]
    for name, way in [*ways.items(), *(("handler", way) for way in handlers)]:
        figures = f"{len(way)}, {stores(way)} of them stores"
        print(f"{name:20} {figures if way else 'no way without a call, a division or a lock'}")
    if not all(ways.values()) or not handlers:
        sys.exit("hot_path: an event pays for a call, a division or a locked instruction, or no loop was found")
    slow = [name for name in OURS if len(ways[name]) >= len(ways[RIVAL])]
    if slow:
        sys.exit(f"hot_path: no fewer instructions than {RIVAL}: {', '.join(slow)}")
    wasteful = [name for name in OURS if stores(ways[name]) > STORES]
    if wasteful:
        sys.exit(f"hot_path: more than {STORES} stores for an event: {', '.join(wasteful)}")
    if any(map(stores, handlers)):
        sys.exit("hot_path: what a handler keeps is stored for each event")
    looks = [look for symbol, code in found if SPINS in symbol for look in predicted_looks(code)]
    straight = [look for look in looks if is_straight(look)]
    print(f"{SPINS:20} {len(looks)} looks, {len(straight)} of them at a sequence and without a branch")
    if len(straight) < LOOKS:
        sys.exit("hot_path: what was seen is branched by, and not predicted")


if __name__ == "__main__":
    main()
