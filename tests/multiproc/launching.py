"""What all tests of whole jobs share: where poe is, how to run it with a deadline, and the check that
a job left nothing behind."""

import fcntl
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ.get("POE_BUILD", "build/release")).resolve()
SOURCE = pathlib.Path(os.environ.get("POE_SOURCE", ".")).resolve()
POE = str(BUILD / "bin" / "poe")
EXAMPLES = BUILD / "examples"
DEADLINE = 180
started = set()  # process numbers of every poe that this script has started
SANITIZED = bool(os.environ.get("POE_SANITIZE"))


def clean_environment(**changes):
    """The environment without any MP_* setting of whoever runs the tests."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MP_", "PMI", "OMPI_"))}
    env.update({k: str(v) for k, v in changes.items()})
    return env


def poe(*args, stdin=subprocess.DEVNULL, input=None, env=None, timeout=DEADLINE, **options):
    """Runs poe to its end; stdout and stderr as bytes."""
    process = start(*args, stdin=stdin if input is None else subprocess.PIPE,
                    env=env or clean_environment(), **options)
    try:
        out, err = process.communicate(input, timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def start(*args, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    options.setdefault("env", clean_environment())
    process = subprocess.Popen([POE, *map(os.fsencode, args)], **options)
    started.add(process.pid)
    return process


def limit_beyond_segment(tasks):
    """What sets a limit of file sizes that the node segment of so many tasks just stays below, and the limit."""
    tiny = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
    said = poe("true", "-procs", str(tasks), preexec_fn=tiny).stderr.decode()
    limit = (int(re.search(r"segment to (\d+) KB", said)[1]) << 10) + (1 << 20)
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)), limit


def wait_for(condition, what, timeout=DEADLINE):
    """The first true value of condition(), asked until the deadline."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {timeout} s for {what}")
        time.sleep(0.005)


# The lengths that the built-in tuning has a lambda for.
BUILT_IN_LAMBDAS = {"1024", "65536", "1048576"}


def check_lambdas(test, table, facts):
    """The table that mptune prints and the lines of a level in the tuning file: each length at which both experiments
    agree has its lambda; the others keep what the file had, if anything."""
    agreed = set(re.findall(r"(?m)^ +(\d+) [ .\d]+$", table))
    written = set(re.findall(r"(?m)^lambda (\d+) [\d.]+$", facts))
    test.assertLessEqual(agreed, written, table)
    test.assertLessEqual(written - agreed, BUILT_IN_LAMBDAS, table)


def meeting(name="here"):
    """Words of the shell that a task leaves when all tasks of its job are there. Their directory is the same, and their own."""
    return f">{name}.$MP_CHILD; until [ $(ls {name}.* | wc -l) = $MP_PROCS ]; do sleep 0.05; done"


def processes():
    """pid -> (parent, state, command line) of all processes that have one."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            stat = pathlib.Path(f"/proc/{entry}/stat").read_text()
            command = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes()
        except OSError:
            continue
        after = stat[stat.rindex(")") + 2:].split()
        found[int(entry)] = (int(after[1]), after[0], command.replace(b"\0", b" ").decode(errors="replace"))
    return found


def running(marker):
    """Processes whose command line has `marker` in it, but for ourselves and zombies."""
    return [pid for pid, (_, state, command) in processes().items()
            if marker in command and state != "Z" and pid != os.getpid()]


def children_of(pid):
    return [child for child, (parent, state, _) in processes().items() if parent == pid and state != "Z"]


def descendants_of(pid):
    result = []
    for child in children_of(pid):
        result += [child] + descendants_of(child)
    return result


def daemon_of(pid):
    """The pmd of a running poe."""
    def find():
        return [child for child in children_of(pid) if "pmd --channel" in processes().get(child, (0, "", ""))[2]]
    return wait_for(find, "pmd to start")[0]


def job_files():
    return sorted(n for n in os.listdir("/dev/shm") if re.match(rf"\.?poe(\.names)?-{os.getuid()}-[0-9a-z]+-[0-9a-z]+-\d+(-s\d+)?$", n))


def is_left_over(name):
    """Whether a job's folder is of a poe that we started, or is nobody's. Others may run jobs, too."""
    if int(name.split("-")[3], 36) in started:
        return True
    try:
        folder = os.open(f"/dev/shm/{name}", os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(folder, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False  # its daemon holds the lock
    finally:
        os.close(folder)


def install_for(test):
    """A folder into which this build is installed for the length of the test. Skips the test under sanitizers, because
    programs that link to the libraries would need their flags."""
    if SANITIZED:
        test.skipTest("programs need the sanitizer's flags too")
    folder = tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    prefix = pathlib.Path(folder.name) / "installed"
    subprocess.run(["cmake", "--install", str(BUILD), "--prefix", str(prefix)], check=True, capture_output=True)
    return prefix


class LaunchTest(unittest.TestCase):
    """A test that fails when processes with self.marker in their command, or job files, stay."""

    def setUp(self):
        self.marker = f"poe-test-{os.getpid()}-{time.monotonic_ns()}"
        self.files_before = set(job_files())

    def tearDown(self):
        def files_left():
            return [name for name in set(job_files()) - self.files_before if is_left_over(name)]

        def nothing_left():
            return not running(self.marker) and not files_left()
        try:
            wait_for(nothing_left, "the job to be gone")
        except AssertionError:
            self.fail(f"left behind: processes {running(self.marker)}, files {files_left()}")

    def ok(self, result, status=0):
        self.assertEqual(result.returncode, status, f"stdout: {result.stdout[-2000:]!r}\nstderr: {result.stderr[-2000:]!r}")
        return result


def main():
    if not pathlib.Path(POE).exists():
        sys.exit(f"there is no {POE}; run the tests through ./dev test")
    unittest.main(verbosity=1)
