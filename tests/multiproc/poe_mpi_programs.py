#!/usr/bin/env python3
"""Whole MPI programs that check their own results: the kernels of examples/nas, and the mini-applications."""

import pathlib
import re
import shutil
import subprocess
import tempfile

from launching import BUILD, EXAMPLES, SOURCE, LaunchTest, clean_environment, main, poe

TASKS = (1, 2, 4, 16)


class MpiPrograms(LaunchTest):
    def kernel(self, name):
        for tasks in TASKS:
            with self.subTest(tasks=tasks):
                out = self.ok(poe(EXAMPLES / "nas" / name, "S", "-procs", str(tasks))).stdout.decode()
                self.assertRegex(out, rf"^{name.upper()} class S, {tasks} tasks: .* Mop/s, verified\n$")

    def test_cg(self):
        self.kernel("cg")

    def test_ep(self):
        self.kernel("ep")

    def test_ft(self):
        self.kernel("ft")

    def test_is(self):
        self.kernel("is")

    def test_mg(self):
        self.kernel("mg")

    def test_kernels_refuse_what_they_cannot_do(self):
        for words, said in ((("X", "-procs", "2"), "the class is S, W or A"),
                            (("S", "-procs", "3"), "runs with 1, 2, 4, 8 or 16 tasks")):
            result = poe(EXAMPLES / "nas" / "is", *words)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(said, result.stderr.decode())

    def test_hydro(self):
        for tasks, *words in ((1, "sod", "64"), (3, "sod", "64", "17"), (4, "blast", "32"), (8, "blast", "32", "40")):
            with self.subTest(tasks=tasks):
                out = self.ok(poe(EXAMPLES / "hydro", *words, "-procs", str(tasks))).stdout.decode()
                self.assertRegex(out, rf"^hydro {words[0]}, .*: verified\n$")

    def test_conjugate_gradients(self):
        for tasks in (1, 3, 8):
            out = self.ok(poe(EXAMPLES / "cg", "64", "-procs", str(tasks))).stdout.decode()
            self.assertLess(float(re.search(r"error (\S+)$", out)[1]), 1e-9)

    def test_make_builds_them_by_the_compiler_script(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "examples")
            shutil.copytree(SOURCE / "examples", copy)
            path = f"{BUILD / 'bin'}:/usr/bin:/bin"
            subprocess.run(["make", "-C", copy, "nas/is"], env=clean_environment(PATH=path), check=True, capture_output=True)
            self.assertIn(b"verified", self.ok(poe(copy / "nas" / "is", "-procs", "2")).stdout)


if __name__ == "__main__":
    main()
