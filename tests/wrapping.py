#!/usr/bin/env python3
"""Text is wrapped at 120 columns in Markdown and at 100 in comments (docs/style.md). Names the lines that are longer; with
--fix, wraps the paragraphs and list items that have such a line.

Not looked at: headings, what is between ```, comments beside code, tables (in comments they have two blanks between words),
and tests/bench/RESULTS.md, which is written by the benchmarks."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = {".md": 120, ".cpp": 100, ".hpp": 100, ".c": 100, ".h": 100}
WRITTEN_BY_PROGRAMS = {"tests/bench/RESULTS.md"}
COMMENT = re.compile(r"(\s*//) ?(.*)")
ITEM = re.compile(r"\s*([-*+]|\d+\.) +")
# A line that begins so is not text, and a wrapped line must not begin so by chance.
NOT_TEXT = re.compile(r"\s*(#|\||>|<!--|NOLINT|clang-format|\S*:$)|$")
MARKER = re.compile(r"([-*+>|]|#+|\d+\.)$|```")


def wrapped(lines, room):
    """The lines of a paragraph or list item, `room` columns wide."""
    item = ITEM.match(lines[0])
    first = item.group(0) if item else re.match(r"\s*", lines[0]).group(0)
    words = " ".join(lines)[len(first):].split()
    out, line = [], first + words[0]
    for word in words[1:]:
        if len(line) + 1 + len(word) <= room or MARKER.match(word):
            line += " " + word
        else:
            out.append(line)
            line = " " * len(first) + word
    return [*out, line]


def can_wrap(lines):
    """Whether this is text, not a table: its lines begin below each other, and words have one blank between them."""
    item = ITEM.match(lines[0])
    column = len(item.group(0)) if item else len(lines[0]) - len(lines[0].lstrip())
    texts = [lines[0][column:], *(line[column:] for line in lines[1:])]
    return not any("  " in text or text.startswith(" ") or text.endswith("\\") for text in texts) and all(
        not line[:column].strip() for line in lines[1:])


class Text:
    """A file, cut into pieces: paragraphs, and lines that are not text. `long` are the lines that are too long."""

    def __init__(self, name, content, fix):
        self.columns = COLUMNS[pathlib.Path(name).suffix]
        self.comments = not name.endswith(".md")
        self.fix = fix
        self.out, self.long = [], []
        self.prefix, self.paragraph = "", []
        fenced = False
        for line in content.split("\n"):
            prefix, text = self.parts(line)
            fence = text is not None and text.lstrip().startswith("```")
            if text is None or fence or fenced or NOT_TEXT.match(text):
                self.finish()
                self.out.append(line)
                fenced ^= fence
                continue
            if ITEM.match(text) or prefix != self.prefix or self.leaves_item(text):
                self.finish()
            self.prefix = prefix
            self.paragraph.append(text)
        self.finish()

    def parts(self, line):
        """What a line begins with, and its text; None: it has none."""
        if not self.comments:
            return "", line
        found = COMMENT.fullmatch(line)
        return (found.group(1), found.group(2)) if found else ("", None)

    def leaves_item(self, text):
        """Whether the paragraph is a list item and the line is not part of it, because it begins further left."""
        item = ITEM.match(self.paragraph[0]) if self.paragraph else None
        return item is not None and text[:len(item.group(0))].strip() != ""

    def finish(self):
        """Ends a paragraph."""
        before = f"{self.prefix} " if self.comments else ""
        lines, self.paragraph = self.paragraph, []
        room = self.columns - len(before)
        too_long = [line for line in lines if len(line) > room]
        if too_long and can_wrap(lines) and wrapped(lines, room) != lines:
            if self.fix:
                lines = wrapped(lines, room)
            else:
                self.long += [len(self.out) + 1 + lines.index(line) for line in too_long]
        self.out += [before + line for line in lines]

    def content(self):
        return "\n".join(self.out)


def files():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    names = listed.stdout.splitlines() or [
        str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if "build" not in path.relative_to(ROOT).parts]
    return [name for name in names if pathlib.Path(name).suffix in COLUMNS and name not in WRITTEN_BY_PROGRAMS]


def main():
    fix = "--fix" in sys.argv[1:]
    found = []
    for name in files():
        before = (ROOT / name).read_text()
        text = Text(name, before, fix)
        if fix and text.content() != before:
            (ROOT / name).write_text(text.content())
        found += [f"{name}:{line}" for line in text.long]
    if found:
        sys.exit("wrapping: too long (./dev format wraps them):\n" + "\n".join(found))


if __name__ == "__main__":
    main()
