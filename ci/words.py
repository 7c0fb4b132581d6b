#!/usr/bin/env python3
"""Is the prose of Markdown files and Rust comments plain technical English? Fails if it finds one of these:

- a sentence of more than 30 words
- "who", "whoever" or "whom": a thread is not a person
- a word for which the field has a term (TERMS below)
- "As `name`" in place of a fact
- a Markdown line of more than 120 columns outside of tables, links and code

Usage: words.py [PATH ...]   (default: all files that git does not ignore, without records of measurements and translations)
"""
import re
import subprocess
import sys

LONGEST_SENTENCE = 30
LONGEST_LINE = 120

TERMS = {
    r"\bcrowd(ed|s)?\b": "oversubscription",
    r"\blone (event|value)s?\b": "single event, or event after an idle period",
    r"\blooks? in vain\b": "failed poll",
    r"\b(keeps?|kept) away\b": "backs off",
    r"\bknows? of nothing more\b": "drained",
    r"\bdawdl": "delay",
    r"\bpresum(e|es|ed|ption)\b": "predict",
    r"\bat hand\b": "available",
    r"\blets? go of\b": "releases",
    r"\bfrom here on\b": "from now on",
    r"\b(every|no)body\b": "every thread, no thread",
    r"\btakes? (its|the|their) lines?\b": "acquires cache-line ownership",
    r"\bgoes by\b": "uses",
    r"\bof the user's\b": "user code, callback",
}
PERSON = re.compile(r"\b(who|whoever|whom)\b", re.I)
REFERENCE = re.compile(r"^As \[?`")
SKIPPED = re.compile(r"(^|/)(results|zh)/|zh-CN|^LICENSE")
COMMENT = re.compile(r"\s*//[/!]?(?: |$)(.*)")
SENTENCE_END = re.compile(r"[.:;!?][)\"'*`]*$")
NOT_PROSE = re.compile(r"\s*(\||#|<|!\[|\[!\[|---|===|- ?$)")
ITEM = re.compile(r"\s*([-*]|\d+\.) ")


def sources():
    # A new file counts before it is added.
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md", "*.rs"]
    listed = subprocess.run(listing, capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.split("\n") if path and not SKIPPED.search(path)]


def prose(path):
    """Yields (line number, text) of each line of prose, and (number, None) where a paragraph ends."""
    is_markdown, is_code = path.endswith(".md"), False
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            comment = None if is_markdown else COMMENT.match(line)
            text = line if is_markdown else comment[1] if comment else ""
            if text.lstrip().startswith(("```", "~~~")):
                is_code = not is_code
                text = ""
            is_prose = text.strip() and not is_code and not NOT_PROSE.match(text)
            if is_prose and is_markdown and text.startswith("    ") and not ITEM.match(text):
                is_prose = not text.startswith("        ")
            if not is_prose or ITEM.match(text):
                yield number, None
            if is_prose:
                yield number, text.strip()
            if not comment and not is_markdown:
                is_code = False


def faults(path):
    """Yields (line number, what is wrong)."""
    words, start = 0, 0
    for number, text in prose(path):
        if text is None:
            words = 0
            continue
        if path.endswith(".md") and len(text) > LONGEST_LINE and "](" not in text:
            yield number, f"a line of {len(text)} columns"
        if person := PERSON.search(text):
            yield number, f"'{person[0]}': a thread or a program is not a person"
        if REFERENCE.match(text):
            yield number, "'As `…`': say the fact, then link"
        for pattern, term in TERMS.items():
            if found := re.search(pattern, text, re.I):
                yield number, f"'{found[0]}': {term}"
        # A link counts as its text, code as one word.
        for word in re.sub(r"`[^`]*`", "code", re.sub(r"\]\([^)]*\)", "]", text)).split():
            if words == 0:
                start = number
            words += any(letter.isalnum() for letter in word)
            if SENTENCE_END.search(word):
                if words > LONGEST_SENTENCE:
                    yield start, f"a sentence of {words} words"
                words = 0


def main(paths):
    found = 0
    for path in paths or sources():
        for number, what in faults(path):
            print(f"{path}:{number}: {what}")
            found += 1
    print(f"words: {found} places to rewrite")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
