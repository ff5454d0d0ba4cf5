"""What the tests on several hosts share. They run inside the testbed (see `testbed`), beside its hosts:
commands run on a host, and afterwards nothing may be left on any."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "multiproc"))
from launching import (BUILD, POE, SANITIZED, check_lambdas, children_of, clean_environment, processes,  # noqa: E402, F401
                       wait_for)

TESTBED = str(HERE / "testbed")
HOSTS = int(os.environ.get("TESTBED_HOSTS", 0))
EXAMPLES = BUILD / "examples"
DEADLINE = 120
RESIDENT = ("sshd:",)  # how the command lines of what belongs to a host begin


def testbed(verb, host, *args):
    result = subprocess.run([TESTBED, verb, str(host), *args], capture_output=True, text=True, timeout=DEADLINE)
    assert result.returncode == 0, f"testbed {verb} {host}: {result.stderr}"
    return result.stdout


def command_on(host, *args):
    return [TESTBED, "on", str(host), *map(str, args)]


def host_processes(host):
    """Process number, as we see it, to command line, of all that runs on a host beside its sshd."""
    init = int(pathlib.Path(f"/run/testbed/pid.{host}").read_text())
    try:
        own = os.readlink(f"/proc/{init}/ns/pid")
    except OSError:
        return {}  # killed
    found = {}
    for pid, (_, state, command) in processes().items():
        try:
            same = os.readlink(f"/proc/{pid}/ns/pid") == own
        except OSError:
            continue
        if same and pid != init and state != "Z" and not command.startswith(RESIDENT):
            found[pid] = command
    return found


def job_files(host):
    init = pathlib.Path(f"/run/testbed/pid.{host}").read_text().strip()
    try:
        return [name for name in os.listdir(os.path.join("/proc", str(init), "root", "dev", "shm")) if "poe-" in name]
    except OSError:
        return []  # killed


class ClusterTest(unittest.TestCase):
    """Tests that end with nothing left on any host that is still reachable."""

    unreachable = ()  # hosts that a test has killed, cut off or frozen

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="poe-cluster-", dir="/tmp")
        self.addCleanup(self.folder.cleanup)
        self.unreachable = set()

    def tearDown(self):
        def left():
            return {host: (host_processes(host), job_files(host)) for host in range(HOSTS)
                    if host not in self.unreachable and (host_processes(host) or job_files(host))}
        try:
            wait_for(lambda: not left(), "the job to be gone")
        except AssertionError:
            self.fail(f"left behind: {left()}")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text, mode=0o644):
        pathlib.Path(self.path(name)).write_text(text)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def host_file(self, hosts, tasks_each=1):
        """In the order of a user who fills one node after another."""
        return self.write("hosts", "".join(f"node{host}\n" * tasks_each for host in hosts))

    def start(self, *args, on=0, env=None, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen(command_on(on, POE, *args), env=clean_environment(**(env or {})),
                                cwd=self.folder.name, text=True, **options)

    def home(self, job):
        """The process number of a poe that start() has started, 0 when it has ended. It is below the command that
        enters its host, which has other children before."""
        def look():
            return [pid for pid in children_of(job.pid) if processes().get(pid, (0, "", ""))[2].startswith((POE, "salloc "))]
        return wait_for(lambda: look() or (job.poll() is not None and [0]), "poe to run")[0]

    def signal(self, job, number):
        poe = self.home(job)
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            if poe:
                os.kill(poe, number)

    def terminate_twice(self, job, program):
        """Ends the tasks, which execute `program`, by SIGTERM, and then poe by another one. A second signal that came before
        poe has seen the first one would be lost."""
        self.signal(job, signal.SIGTERM)
        commands = lambda: [command for host in range(HOSTS) for command in host_processes(host).values()]
        wait_for(lambda: not any(command.startswith(program) for command in commands()), "the tasks to end")
        self.signal(job, signal.SIGTERM)

    def poe(self, *args, on=0, env=None, input=None, timeout=DEADLINE):
        process = self.start(*args, on=on, env=env, stdin=subprocess.DEVNULL if input is None else subprocess.PIPE)
        try:
            out, err = process.communicate(input, timeout)
        except subprocess.TimeoutExpired:
            self.signal(process, signal.SIGKILL)
            process.communicate()
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def ok(self, result, status=0):
        self.assertEqual(result.returncode, status,
                         f"stdout: {result.stdout[-2000:]}\nstderr: {result.stderr[-2000:]}")
        return result


def main(hosts):
    """Runs the tests of the calling script beside that many hosts."""
    if not HOSTS:
        if os.getuid() != 0:
            print("skipped: hosts in namespaces need root")
            sys.exit(77)
        os.execv(TESTBED, [TESTBED, str(hosts), "--", sys.executable, *sys.argv])
    unittest.main(verbosity=1)
