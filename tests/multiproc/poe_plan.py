#!/usr/bin/env python3
"""The communication plan: vt -plan finds the patterns that a program is known to have, and a run with the plan has
the same results as one without it, also if lengths, order and root change at random."""

import os
import pathlib
import re
import subprocess
import tempfile

from launching import BUILD, SANITIZED, SOURCE, LaunchTest, clean_environment, main, poe

TASKS = 5
ROUNDS = 12
LONG = 8192
SEEDS = range(1, 9 if SANITIZED else 25)
MIXED = (1 << 32) - 1


def mix(a, b, c, d):
    x = (a * 2654435761 ^ b * 2246822519 ^ c * 3266489917 ^ d * 668265263) & MIXED
    x ^= x >> 15
    x = x * 2246822519 & MIXED
    return x ^ x >> 13


def length(place, source, to):
    """As in planned_calls.c, of a round without changes."""
    if source == to:
        return 0  # the plan has only messages to other tasks
    if place == 1:
        return 3 * LONG if to == (source + 1) % TASKS else mix(1, 2, source, to) % 3 * 20
    return LONG + 1000 * place + 512 * ((source + 2 * to) % 3)


def numbers(text):
    """The matrix of lengths=."""
    rows = []
    for row in text.split("/"):
        rows.append([])
        for part in row.split(","):
            value, _, times = part.partition("*")
            bytes_ = int(value[:-1]) * 1024 if value.endswith("K") else int(value)
            rows[-1] += [bytes_] * int(times or 1)
    return rows


class Plan(LaunchTest):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.program = os.path.join(cls.directory.name, "planned_calls")
        subprocess.run([str(BUILD / "bin/mpicc.poe"), str(SOURCE / "tests/multiproc/planned_calls.c"), "-g",
                        "-o", cls.program], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def run_program(self, *arguments, **variables):
        result = poe(self.program, str(ROUNDS), *arguments, env=clean_environment(MP_PROCS=TASKS, **variables))
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return result

    def vt(self, *arguments, status=0):
        result = subprocess.run([str(BUILD / "bin/vt"), *arguments], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stderr if status else result.stdout

    def plan(self):
        """The plan of the program, made once."""
        cls = type(self)
        if not hasattr(cls, "text"):
            trace = os.path.join(cls.directory.name, "run.trc")
            self.run_program(MP_TRACELEVEL=9, MP_TRACEFILE=trace)
            cls.text = self.vt("-plan", trace)
        return cls.text

    def file_with(self, text):
        path = pathlib.Path(self.directory.name, "run.plan")
        path.write_text(text)
        return str(path)

    def place_of(self, text):
        lines = (SOURCE / "tests/multiproc/planned_calls.c").read_text().splitlines()
        return "planned_calls.c:" + str(next(number for number, line in enumerate(lines, 1) if text in line))

    def test_patterns(self):
        lines = [line for line in self.plan().splitlines() if line.startswith("alltoallv")]
        self.assertEqual(len(lines), 3, self.plan())
        for place in range(3):
            line = next(line for line in lines if self.place_of(f"/* place {place} */") in line)
            self.assertIn(f"tasks=0-{TASKS - 1} ", line)
            first, every = (place, 2) if place < 2 else (0, 1)
            self.assertIn(f"first={first} every={every} calls={ROUNDS} schedule=simple ", line)
            self.assertEqual(numbers(re.search(r"lengths=(\S+)", line)[1]),
                             [[length(place, s, t) for t in range(TASKS)] for s in range(TASKS)])
            self.assertIn("the same lengths in all calls; simple, because at most ", line)
        bcast = next(line for line in self.plan().splitlines() if line.startswith("bcast"))
        self.assertIn(f"calls={ROUNDS} bytes=4 ", bcast)
        self.assertIn(self.place_of("MPI_Bcast("), bcast)

    def test_messages_that_are_a_collective_call(self):
        self.assertRegex(self.plan(), rf"(?m)^# messages at .*{re.escape(self.place_of('MPI_Sendrecv('))}: "
                         rf"{ROUNDS} rounds of MPI_Alltoall \(mpc_index\) of tasks 0-{TASKS - 1}, 200 bytes each$")

    def test_lengths_that_change_are_not_planned(self):
        trace = os.path.join(self.directory.name, "changed.trc")
        seed = next(seed for seed in range(1, 1000) if (1 + mix(seed, 1, 0, 0) % 7) == 1 and mix(seed, 5, 0, 0) % 3 == 0
                    and mix(seed, 2, 0, 0) % ROUNDS == 2 and mix(seed, 3, 0, 0) % 2 == 0)
        self.run_program(str(seed), MP_TRACELEVEL=9, MP_TRACEFILE=trace)
        text = self.vt("-plan", trace)
        self.assertEqual(len([line for line in text.splitlines() if line.startswith("alltoallv")]), 2, text)
        self.assertRegex(text, r"(?m)^# MPI_Alltoallv .*not planned: lengths change from call to call")

    def phased(self, schedule):
        return self.file_with(self.plan().replace("schedule=simple", "schedule=" + schedule))

    def test_followed(self):
        without = self.run_program().stdout
        for schedule in ("greedy", "all-to-all"):
            for lib in ("us", "ip"):
                result = self.run_program(MP_PLAN=self.phased(schedule), MP_INFOLEVEL=2, MP_EUILIB=lib)
                self.assertEqual(result.stdout, without)
                said = re.findall(rf"INFO: 0032-125 The plan for alltoallv .* was followed in {ROUNDS} of {ROUNDS} "
                                  r"calls\.", result.stderr.decode())
                self.assertEqual(len(said), 3, result.stderr.decode())

    def combined(self, radix, limit):
        return self.file_with(self.plan().replace("schedule=simple", f"schedule=combined radix={radix} limit={limit}"))

    def test_combined(self):
        without = self.run_program().stdout
        for radix, lib in ((2, "us"), (2, "ip"), (3, "ip"), (TASKS, "us")):
            result = self.run_program(MP_PLAN=self.combined(radix, "32K"), MP_INFOLEVEL=2, MP_EUILIB=lib)
            self.assertEqual(result.stdout, without)
            said = re.findall(rf"INFO: 0032-125 The plan for alltoallv .* was followed in {ROUNDS} of {ROUNDS} calls\.",
                              result.stderr.decode())
            self.assertEqual(len(said), 3, result.stderr.decode())

    def test_combined_with_long_blocks(self):
        # The limit excludes the long blocks of place 1. They arrive nevertheless, and all members leave in the next call.
        without = self.run_program().stdout
        result = self.run_program(MP_PLAN=self.combined(2, "12K"), MP_INFOLEVEL=3)
        self.assertEqual(result.stdout, without)
        said = re.findall(r"Task \d: the plan for alltoallv in .* was followed in (.*)\.\n", result.stderr.decode())
        self.assertEqual(sorted(said), sorted(
            TASKS * [f"1 of {ROUNDS} calls; the lengths of task 0 did not fit in call 1"]
            + 2 * TASKS * [f"{ROUNDS} of {ROUNDS} calls"]), result.stderr.decode())

    def test_members_that_disagree_on_a_length(self):
        for limit in ("32K", "100"):  # the block comes with others; it comes directly
            result = self.run_program("0", "disagree", MP_PLAN=self.combined(2, limit))
            self.assertIn("truncated\nsum ", result.stdout.decode())

    def test_combined_at_random(self):
        left = 0
        for seed in SEEDS:
            with self.subTest(seed=seed):
                without = self.run_program(str(seed))
                variables = {"MP_EUILIB": "ip"} if seed % 3 == 0 else {}
                limit = ("100", "9K", "12K", "32K")[seed % 4]
                result = self.run_program(str(seed), MP_PLAN=self.combined(2 + seed % 4, limit), MP_INFOLEVEL=3, **variables)
                self.assertEqual(result.stdout, without.stdout)
                ends = {}
                for line, end in re.findall(r"Task \d+: the plan for (.*) was followed in (.*)\.\n", result.stderr.decode()):
                    ends.setdefault(line, []).append(end)
                self.assertEqual(len(ends), 3, result.stderr.decode())
                for line, said in ends.items():
                    self.assertEqual(said, TASKS * said[:1], f"seed {seed}: {line}")
                    if notice := re.fullmatch(rf"(\d+) of {ROUNDS} calls; the lengths of task \d did not fit in call (\d+)",
                                              said[0]):
                        self.assertEqual(notice[1], notice[2])  # left in the call after it
                        left += 1
                    else:
                        self.assertEqual(said[0], f"{ROUNDS} of {ROUNDS} calls")
        self.assertGreater(left, 3)

    def test_trace_of_a_planned_run(self):
        trace = os.path.join(self.directory.name, "planned.trc")
        self.run_program(MP_PLAN=self.combined(2, "32K"), MP_TRACELEVEL=9, MP_TRACEFILE=trace)
        text = self.vt("-plan", trace)
        self.assertEqual(len(re.findall("(?m)^# MPI_Alltoallv .* not planned: the traced run followed a plan itself", text)), 3,
                         text)

    def test_changes_at_random(self):
        left = 0
        for seed in SEEDS:
            with self.subTest(seed=seed):
                without = self.run_program(str(seed))
                variables = {"MP_EUILIB": "ip"} if seed % 3 == 0 else {}
                result = self.run_program(str(seed), MP_PLAN=self.phased("greedy" if seed % 2 else "all-to-all"),
                                          MP_INFOLEVEL=3, **variables)
                self.assertEqual(result.stdout, without.stdout)
                # All members have followed a line in the same calls, and name the same task.
                said = re.findall(r"Task (\d+): the plan for (.*) was followed in (\d+ of \d+ calls(?:; .*)?)\.",
                                  result.stderr.decode())
                self.assertEqual(len(said), 3 * TASKS, result.stderr.decode())
                ends = {}
                for task, line, end in said:
                    ends.setdefault(line, set()).add(end)
                for line, different in ends.items():
                    # At the end of the run a notice may not have reached all members yet.
                    if all(end.startswith(f"{ROUNDS} of {ROUNDS} ") for end in different):
                        continue
                    self.assertEqual(len(different), 1, f"seed {seed}: {line}: {different}")
                    left += 1
        self.assertGreater(left, 3)

    def test_leaving_is_reported_once(self):
        # Place 0 with other lengths from call 1 on.
        seed = next(seed for seed in range(1, 1000) if (1 + mix(seed, 1, 0, 0) % 7) == 1 and mix(seed, 5, 0, 0) % 3 == 0
                    and mix(seed, 2, 0, 0) % ROUNDS == 0 and mix(seed, 3, 0, 0) % 2 == 1)
        result = self.run_program(str(seed), MP_PLAN=self.phased("greedy"))
        said = result.stderr.decode().splitlines()
        self.assertEqual(len(said), 1, said)
        self.assertRegex(said[0], r"ATTENTION: 0032-125 The plan for alltoallv .* is left after 1 calls, because the "
                         r"lengths of task \d did not fit it in call 1\.")

    def test_other_members(self):
        text = self.plan().replace("schedule=simple", "schedule=greedy")
        result = poe(self.program, str(ROUNDS), "-procs", "3", "-plan", self.file_with(text), "-infolevel", "2")
        self.ok(result)
        self.assertEqual(len(re.findall("was not used, because (the group has other members in this run|no such call was "
                                        r"made)\.", result.stderr.decode())), 3, result.stderr.decode())

    def test_mistakes(self):
        result = poe(self.program, "-procs", "2", "-plan", "/nowhere/run.plan")
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot read the plan /nowhere/run.plan (-plan, MP_PLAN): No such file", result.stderr.decode())
        for text, words in (("alltoallv tasks=0-1 shedule=greedy\n", 'there is no key "shedule"; did you mean schedule?'),
                            ("\nalltoallv tasks=0-1 lengths=0,1/2\n", "lengths=0,1/2 is not allowed; expected for each"),
                            ("alltoallv group=0\n", "the line has no tasks"),
                            ('alltoallv tasks=0-1 at="x\n', "a quotation mark is missing")):
            result = poe(self.program, "2", "-procs", "2", "-plan", self.file_with(text))
            self.ok(result)
            self.assertEqual(result.stderr.decode().count("ATTENTION: 0032-124 The plan is not used: "), 1,
                             result.stderr.decode())
            self.assertIn(words, result.stderr.decode())
        self.assertIn("-json is for -summary", self.vt("-plan", "-json", "x.trc", status=2))


class PlanOfMpl(LaunchTest):
    def test_indexv(self):
        with tempfile.TemporaryDirectory() as directory:
            program, trace, plan = (os.path.join(directory, name) for name in ("planned_index", "run.trc", "run.plan"))
            subprocess.run([str(BUILD / "bin/mpcc"), str(SOURCE / "tests/multiproc/planned_index.c"), "-g", "-o", program],
                           check=True)
            self.ok(poe(program, "5", "-procs", "3", "-tracelevel", "9", "-tracefile", trace))
            text = subprocess.run([str(BUILD / "bin/vt"), "-plan", trace], capture_output=True, text=True, check=True).stdout
            line = next(line for line in text.splitlines() if line.startswith("indexv"))
            self.assertIn("indexv group=0 tasks=0-2 first=0 every=1 calls=5 schedule=simple "
                          "lengths=0,5300,5600/5700,0,6300/6400,6700,0 at=\"main at planned_index.c:", line)
            pathlib.Path(plan).write_text(text.replace("schedule=simple", "schedule=greedy"))
            combined = plan + ".combined"
            pathlib.Path(combined).write_text(text.replace("schedule=simple", "schedule=combined radix=2 limit=8K"))
            for arguments, file, end in (
                    (["5"], plan, "5 of 5 calls."), (["5"], combined, "5 of 5 calls."),
                    (["5", "2"], plan, "3 of 5 calls; the lengths of task 0 did not fit in call 3."),
                    (["5", "2"], combined, "3 of 5 calls; the lengths of task 0 did not fit in call 3.")):
                result = poe(program, *arguments, "-procs", "3", "-plan", file, "-infolevel", "3")
                self.ok(result)
                for task in range(3):
                    self.assertRegex(result.stderr.decode(), rf"Task {task}: the plan for indexv .* was followed in "
                                     + re.escape(end))


if __name__ == "__main__":
    main()
