#!/usr/bin/env python3
"""mptune, and what tasks do with the file that it writes."""

import os
import pathlib
import re
import subprocess
import tempfile

from launching import BUILD, LaunchTest, check_lambdas, clean_environment, main, poe

MPTUNE = str(BUILD / "bin" / "mptune")


def mptune(*arguments, **variables):
    return subprocess.run([MPTUNE, *arguments], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
                          env=clean_environment(**variables))


class Tuning(LaunchTest):
    def setUp(self):
        super().setUp()
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.home = pathlib.Path(self.directory.name)

    def program(self, code, name="prog"):
        source = self.home / f"{name}.c"
        source.write_text("#include <mpproto.h>\nstatic char block[1 << 20];\nint main(void) { int n, me;\n"
                          "    mpc_environ(&n, &me); " + code + " return 0; }\n")
        subprocess.run([str(BUILD / "bin" / "mpcc"), str(source), "-o", str(self.home / name)], check=True)
        return str(self.home / name)

    def test_the_postal_model_beside_what_is_measured(self):
        result = mptune("-postal", "1k", "-procs", "4")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        tables, lambdas, alphas = result.stdout.split("\n\n")
        self.assertIn("     2    1.618        2.518\n", tables + "\n")
        self.assertEqual([line.split()[0] for line in lambdas.splitlines()[2:-1]], ["8", "256", "1024"])
        rows = [line.split() for line in alphas.splitlines()[2:-1]]
        self.assertEqual((rows[0][0], rows[-1][0]), ("0.50", "0.90"))
        # Both columns have a least time, and every time is one.
        for column in (1, 2):
            times = [float(row[column].rstrip("*")) for row in rows]
            self.assertGreater(min(times), 0)
            self.assertEqual({float(row[column][:-1]) for row in rows if row[column].endswith("*")}, {min(times)})
        for wrong in (("-postal", "0"), ("-postal", "2m")):
            self.assertEqual(mptune(*wrong).returncode, 2, wrong)
        few = mptune("-postal", "-procs", "2")
        self.assertEqual(few.returncode, 2)
        self.assertIn("three tasks", few.stderr)

    def test_measuring_writes_the_file_of_this_host(self):
        result = mptune("-procs", "3", XDG_CONFIG_HOME=self.home)
        self.assertEqual(result.returncode, 0, result.stderr)
        files = list((self.home / "poe").iterdir())
        self.assertEqual(len(files), 1, files)
        self.assertIn(str(files[0]), result.stdout)
        text = files[0].read_text()
        node = re.search(r"^level node\n(.*?)^level network\n", text, re.M | re.S).group(1)
        for fact in ("start_up", "per_byte", "message", "load"):
            self.assertRegex(node, rf"(?m)^{fact} [\d.e+-]+$")
        check_lambdas(self, result.stdout.split("level network")[0], node)
        # It is read without complaint, and one level can be measured again without the other being lost.
        job = self.ok(poe(self.program("mpc_bcast(block, sizeof block, 0, ALLGRP);"), "-procs", "3",
                          env=clean_environment(XDG_CONFIG_HOME=self.home)))
        self.assertEqual(job.stderr, b"")
        result = mptune("-procs", "2", "-euilib", "ip", "-o", str(files[0]))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("level network", result.stdout)
        self.assertIn("level node\n" + node, files[0].read_text())

    def test_only_short_messages_are_measured(self):
        file = self.home / "short"
        result = mptune("-procs", "3", "-longest", "1k", "-o", str(file))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(re.findall(r"(?m)^ +(\d+) ", result.stdout), ["8", "256", "1024"])
        check_lambdas(self, result.stdout, file.read_text().split("level network")[0])

    def test_two_tasks_leave_what_they_cannot_tell(self):
        file = self.home / "tuning"
        file.write_text("level node\nstart_up 999\nper_byte 999\nmessage 0.5\nload 7e-05\nlambda 8 3.5\nlambda 1024 2\n")
        result = mptune("-procs", "2", "-longest", "256", "-o", str(file))
        self.assertEqual(result.returncode, 0, result.stderr)
        text = file.read_text()
        self.assertNotIn("999", text)
        self.assertIn("\nmessage 0.5\nload 7e-05\nlambda 8 3.5\nlambda 1024 2\nlevel network\n", text)

    def test_what_does_not_parse_is_not_written_over(self):
        file = self.home / "tuning"
        text = "level node\nbest bcast 8 2 chain:1\nstart_up fast\n"
        file.write_text(text)
        for words in ((), ("-table",)):
            result = mptune(*words, "-procs", "2", "-o", str(file))
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stdout, "")
            self.assertIn(f"mptune: {file}:3: \"start_up fast\" is not allowed", result.stderr)
            self.assertEqual(file.read_text(), text)

    def test_what_is_no_file_stays(self):
        directory, pipe, loop = (self.home / name for name in ("directory", "pipe", "loop"))
        directory.mkdir()
        os.mkfifo(pipe)
        loop.symlink_to(loop)
        before = sorted(self.home.iterdir())
        for path, why in ((directory, "it is no regular file"), (pipe, "it is no regular file"), (loop, "Too many levels")):
            result = mptune("-procs", "2", "-longest", "256", "-o", str(path))
            self.assertEqual(result.returncode, 1, path)
            self.assertEqual(result.stdout, "")
            self.assertIn(f"cannot write {path}: {why}", result.stderr)
        self.assertEqual(sorted(self.home.iterdir()), before)
        self.assertTrue(directory.is_dir() and pipe.is_fifo() and loop.is_symlink())

    def test_links_are_followed_and_nothing_stays_behind(self):
        (self.home / "far").mkdir()
        for name, target in (("there", "far/file"), ("dangling", "far/new")):
            (self.home / name).symlink_to(target)
        (self.home / "far" / "file").write_text("# mine\n")
        (self.home / "far" / "file").chmod(0o640)
        for name, target in (("there", "file"), ("dangling", "new")):
            result = mptune("-procs", "2", "-longest", "256", "-o", str(self.home / name))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue((self.home / name).is_symlink())
            self.assertIn("level node", (self.home / "far" / target).read_text())
        self.assertEqual(sorted(path.name for path in (self.home / "far").iterdir()), ["file", "new"])
        self.assertEqual((self.home / "far" / "file").stat().st_mode & 0o777, 0o640)

    def test_output_that_nobody_takes(self):
        unwritable = self.home / "unwritable"
        unwritable.touch()
        with open(unwritable) as output:
            result = subprocess.run([MPTUNE, "-h"], stdout=output, stderr=subprocess.PIPE, text=True, timeout=120)
        self.assertEqual(result.returncode, 1)
        self.assertIn("mptune: cannot write to standard output: ", result.stderr)

    # By messages: tasks of a node that share memory need none.
    def taken(self, file):
        result = mptune("-explain", "bcast", "100k", "5", "-euilib", "ip", MP_TUNEFILE=file)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("bcast of 102400 bytes, 5 tasks", result.stdout)
        rows = [line.split() for line in result.stdout.splitlines()[2:]]
        self.assertGreater(len(rows), 10)
        for row in rows:
            self.assertGreater(float(row[2]), 0, row)
        chosen = [row for row in rows if row[3:] == ["taken"]]
        self.assertEqual(len(chosen), 1, result.stdout)
        self.assertEqual(float(chosen[0][1]), min(float(row[1]) for row in rows))
        return chosen[0][0]

    def test_calls_choose_by_the_file(self):
        file = self.home / "tuning"
        file.write_text("level network\nstart_up 1000\nper_byte 0\nload 0\nmessage 0\n")
        self.assertEqual(self.taken(file), "binomial")
        file.write_text("level network\nstart_up 0.001\nper_byte 1\nload 0\nmessage 0\n")
        self.assertRegex(self.taken(file), "^(circulant|chain):")

    def test_what_was_measured_counts_more_than_the_model(self):
        file = self.home / "tuning"
        file.write_text("level network\nstart_up 1000\nper_byte 0\nbest bcast 100000 5 chain:3\n")
        result = mptune("-explain", "bcast", "100k", "5", "-euilib", "ip", MP_TUNEFILE=file)
        self.assertRegex(result.stdout, r"(?m)^chain:3 .* taken$")
        # Within a node it says which way is taken, too.
        for way, words in (("binomial", ("bcast", "100k", "3")), ("shared-memory", ("bcast", "100k", "3")),
                           ("shared-memory", ("index", "512k", "3")), ("pairwise:0", ("index", "512k", "3"))):
            file.write_text(f"level node\nbest bcast 100000 3 {way}\n" if words[0] == "bcast"
                            else f"level node\nbest index 524288 3 {way}\n")
            result = mptune("-explain", *words, MP_TUNEFILE=file)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, rf"(?m)^{way} .* taken$")
            self.assertEqual(result.stdout.count("taken"), 1)
        file.write_text("level node\nbest bcast 8 3 chian\n")
        result = mptune("-explain", "bcast", "8", "3", MP_TUNEFILE=file)
        self.assertIn("expected one of the algorithms for bcast", result.stderr)

    def test_a_table_of_calls(self):
        file = self.home / "tuning"
        kept = ("best bcast 8 16 chain:1", "best bcast 8 3 chain:1", "best bcast 100 2 chain:1")
        file.write_text("# measured with 9 tasks\nlevel node\nstart_up 0.5\nbest sync 0 2 tree\n" + "\n".join(kept))
        result = mptune("-table", "-o", str(file), "-procs", "4", MP_TUNEFILE=file)
        self.assertEqual(result.returncode, 0, result.stderr)
        text = file.read_text()
        # What was said of other numbers of tasks and lengths, and of messages, stays.
        self.assertIn("start_up 0.5\n", text)
        for line in ("# measured with 9 tasks", *kept):
            self.assertIn(line + "\n", text)
        first, again = ([line.split() for line in part.splitlines()] for part in result.stdout.split("once more:\n"))
        self.assertEqual(len(first), 1 + 2 * 37)
        # What was slow is measured once more, and counts when it is slow again.
        self.assertEqual([row[:3] for row in again[:-1]], [row[:3] for row in first[1:] if row[-1] == "slow"])
        slow = [(row[0], row[1], row[2], row[5]) for row in again if row[-1] == "slow"]
        self.assertEqual(slow, [tuple(line.split()[1:]) for line in text.splitlines()
                                if line.startswith("best ") and line not in kept])
        self.assertIn(f"{len(slow)} calls", result.stdout)
        # And it is taken then: whatever it was, one line is marked.
        for operation, size, tasks, way in slow[:1]:
            explained = mptune("-explain", operation, size, tasks, MP_TUNEFILE=file)
            self.assertRegex(explained.stdout, rf"(?m)^{way} .* taken$")

    def test_checking_the_choices(self):
        result = mptune("-check", "-procs", "2")
        self.assertEqual(result.returncode, 0, result.stderr)
        *rows, last = result.stdout.splitlines()[1:]
        rows = [line.split() for line in rows]
        self.assertEqual(len(rows), 37)
        # The verdicts themselves are tested with known times (unit_collectives): the printed times are rounded.
        for row in rows:
            self.assertIn(row[-1], ("good", "slow"), row)
            if row[3] == row[5]:
                self.assertEqual(row[-1], "good", row)
        good = sum(row[-1] == "good" for row in rows)
        self.assertEqual(last, f"calls take one within 10 % of the best in {good} of 37 ({100 * good // 37} %)")

    def test_ways_of_messages(self):
        result = mptune("-explain", "send")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [line.split() for line in result.stdout.splitlines()[2:]]
        self.assertEqual([int(row[0]) for row in rows], [4096 << i for i in range(11)])
        for row in rows:
            self.assertGreater(float(row[1]), 0, row)
            self.assertGreater(float(row[2]), 0, row)
            self.assertIn(row[3], ("streamed", "fetched"), row)
        # Short messages are never fetched, and none where that is not allowed.
        self.assertEqual(rows[0][3], "streamed")
        result = mptune("-explain", "send", MP_SINGLE_COPY="no")
        self.assertEqual([line.split()[-1] for line in result.stdout.splitlines()[2:6]], ["streamed"] * 4)
        result = mptune("-explain", "send", "-euilib", "ip")
        self.assertEqual(result.returncode, 2)
        self.assertIn("two tasks that share a node", result.stderr)

    def test_what_goes_without_messages(self):
        # Also when tasks come up one after the other.
        for _ in range(4):
            for words, way in ((("sync", "0", "3"), "shared-memory"), (("gather", "512k", "3"), "direct-memory")):
                result = mptune("-explain", *words)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertRegex(result.stdout, rf"(?m)^{way} .* taken$")
        result = mptune("-explain", "gather", "512k", "3", MP_SINGLE_COPY="no")
        self.assertNotIn("direct-memory", result.stdout)

    def test_what_is_asked_for_by_name_is_taken(self):
        for name in ("shared-memory", "direct-memory", "radix:2"):
            result = mptune("-explain", "index", "512k", "3", MP_COLL_INDEX=name)
            self.assertRegex(result.stdout, rf"(?m)^{name} .* taken$")
            self.assertEqual(result.stdout.count("taken"), 1)
        for operation in ("reduce", "combine"):
            result = mptune("-explain", operation, "64k", "5", **{f"MP_COLL_{operation.upper()}": "direct-memory"})
            self.assertRegex(result.stdout, r"(?m)^direct-memory .* taken$")
        # Of each operation, with the number after the colon: none is what would be taken otherwise.
        for operation, name in (("bcast", "chain:2"), ("reduce", "lambda:3"), ("combine", "hybrid:1"), ("prefix", "tree"),
                                ("scatter", "lambda:3"), ("gather", "lambda:3"), ("concat", "ring"), ("index", "radix:4"),
                                ("sync", "tree"), ("shift", "direct")):
            result = mptune("-explain", operation, "1k", "5", **{f"MP_COLL_{operation.upper()}": name})
            self.assertEqual(result.stderr, "")  # poe knows the variable, too
            self.assertRegex(result.stdout, rf"(?m)^{name} .* taken$")
        # Where it does not fit the call goes as it would without: most within a node in shared memory.
        for operation, n, name in (("bcast", "3", "edst"), ("index", "3", "a3"), ("combine", "3", "two-level"),
                                   ("concat", "3", "exchange")):
            result = mptune("-explain", operation, "8", n, **{f"MP_COLL_{operation.upper()}": name})
            self.assertRegex(result.stdout, r"(?m)^shared-memory .* taken$", (operation, name))
            self.assertEqual(result.stdout.count("taken"), 1)
        result = mptune("-explain", "index", "512k", "3", MP_COLL_INDEX="shared")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("\"shared\" is not allowed", result.stderr)
        self.assertIn("within a node, shared-memory or direct-memory", result.stderr)

    def test_a_mistake_in_the_file_is_told_once_and_built_in_values_count(self):
        file = self.home / "tuning"
        file.write_text("# mine\nlevel node\nstart_up fast\n")
        environment = clean_environment(MP_TUNEFILE=file)
        program = self.program("mpc_bcast(block, sizeof block, 0, ALLGRP); mpc_bcast(block, 100000, 0, ALLGRP);")
        result = self.ok(poe(program, "-procs", "3", "-euilib", "ip", env=environment))
        self.assertEqual(result.stderr.count(b"0032-122"), 1, result.stderr)
        self.assertIn(f"{file}:3: \"start_up fast\" is not allowed; expected one number".encode(), result.stderr)
        # Who makes no collective call does not hear of it.
        result = self.ok(poe(self.program("", "silent"), "-procs", "3", "-euilib", "ip", env=environment))
        self.assertEqual(result.stderr, b"")
        # Nor is a file missed that nobody has named.
        result = self.ok(poe(program, "-procs", "3", "-euilib", "ip", env=clean_environment(XDG_CONFIG_HOME=self.home / "none")))
        self.assertNotIn(b"0032-122", result.stderr)
        result = self.ok(poe(program, "-procs", "3", "-euilib", "ip", env=clean_environment(MP_TUNEFILE="/no/such/file")))
        self.assertIn(b"cannot read /no/such/file", result.stderr)

    def test_a_file_that_cannot_be_read_is_told_once(self):
        program = self.program("mpc_bcast(block, sizeof block, 0, ALLGRP);")
        usual = self.home / "poe" / f"tuning.{os.uname().nodename}"
        usual.parent.mkdir()
        file = self.home / "tuning"
        for text, why in ((None, "Is a directory"), (b"\0level node\n", "it has a zero byte, and is no text"),
                          (b"#" * 65536 + b"\nlevel none\n", "it is longer than 65536 bytes")):
            for path, variables in ((file, {"MP_TUNEFILE": file}), (usual, {"XDG_CONFIG_HOME": self.home})):
                path.mkdir() if text is None else path.write_bytes(text)
                result = self.ok(poe(program, "-procs", "3", "-euilib", "ip", env=clean_environment(**variables)))
                self.assertEqual(result.stderr.count(b"0032-122"), 1, result.stderr)
                self.assertIn(f"cannot read {path}: {why}".encode(), result.stderr)
                path.rmdir() if text is None else path.unlink()

    def test_a_pipe_is_not_waited_for_and_what_is_no_text_not_shown(self):
        program = self.program("mpc_bcast(block, sizeof block, 0, ALLGRP);")
        file = self.home / "tuning"
        os.mkfifo(file)
        result = self.ok(poe(program, "-procs", "3", env=clean_environment(MP_TUNEFILE=file)))
        self.assertIn(f"cannot read {file}: it is a pipe".encode(), result.stderr)
        file.unlink()
        file.write_bytes(b"\x1b[31m\x07red 5\n")
        result = self.ok(poe(program, "-procs", "3", env=clean_environment(MP_TUNEFILE=file)))
        self.assertIn(b"\"?[31m?red\" stands before any level", result.stderr)

    def test_wrong_words(self):
        for words, text in ((("-explain", "bcst", "64k", "4"), "no operation \"bcst\"; expected one of bcast"),
                            (("-explain", "bcast"), "mptune -explain bcast 64k 16"),
                            (("-explain", "bcast", "many", "4"), "\"many\" is no number of bytes"),
                            (("-explain", "bcast", "8", "1"), "\"1\" is no number of tasks"),
                            (("-longest", "255"), "\"255\" is no length that can be measured up to; expected 256 to 1m"),
                            (("-longest", "4m"), "\"4m\" is no length that can be measured up to"),
                            (("-longest", "1g"), "\"1g\" is no length that can be measured up to"),
                            (("-o", ""), "-o: the name is empty"),
                            (("-o", "x", "-quick"), "\"-quick\" is no flag")):
            result = mptune(*words)
            self.assertEqual(result.returncode, 2, (words, result.stderr))
            self.assertIn(text, result.stderr)
        result = mptune("-procs", "1", "-o", str(self.home / "x"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("-procs 4", result.stderr)
        result = mptune("-procs", "2", "-o", "/proc/none")
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write /proc/none", result.stderr)


if __name__ == "__main__":
    main()
