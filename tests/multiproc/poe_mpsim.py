#!/usr/bin/env python3
"""mpsim: what it prints for groups on one node and on several, and what it says of wrong words."""

import pathlib
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

from launching import BUILD

MPSIM = str(BUILD / "bin" / "mpsim")


def mpsim(*arguments):
    return subprocess.run([MPSIM, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)


class Simulating(unittest.TestCase):
    def times(self, *arguments):
        """algorithm -> microseconds"""
        result = mpsim(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0].split(), "algorithm time us C1 C2 C3 messages".split())
        return {words[0]: float(words[1]) for words in map(str.split, lines[1:])}

    def test_plan(self):
        with tempfile.TemporaryDirectory() as directory:
            plan = pathlib.Path(directory, "p")
            plan.write_text("bcast tasks=0-1 calls=3 bytes=8\n"
                            "alltoallv tasks=0,5 calls=10 schedule=greedy lengths=0,10000/10000,0 at=\"main at a.c:3\"\n")
            result = mpsim("-plan", plan, "-ts", 2, "-tc", 0.001)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            lines = result.stdout.splitlines()
            # 2 + 10000 * 0.001 in one message each way, whatever the schedule
            self.assertEqual(lines[1].split(), "greedy 12.00 12.00 12.00 12.00 0.00 alltoallv group=0 tasks=0,5 calls=10 main at "
                             "a.c:3".split())
            self.assertEqual(lines[2], "The plan gains 0.00 us in all calls of the traced run. It does not change 1 other "
                             "line, whose schedules are kept without it.")
            # Simple sends 7 long messages to task 0 in 2 pieces each; phases wait for 6 signals, each a start-up.
            n = 8
            rows = ["0*8"] + [f"40000,{','.join(['0'] * (n - 1))}"] * (n - 1)
            plan.write_text(f"alltoallv tasks=0-7 calls=2 schedule=all-to-all lengths={'/'.join(rows)}\n")
            words = mpsim("-plan", plan, "-ts", 2, "-tc", 0.001).stdout.splitlines()[1].split()
            self.assertEqual(words[0], "simple")  # the long messages do not connect all members
            self.assertEqual(words[2], "-")  # blocks of 40000 bytes are not combined
            self.assertGreater(float(words[3]), 7 * 42)
            # 15 messages of 8 bytes each, or 4 of 8 blocks.
            plan.write_text("alltoallv tasks=0-15 calls=10 schedule=combined radix=2 limit=64 lengths="
                            + "/".join(["8*16"] * 16) + "\n")
            words = mpsim("-plan", plan, "-ts", 2, "-tc", 0.001).stdout.splitlines()[1].split()
            self.assertEqual(words[:3], ["combined", "30.12", "8.26"])
            self.assertEqual(words[5], "218.64")
            for arguments, text in ((("-plan",), "needs a file"), (("-plan", "/nowhere/p"), "cannot read /nowhere/p"),
                                    (("-plan", plan, "-n", 4), '"-n" cannot be used with -plan'),
                                    (("-plan", plan, "-ts", "x"), '-ts "x" is not allowed')):
                result = mpsim(*arguments)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(text, result.stderr)

    def test_flat(self):
        times = self.times("bcast", "-n", 16, "-m", 1000)
        self.assertEqual(times["binomial"], 4 * (1 + 1))
        self.assertNotIn("two-level", times)

    def test_two_levels_beside_flat_ones(self):
        for operation in ("bcast", "reduce", "combine", "prefix", "scatter", "gather", "concat", "index", "sync"):
            for layout in (("-nodes", "4x8"), ("-nodes", 5, "-n", 32)):
                with self.subTest(operation=operation, layout=layout):
                    times = self.times(operation, "-m", 8, *layout)
                    # Flat ones are as good where their groups of neighbours happen to be nodes. A combined index knows
                    # nodes, too.
                    flat = [time for name, time in times.items() if not name.startswith("combined")]
                    self.assertLessEqual(times["two-level"], 1.05 * min(flat), times)
        self.assertNotIn("two-level", self.times("shift", "-nodes", "4x8"))
        # Ranks on nodes in turn: prefix has no levels, blocks go through leaders as before.
        self.assertNotIn("two-level", self.times("prefix", "-nodes", "4x8", "-turns"))
        self.assertIn("two-level", self.times("gather", "-nodes", "4x8", "-turns"))
        # Long blocks: what has to go between nodes is the same, collecting it costs.
        times = self.times("index", "-nodes", "4x8", "-m", "64k", "-ntc", "0.0005")
        self.assertGreater(times["two-level"], min(times.values()))

    def test_a_cable_for_each_node(self):
        # All ranks of a node send to another one: start-ups at once, bytes one after the other.
        self.assertEqual(self.times("shift", "-nodes", "4x1", "-m", 1000)["direct"], 2)
        shifted = self.times("shift", "-nodes", 2, "-n", 8, "-turns", "-m", 1000)["direct"]
        self.assertEqual(shifted, 1 + 4)
        # All on one node: what goes within it is all there is.
        self.assertEqual(self.times("shift", "-nodes", "1x8", "-m", 1000, "-nts", 3, "-ntc", 0.5)["direct"], 503)

    def test_a_million_messages_for_one_rank(self):
        self.assertAlmostEqual(self.times("gather", "direct", "-n", 1 << 20, "-m", 1)["direct"], 1048575 * 1.001, places=1)

    def test_what_is_too_much_is_left_out_at_once(self):
        result = mpsim("index", "-n", 1 << 20)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        left_out = [line for line in result.stdout.splitlines() if line.endswith("more messages or pieces than can be simulated")]
        self.assertEqual([line.split(":")[0].split()[0] for line in left_out], ["pairwise", "radix", "multiport", "pieces", "phased", "phased-barrier", "a2", "a3", "a4", "combined"])

        # Several that are not too much alone, but together.
        lines = {line.split()[0]: line for line in mpsim("index", "-n", 400, "-m", 8).stdout.splitlines()}
        self.assertNotIn("too long", lines["pairwise:0"] + lines["radix:20"])
        self.assertIn("name it to simulate it alone", lines["a3:1"])
        self.assertGreater(self.times("index", "a3", "-n", 400, "-m", 8)["a3:1"], 0)

    def test_a_million_ranks(self):
        n = 1 << 20
        for operation, algorithm, time in (("bcast", "binomial", 20 * 1.008), ("combine", "tree", 40 * 1.008),
                                           ("reduce", "binomial", 20 * 1.008), ("scatter", "direct", (n - 1) * 1.008),
                                           ("sync", "tree", 40), ("bcast", "scatter-concat", None), ("combine", "ring", None)):
            found = self.times(operation, algorithm, "-n", n, "-m", 8)[algorithm]
            if time is not None:
                self.assertAlmostEqual(found, time, places=1, msg=(operation, algorithm))

    def test_many_messages_to_one_rank(self):
        # Those of each sender in order, whatever the others have sent. This took minutes.
        times = self.times("bcast", "circulant:262144", "-m", "1g", "-n", 16, "-ts", 0, "-tc", 0.001)
        self.assertAlmostEqual(times["circulant:262144"], (262144 + 3) * 4.096, places=1)

    def test_fewer_cores_than_ranks(self):
        alone = self.times("shift", "-n", 8, "-m", 1000)["direct"]
        self.assertEqual(alone, 2)
        self.assertEqual(self.times("shift", "-n", 8, "-m", 1000, "-cores", 2)["direct"], 8 * 2 / 2)
        self.assertEqual(self.times("shift", "-n", 8, "-m", 1000, "-cores", 8)["direct"], alone)
        # Four on a core send, one after the other. What they wait for is there but for rank 0, which is asked again.
        self.assertEqual(self.times("shift", "-n", 8, "-m", 1000, "-cores", 2, "-tt", 3)["direct"], 4 * (2 + 3))
        result = mpsim("shift", "-tt", 3)
        self.assertEqual(result.returncode, 2)
        self.assertIn("-cores", result.stderr)
        # All at once all but the last wait once. Step by step more often, though not in each: much has come until their turn.
        times = {window: self.times("index", f"pairwise:{window}", "-n", 8, "-m", 1000, "-cores", 1, "-tt", 1000)
                 [f"pairwise:{window}"] for window in (0, 1)}
        self.assertEqual(times[0], 8 * 7 * 2 + 14 * 1000)
        self.assertGreater(times[1], times[0] + 8 * 1000)
        self.assertLess(times[1], 8 * 7 * (2 + 1000))
        # A core of a node is for those that are there.
        self.assertEqual(self.times("shift", "-nodes", "4x2", "-m", 1000, "-cores", 1)["direct"], 1 + 1 + 0.1)

    def test_a_mesh_in_order_and_shuffled(self):
        # Figure 14 of the postal paper: in the order of the rows no two messages share a link.
        words = ("bcast", "lambda:1.5", "-model", "postal", "-lambda", 1.5, "-m", "64k")
        alone = self.times(*words, "-n", 64)["lambda:1.5"]
        self.assertEqual(self.times(*words, "-mesh", "8x8")["lambda:1.5"], alone)
        self.assertGreater(self.times(*words, "-mesh", "8x8", "-shuffle", 1)["lambda:1.5"], alone)
        for wrong in (("-mesh", "8"), ("-mesh", "0x8"), ("-mesh", "8x8", "-n", 7), ("-mesh", "8x8", "-nodes", 2), ("-shuffle", 1),
                      ("-mesh", "2x2", "-cores", 1), ("-mesh", "2x2", "-shuffle", 0.5)):
            result = mpsim("bcast", *wrong)
            self.assertEqual((result.returncode, result.stdout), (2, ""), wrong)
            self.assertIn(wrong[0] if len(wrong) < 4 else "-", result.stderr)

    def test_several_ports(self):
        # 63 blocks of 64 ranks in ceil(log4 64) = 3 rounds with three ports, 21 blocks through each.
        times = self.times("concat", "-n", 64, "-ports", 3, "-m", 1000)
        self.assertEqual(times["multiport:3"], 3 + 21)
        self.assertEqual(times["direct"], 21 + 21)
        for wrong in (("-ports", 0), ("-ports", 1.5), ("-ports", 2, "-nodes", 2), ("-ports", 2, "-mesh", "2x8"), ("-ports", 2, "-cores", 2)):
            self.assertEqual(mpsim("concat", *wrong).returncode, 2, wrong)

    def test_what_pieces_cost(self):
        # A block is put in its place, the others are sent from where they are.
        self.assertEqual(self.times("index", "pairwise", "-n", 4, "-ts", 0, "-tc", 0, "-tp", 7)["pairwise:0"], 7)

    def test_lengths_of_an_irregular_index(self):
        with tempfile.TemporaryDirectory() as directory:
            lengths = pathlib.Path(directory) / "lengths"
            lengths.write_text("0 0 5000 0\n" + "0 0 0 0\n" * 3)
            words = ("-n", 4, "-lengths", lengths)
            times = self.times("index", *words)
            self.assertEqual(times["pairwise:0"], 1 + 5)
            self.assertEqual(set(times), {"pairwise:0", "pieces:32768", "phased:32768", "phased-barrier:0", "greedy:0",
                                          "all-to-all:0", "a2:1", "a3:1", "a4:2", "combined:2"})
            for name in ("pairwise:1", "a4:0", "a4:1"):
                self.assertGreater(self.times("index", name, *words)[name], 0)
            for text, n in (("1 2 3", 2), ("1 2 3 x", 2), ("1 2 3 4 5", 2)):
                lengths.write_text(text)
                result = mpsim("index", "-n", n, "-lengths", lengths)
                self.assertEqual(result.returncode, 2)
                self.assertIn("does not hold 4 lengths", result.stderr)

    def printed(self, *arguments):
        result = mpsim(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def test_a_tree_as_text(self):
        # 1, 1, 2, 3, 5, 8 ranks have it after 0 to 5 units of time.
        text = self.printed("bcast", "lambda:2", "-n", 8, "-model", "postal", "-lambda", 2, "-ts", 1, "-tc", 0, "-tree")
        ranks = sorted(int(line.split()[0]) for line in text.splitlines())
        self.assertEqual(ranks, list(range(8)))
        self.assertEqual(text.splitlines()[0], "0")
        self.assertEqual(max(int(line.split()[-1]) for line in text.splitlines()[1:]), 5)
        self.assertEqual(self.printed("reduce", "binomial", "-n", 4, "-tc", 0, "-root", 1, "-tree"),
                         "1\n   0 at 1\n   2 at 2\n      3 at 1\n")
        self.assertEqual(self.printed("combine", "tree", "-n", 4, "-tc", 0, "-tree"),
                         "at 1: 1 to 0, 3 to 2\nat 2: 2 to 0\nat 3: 0 to 2\nat 4: 0 to 1, 2 to 3\n")
        self.assertEqual(mpsim("bcast", "-tree").returncode, 2)

    def test_a_picture(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "messages.svg"
            self.assertEqual(self.printed("combine", "butterfly", "-n", 8, "-m", 1000, "-svg", file), "")
            svg = xml.etree.ElementTree.parse(file).getroot()
            space = "{http://www.w3.org/2000/svg}"
            width, height = svg.get("width"), svg.get("height")
            self.assertEqual(svg.get("viewBox"), f"0 0 {width} {height}")
            self.assertEqual(svg.find(f"{space}rect").get("fill"), "white")
            texts = [text.text for text in svg.iter(f"{space}text")]
            self.assertEqual(texts, [str(rank) for rank in range(8)] + ["6 us"])
            titles = [title.text for title in svg.iter(f"{space}title")]
            self.assertEqual(len(titles), 8 * 3)
            self.assertIn("3 to 7, 1000 bytes, 4 to 6", titles)
            # A line for each rank, and one for each message, from where the one rank's is to the other's.
            lines = list(svg.iter(f"{space}line"))
            self.assertEqual(len(lines), 8 + 8 * 3)
            rows = {rank: float(line.get("y1")) for rank, line in enumerate(lines[:8])}
            for line in lines[8:]:
                source, target = line.find(f"{space}title").text.split(",")[0].split(" to ")
                self.assertEqual((float(line.get("y1")), float(line.get("y2"))), (rows[int(source)], rows[int(target)]))
        result = mpsim("combine", "tree", "-svg", "/no/such/file")
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write /no/such/file", result.stderr)

    def test_other_models(self):
        # A message every 3 microseconds, the last one there after lambda times that.
        postal = ("-n", 9, "-m", 1000, "-model", "postal", "-ts", 2, "-tc", 0.001, "-lambda", 2.5)
        self.assertEqual(self.times("scatter", "direct", *postal)["direct"], 7 * 3 + 2.5 * 3)
        self.assertIn("lambda:2.5", self.times("bcast", *postal))
        # (n - 2) (g + (m - 1) G) + 2 o + L + (m - 1) G.
        loggp = ("-n", 64, "-m", 1024, "-model", "loggp", "-L", 5, "-o", 1.5, "-g", 4, "-G", 0.003)
        self.assertEqual(self.times("scatter", "direct", *loggp)["direct"], 449.35)

    def test_lost_output_is_told(self):
        for words in ("-h", "bcast", "bcast lambda:2 -n 100000 -tree"):
            with open("/dev/full", "w") as full:
                result = subprocess.run([MPSIM, *words.split()], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual(result.returncode, 1, words)
            self.assertIn("No space left", result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)
        head = subprocess.run(["sh", "-c", f"{MPSIM} bcast lambda:2 -n 100000 -tree | head -1"], capture_output=True, text=True, timeout=60)
        self.assertEqual((head.stdout, head.stderr), ("0\n", ""))

    def test_messages_that_are_too_long(self):
        result = mpsim("bcast", "-m", "5g")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = {line.split()[0]: line for line in result.stdout.splitlines()}
        self.assertIn("longer than 4 GB", lines["binomial"])
        self.assertIn(str(15 * 5 << 30), lines["chain:163840"])
        result = mpsim("bcast", "binomial", "-m", "5g")
        self.assertEqual(result.returncode, 1)
        self.assertIn("longer than 4 GB", result.stderr)

    def test_wrong_words(self):
        for words, text in (("bcst", "no operation \"bcst\""), ("bcst", "did you mean bcast?"),
                            ("bcast bionmial", "did you mean binomial?"),
                            ("bcast -cores 0.5", "-cores does not say how many"),
                            ("bcast -cores 5000000000", "-cores does not say how many"),
                            ("bcast -nodes 0", "-nodes \"0\" is not allowed"),
                            ("bcast -nodes 17", "at most as many as ranks"),
                            ("bcast -nodes 4x4 -n 17", "-n follows from that"),
                            ("bcast -nodes 2048x2048", "-nodes \"2048x2048\" is not allowed"),
                            ("bcast -nodes 4x", "as in 4x16"),
                            ("bcast -turns", "say how many with -nodes"),
                            ("bcast -root 16", "-root is no rank"),
                            ("prefix two-level", "two-level does not fit 16 ranks\n"),
                            ("prefix two-level -nodes 4x4 -turns", "two-level does not fit 16 ranks on these nodes"),
                            ("bcast edst -n 12", "edst does not fit 12 ranks"),
                            ("bcast alpha:2", "expected a number from 0.5 to 0.999 after the colon"),
                            ("index radix:1 -n 16", "expected a whole number from 2 to 1048576 after the colon: radix"),
                            ("bcast -lambda 2", "-lambda is no number of the model linear; say -model postal"),
                            ("bcast -nts 2", "say how many, with -nodes"),
                            ("bcast -g 2", "say -model loggp"),
                            ("bcast -model postal -L 2", "-L is no number of the model postal; say -model loggp"),
                            ("bcast -model loggp -ts 2", "say -model linear or postal"),
                            ("index -lengths /no/such", "cannot read /no/such"),
                            ("bcast -lengths x", "-lengths is for index"),
                            ("bcast -m inf", "-m \"inf\" is no number"),
                            ("bcast -m 1e30", "expected a whole number up to 1024g"),
                            ("bcast -m 1.5", "-m does not say how many bytes"),
                            ("bcast -m -1", "-m is negative"),
                            ("bcast -n nan", "-n \"nan\" is no number"),
                            ("bcast -ts inf", "-ts \"inf\" is no number"),
                            ("bcast -tc 1e300", "-tc is too large"),
                            ("bcast -tt inf -cores 1", "-tt \"inf\" is no number"),
                            ("bcast -model postal -lambda inf", "-lambda \"inf\" is no number"),
                            ("bcast -model postal -lambda 1001", "-lambda is too large"),
                            ("bcast -model postal -lambda 0.5", "-lambda is below 1"),
                            ("bcast chain:inf", "\"chain:inf\" is not allowed"),
                            ("bcast chain:1e30", "\"chain:1e30\" is not allowed"),
                            ("bcast -nodes", "\"-nodes\" is no flag, or lacks its value")):
            result = mpsim(*words.split())
            self.assertEqual((result.returncode, result.stdout), (2, ""), words)
            self.assertIn(text, result.stderr)
        # The root may be any of the ranks that -nodes makes.
        self.times("bcast", "-nodes", "4x8", "-root", 31)


if __name__ == "__main__":
    unittest.main()
