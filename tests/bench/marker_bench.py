"""Markers: what a call costs a task, with and without viewers; whether 16 tasks that set a million a
second keep their pace with two viewers open; what a viewer itself uses."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading

from measuring import BUILD, POE, compile_program, environment, ratio, rounds, save, scaled, table, text

PMARRAY = str(BUILD / "bin" / "pmarray")
CALLS = scaled(100_000_000)
TASKS = 16
RATE = 1_000_000
SECONDS = scaled(10, 3)
ROUNDS = scaled(3)
VIEWERS = 2


class Viewer:
    """A pmarray on a terminal of 200 x 60 whose bytes are read and counted."""

    def __init__(self, job):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
        env = dict(environment(), TERM="xterm-256color", LC_ALL="C.UTF-8")
        self.process = subprocess.Popen([PMARRAY, str(job)], stdin=slave, stdout=slave, env=env)
        os.close(slave)
        self.bytes = 0
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        try:
            while count := len(os.read(self.master, 65536)):
                self.bytes += count
        except OSError:
            pass  # it has ended

    def quit(self):
        """Seconds of processor time, peak memory in KB, and bytes."""
        os.write(self.master, b"q")
        _, _, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = 0
        self.reader.join()
        os.close(self.master)
        return {"cpu": usage.ru_utime + usage.ru_stime, "memory": usage.ru_maxrss, "bytes": self.bytes}


def job(tasks, program, arguments, viewers, seen):
    """The lines that the tasks have printed."""
    process = subprocess.Popen([POE, program, *map(str, arguments), "-procs", str(tasks)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, text=True, env=environment())
    watching = []
    while len(watching) < viewers and process.poll() is None:
        shown = subprocess.run([PMARRAY, "-once", str(process.pid)], capture_output=True)
        if shown.returncode == 0:
            watching = [Viewer(process.pid) for _ in range(viewers)]
    out = process.communicate(timeout=300)[0]
    seen += [viewer.quit() for viewer in watching]
    return out.split("\n")[:-1] if process.returncode == 0 else []


def median_of(values, key):
    numbers = sorted(value[key] for value in values)
    return numbers[len(numbers) // 2] if numbers else None


def run():
    program = compile_program("marker_bench.c", "marker_bench", str(BUILD / "bin" / "mpcc"))
    seen = []

    def cost(viewers, which):
        lines = job(1, program, ["free", CALLS], viewers, [])
        return float(lines[0].split()[which]) if lines else None

    def pace(viewers, watching):
        lines = job(TASKS, program, ["paced", RATE, SECONDS], viewers, watching)
        return sum(map(float, lines)) / (TASKS * RATE * SECONDS) if len(lines) == TASKS else None

    kinds = ("light and text", "light", "progress")
    costs = rounds({f"{kind}, {viewers} viewers": lambda v=viewers, i=i: cost(v, i)
                    for i, kind in enumerate(kinds) for viewers in (0, VIEWERS)}, ROUNDS)
    table("A call, ns (at most 20)", ["call", "nobody looks", f"{VIEWERS} viewers"],
          [[kind, *(text(costs[f"{kind}, {viewers} viewers"]["median"]) for viewers in (0, VIEWERS))] for kind in kinds])
    paces = rounds({f"{viewers} viewers": lambda v=viewers: pace(v, seen if v else []) for viewers in (0, VIEWERS)}, ROUNDS)
    table(f"{TASKS} tasks, {RATE} markers/s each: share of them that were set (at least 0.98 of the first)",
          ["nobody looks", f"{VIEWERS} viewers", "ratio"],
          [[*(text(paces[f"{viewers} viewers"]["median"], digits=4) for viewers in (0, VIEWERS)),
            text(ratio(paces[f"{VIEWERS} viewers"]["median"], paces["0 viewers"]["median"]), digits=4)]])
    table("A viewer meanwhile", ["% of a core (under 10)", "peak MB", "KB/s to the terminal"],
          [[text(median_of(seen, "cpu"), 100 / SECONDS, 1), text(median_of(seen, "memory"), 1 / 1024, 1),
            text(median_of(seen, "bytes"), 1 / 1024 / SECONDS, 1)]])
    save("markers", {"costs": costs, "paces": paces, "viewers": seen})
