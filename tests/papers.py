#!/usr/bin/env python3
"""Every file, test and flag that docs/papers.md names exists, so that the page does not promise what is gone."""

import os
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[1]
PAGE = (SOURCE / "docs" / "papers.md").read_text()
BUILD = SOURCE / os.environ.get("POE_BUILD", "build/release")


def all_files():
    for path in SOURCE.rglob("*"):
        relative = path.relative_to(SOURCE)
        if relative.parts[0] not in ("build", ".git") and path.is_file():
            yield str(relative)


FILES = sorted(all_files())
STEMS = {pathlib.Path(name).stem for name in FILES}


class Papers(unittest.TestCase):
    def test_files(self):
        named = set(re.findall(r"\b[\w/]+\.(?:hpp|cpp|py|c|md)\b", PAGE)) - {"papers.py"}
        self.assertGreater(len(named), 20)
        for name in sorted(named):
            self.assertTrue(any(("/" + each).endswith("/" + name) for each in FILES), name)

    def test_rooms(self):
        for room in re.findall(r"\]\(\.\./([\w/]+)/README\.md\)", PAGE):
            self.assertTrue((SOURCE / room / "README.md").is_file(), room)

    def test_tests(self):
        tests = set(re.findall(r"\b(?:\w+_test|poe_\w+|cluster_\w+|terminal_\w+|mpl_\w+)\b", PAGE))
        known = "\n".join((SOURCE / name).read_text(errors="replace") for name in FILES
                          if name.startswith("tests/") and name.endswith((".cmake", ".txt")))
        for name in sorted(tests):
            found = name in STEMS or any(stem.startswith(name) for stem in STEMS) or name in known
            self.assertTrue(found, name)

    def test_flags(self):
        table = (SOURCE / "poe" / "option_table.cpp").read_text()
        pages = "".join(path.read_text().replace("\\-", "-") for path in (SOURCE / "man").iterdir() if path.suffix in (".1", ".in"))
        for command, flag in re.findall(r"`(?:(poe|mpsim|mptune|vt|pdbx|poestat)[^`]*? )?-(\w+)", PAGE):
            self.assertTrue(f'"{flag}"' in table or f" {flag} " in table or f"-{flag}" in pages, f"{command} -{flag}")


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    unittest.main()
