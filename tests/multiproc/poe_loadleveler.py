#!/usr/bin/env python3
"""llsubmit, llq and llcancel: job command files without Slurm, and what Slurm is asked for (a stand-in)."""

import os
import pathlib
import re
import socket
import stat
import subprocess
import tempfile

from launching import BUILD, LaunchTest, clean_environment, main, running, wait_for

HOST = socket.gethostname()


class LoadLeveler(LaunchTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(os.path.realpath(folder.name))
        path = f"{BUILD}/bin:{os.environ['PATH']}"
        self.env = clean_environment(XDG_STATE_HOME=self.folder / "state", PATH=path, SLURM_CONF="/nowhere/slurm.conf")

    def run_in(self, *words, status=0, input=None):
        result = subprocess.run(words, cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=60,
                                input=input)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result

    def submit(self, text, name="job.cmd"):
        (self.folder / name).write_text(text)
        said = self.run_in("llsubmit", name)
        return re.search(r'llsubmit: The job "(\S+)" has been submitted.', said.stdout)[1], said.stderr

    def text(self, name):
        """The file once the job is over."""
        wait_for(lambda: not list((self.folder / "state/poe/loadleveler").iterdir()), "the job to end")
        return (self.folder / name).read_text()

    def test_a_parallel_job(self):
        job, said = self.submit("""\
#!/bin/sh
# @ job_name         = ring
# @ job_type         = parallel
# @ total_tasks      = \\
# @ 3
#@ output           = $(job_name).$(jobid).out
# @ error            = err
# @ wall_clock_limit = 1:00,0:50
# @ requirements     = (Arch == "R6000")
# @ queue
echo "$LOADL_STEP_ID $LOADL_TOTAL_TASKS"
poe sh -c 'echo $MP_CHILD of $MP_PROCS' -stdoutmode ordered
""")
        self.assertEqual(job, HOST + ".1")
        self.assertIn("requirements is ignored", said)
        self.assertEqual(self.text("ring.1.out"), f"{HOST}.1.0 3\n0 of 3\n1 of 3\n2 of 3\n")
        self.assertEqual(self.text("err"), "")

    def test_steps_executables_and_environments(self):
        (self.folder / "sub").mkdir()
        self.submit("""\
# @ executable  = /bin/sh
# @ arguments   = -c "echo $A $B"
# @ environment = COPY_ALL; A = one; B=two words
# @ output      = first
# @ queue
# @ initialdir  = sub
# @ arguments   = -c pwd
# @ output      = ../second
# @ queue
""")
        self.assertEqual(self.text("first"), "one two words\n")
        self.assertEqual(self.text("second"), f"{self.folder}/sub\n")

    def test_list_and_cancel(self):
        self.assertIn("no job status to report", self.run_in("llq").stdout)
        job, _ = self.submit(f"# @ class = night\n# @ output = out\n# @ queue\npoe sleep 1000.{os.getpid()} -procs 2\n")
        wait_for(lambda: len(running(f"sleep 1000.{os.getpid()}")) >= 2, "the tasks")
        listed = self.run_in("llq").stdout
        self.assertRegex(listed, rf"(?m)^{HOST}\.1\.0 .* R +50 +night +{HOST}$")
        self.run_in("llcancel", job)
        wait_for(lambda: not running(f"sleep 1000.{os.getpid()}"), "the end of the tasks")
        self.assertIn("no job status to report", self.run_in("llq").stdout)
        self.assertIn("There is no job", self.run_in("llcancel", job, status=1).stderr)

    def test_limit(self):
        self.submit("# @ wall_clock_limit = 1\n# @ output = out\n# @ queue\necho begin\nsleep 1000\necho end\n")
        self.assertIn(self.text("out"), ("begin\n", ""))  # on a busy computer the limit may come first

    def test_mistakes(self):
        for text, words in (("# @ nodes = 2\n# @ queue\n", 'mistake:1: there is no keyword "nodes"'),
                            ("echo\n", 'there is no "# @ queue"'),
                            ("# @ job_type = strange\n# @ queue\n", "job_type = strange is not"),
                            ("# @ total_tasks = many\n# @ queue\n", "total_tasks = many is not a number")):
            (self.folder / "mistake").write_text(text)
            self.assertIn(words, self.run_in("llsubmit", "mistake", status=1).stderr)
        self.assertIn("cannot be read", self.run_in("llsubmit", "none", status=1).stderr)
        self.run_in("llsubmit", status=2)

    def test_what_slurm_is_asked_for(self):
        bin = self.folder / "bin"
        bin.mkdir()
        sbatch = bin / "sbatch"
        sbatch.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{self.folder}/words\ncat >{self.folder}/script\necho 77\n')
        sbatch.chmod(sbatch.stat().st_mode | stat.S_IXUSR)
        (self.folder / "slurm.conf").touch()
        self.env.update(SLURM_CONF=str(self.folder / "slurm.conf"), PATH=f"{bin}:{self.env['PATH']}")
        job, _ = self.submit("""\
# @ job_type = parallel
# @ job_name = x
# @ class = fast
# @ node = 2,4
# @ tasks_per_node = 8
# @ wall_clock_limit = 01:30:00
# @ output = o.$(jobid)
# @ environment = COPY_ALL; A=1
# @ queue
poe ./prog
""")
        self.assertEqual(job, "77")
        words = (self.folder / "words").read_text().splitlines()
        for word in ("--job-name=x", "--partition=fast", "--nodes=2-4", "--ntasks-per-node=8", "--time=90", "--output=o.%j"):
            self.assertIn(word, words)
        script = (self.folder / "script").read_text()
        self.assertIn("export A=1", script)
        self.assertIn(str(self.folder / "job.cmd"), script)


if __name__ == "__main__":
    main()
