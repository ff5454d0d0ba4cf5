#!/usr/bin/env python3
"""mcp, mcpscat and mcpgath: whole files or none, trees, wildcards, what cannot be read or written."""

import filecmp
import os
import pathlib
import random
import subprocess
import tempfile

from launching import BUILD, LaunchTest, clean_environment, limit_beyond_segment, main

SIZES = (0, 1, 4095, 1 << 20, (1 << 20) + 1, 5_000_000)


class CopyTest(LaunchTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.random = random.Random(17)
        self.env = clean_environment(PATH=f"{BUILD / 'bin'}:{os.environ['PATH']}")

    def run_copy(self, program, *args, status=0, **options):
        result = subprocess.run([BUILD / "bin" / program, *map(str, args)], cwd=self.root, env=self.env,
                                capture_output=True, timeout=60, **options)
        self.assertEqual(result.returncode, status, result.stderr.decode(errors="replace"))
        return result.stderr.decode(errors="replace")

    def write(self, name, size):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.random.randbytes(size))
        return path

    def make_tree(self):
        for number, size in enumerate(SIZES):
            self.write(f"tree/deep/er/file{number}", size)
        self.write("tree/a name with blanks and \xe4", 10).chmod(0o750)
        (self.root / "tree/empty").mkdir()
        (self.root / "tree/link").symlink_to("deep/er/file1")

    def same_trees(self, a, b):
        compared = filecmp.dircmp(self.root / a, self.root / b)
        def differences(one):
            return one.left_only + one.right_only + one.diff_files + one.funny_files + \
                [d for sub in one.subdirs.values() for d in differences(sub)]
        self.assertEqual(differences(compared), [])

    def no_halves(self):
        self.assertEqual([p for p in self.root.rglob(".*")], [])


class Mcp(CopyTest):
    def test_files_of_all_sizes(self):
        for size in SIZES:
            source = self.write("source", size)
            os.utime(source, ns=(1, 1_234_567_890_123_456_789))
            self.run_copy("mcp", "source", "target", "-procs", 3)
            target = self.root / "target"
            self.assertEqual(source.read_bytes(), target.read_bytes())
            self.assertEqual(target.stat().st_mtime_ns, source.stat().st_mtime_ns)
        self.no_halves()

    def test_trees(self):
        self.make_tree()
        self.run_copy("mcp", "tree", "copy", "-procs", 2)
        self.same_trees("tree", "copy")
        self.assertEqual((self.root / "copy/link").readlink(), pathlib.Path("deep/er/file1"))
        self.assertEqual((self.root / "copy/a name with blanks and \xe4").stat().st_mode & 0o777, 0o750)
        (self.root / "into").mkdir()
        self.run_copy("mcp", "tree", "into", "-procs", 2)
        self.same_trees("tree", "into/tree")

    def test_to_itself(self):
        source = self.write("source", 1000)
        before = source.read_bytes()
        self.run_copy("mcp", "source", "-procs", 4)
        self.assertEqual(source.read_bytes(), before)

    def test_what_is_there_stays_when_asked(self):
        self.write("source", 1000)
        self.write("target", 10)
        before = (self.root / "target").read_bytes()
        said = self.run_copy("mcp", "-i", "source", "target", "-procs", 2, status=1)
        self.assertIn("target: it is there and stays (-i)", said)
        self.assertEqual((self.root / "target").read_bytes(), before)
        self.no_halves()

    def test_what_cannot_be(self):
        self.assertIn("nothing: No such file or directory", self.run_copy("mcp", "nothing", "x", "-procs", 2, status=1))
        self.write("source", 10)
        self.assertIn("no/dir/x: No such file", self.run_copy("mcp", "source", "no/dir/x", "-procs", 2, status=1))
        os.mkfifo(self.root / "fifo")
        self.assertIn("neither a file nor a directory", self.run_copy("mcp", "fifo", "x", "-procs", 2, status=1))
        self.assertIn("unknown flag -q", self.run_copy("mcp", "-q", "source", "x", "-procs", 2, status=2))
        self.assertIn("usage: mcp", self.run_copy("mcp", status=2))

    def test_no_half_file_when_the_disk_is_full(self):
        small, limit = limit_beyond_segment(2)
        self.write("source", limit + 5_000_000)
        self.write("target", 10)
        before = (self.root / "target").read_bytes()
        script = "trap '' XFSZ; exec mcp source target -procs 2"
        said = subprocess.run(["sh", "-c", script], cwd=self.root, env=self.env, capture_output=True, timeout=60,
                              preexec_fn=small)
        self.assertEqual(said.returncode, 1)
        self.assertIn(b"target: File too large", said.stderr)
        self.assertEqual((self.root / "target").read_bytes(), before)
        self.no_halves()


class Scatter(CopyTest):
    def test_one_file_goes_to_all_and_more_are_dealt_out(self):
        self.write("one", 70_000)
        self.run_copy("mcpscat", "one", "all", "-procs", 3)
        self.assertTrue(filecmp.cmp(self.root / "one", self.root / "all/one", False))
        for number in range(7):
            self.write(f"parts/part.{number}", 1000 * number)
        self.run_copy("mcpscat", "parts/part.*", "out", "-procs", 3)
        self.same_trees("parts", "out")
        self.run_copy("mcpscat", "parts", "out2", "-procs", 2)
        self.same_trees("parts", "out2")

    def test_trees_are_items_too(self):
        self.make_tree()
        self.run_copy("mcpscat", "tree/*", "out", "-procs", 2)
        self.same_trees("tree", "out")
        self.no_halves()


class Gather(CopyTest):
    def test_every_task_gives_its_own(self):
        self.write("data", 2_000_000)
        self.make_tree()
        self.run_copy("mcpgath", "-a", "data", "tree", "result", "-procs", 3)
        names = {f"{name}.{task}" for name in ("data", "tree") for task in range(3)}
        self.assertEqual(set(os.listdir(self.root / "result")), names)
        for task in range(3):
            self.assertTrue(filecmp.cmp(self.root / "data", self.root / f"result/data.{task}", False))
            self.same_trees("tree", f"result/tree.{task}")
        self.no_halves()


if __name__ == "__main__":
    main()
