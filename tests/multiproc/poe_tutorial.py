#!/usr/bin/env python3
"""The program of poe-tutorial(7): that it is there, runs, and leaves a trace in which vt finds what the page shows."""

import os
import re
import subprocess
import tempfile

from launching import BUILD, EXAMPLES, SOURCE, LaunchTest, main, poe, wait_for

LINE = next(number for number, line in enumerate((SOURCE / "examples/solver.c").read_text().splitlines(), 1)
            if "mpc_brecv(" in line)


class Tutorial(LaunchTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def trace(self, name, *words):
        result = self.ok(poe(EXAMPLES / "solver", *words, "-procs", "4", "-tracelevel", "9", "-tracefile", name,
                             cwd=self.folder))
        self.assertEqual(result.stdout, b"12 rounds\n")

    def vt(self, *words):
        return subprocess.run([BUILD / "bin/vt", *words], cwd=self.folder, capture_output=True, text=True, check=True).stdout

    def test_what_the_page_shows(self):
        # On a busy computer another task may compute for longer now and then.
        def slow_task_is_found():
            self.trace("ring.trc")
            text = self.vt("-summary", "ring.trc")
            return text if "task 2 computes longest" in text and "task 3 for task 2" in text else None
        text = wait_for(slow_task_is_found, "a trace with the slow task in it")
        page = (SOURCE / "man/poe-tutorial.7").read_text().replace("\\-", "-")
        for line in ("TIME OF ALL TASKS", "TASK   COMPUTE    SEND RECEIVE COLLECT   OTHER    POLL   SENT   BYTES",
                     "WAITING FOR OTHERS", "LONGEST WAITS"):
            self.assertIn(line, text)
            self.assertIn(line, page)
        self.assertRegex(text, r"^solver: 4 tasks on 1 node, .*, level 9, \d+ records, 48 messages\n")
        self.assertRegex(text, r"(?m)^ +2 .* 12 +768K$")
        self.assertRegex(text, r"(?m)^solve +48 ")
        self.assertIn(f"in mpc_brecv from main at solver.c:{LINE} for task", text)
        self.assertIn(f"main at solver.c:{LINE}", page)
        self.assertIn("timeline", self.vt("-view", "timeline", "-size", "72x7", "ring.trc"))
        self.trace("even.trc", "even")
        difference = self.vt("-diff", "ring.trc", "even.trc")
        for line in ("wait: late sender", "imbalance"):
            self.assertIn(line, difference)
            self.assertIn(line, page)


if __name__ == "__main__":
    main()
