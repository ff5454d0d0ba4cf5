"""Several hosts, of the test bed (tests/cluster/testbed): launching a task on each by ssh, and labelled
lines of many tasks, beside the peers on the same hosts in the same run. Needs root.

  ./dev bench cluster-launch [--hosts 16,64] [--runs 7]
  ./dev bench cluster-stdio [--hosts 16] [--tasks 4] [--mbytes 64] [--runs 3]
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from measuring import HYDRA, OPEN_MPI, POE, ROOT, compile_program, ratio, rounds, save, seconds, table, text
from stdio_bench import rate

TESTBED = str(ROOT / "tests" / "cluster" / "testbed")
HERE = pathlib.Path(__file__).resolve().parent
FANOUT = 16  # of poe, unless told otherwise
HUNG = 60  # seconds; mpirun does so now and then


class Commands:
    """The same job for each launcher, started on the first host."""

    def __init__(self, hosts, each):
        self.folder = tempfile.TemporaryDirectory(prefix="poe-bench-", dir="/tmp")
        self.tasks = hosts * each
        self.names = [f"node{host}" for host in range(hosts)]
        self.poe_file = self.write("poe", [name for name in self.names for _ in range(each)])
        self.hydra_file = self.write("hydra", [f"{name}:{each}" for name in self.names])
        self.open_mpi_file = self.write("openmpi", [f"{name} slots={each}" for name in self.names])

    def write(self, name, lines):
        path = pathlib.Path(self.folder.name) / name
        path.write_text("".join(line + "\n" for line in lines))
        return str(path)

    @staticmethod
    def on_first(*command):
        return [TESTBED, "on", "0", *command]

    def poe(self, *command, flags=()):
        return self.on_first(POE, *command, "-procs", str(self.tasks), "-hostfile", self.poe_file, *flags)

    def hydra(self, *command, flags=()):
        return self.on_first(HYDRA, "-launcher", "ssh", "-f", self.hydra_file, "-n", str(self.tasks), *flags, *command)

    def open_mpi(self, *command, flags=()):
        return self.on_first(OPEN_MPI, "--hostfile", self.open_mpi_file, "-n", str(self.tasks), "--mca", "plm_rsh_agent",
                             "ssh", "--mca", "oob_tcp_if_include", "eth0", *flags, *command)

    def ssh_tree(self):
        return self.on_first("sh", str(HERE / "ssh_tree.sh"), str(FANOUT), *self.names[1:])


def launch_inside(hosts, options):
    commands = Commands(hosts, 1)
    results = rounds({"ssh tree": lambda: seconds(commands.ssh_tree(), HUNG),
                      "poe": lambda: seconds(commands.poe("/bin/true"), HUNG),
                      "hydra": lambda: seconds(commands.hydra("/bin/true"), HUNG),
                      "mpirun": lambda: seconds(commands.open_mpi("/bin/true"), HUNG)}, options["runs"])
    results["ratio"] = ratio(results["poe"]["median"], results["hydra"]["median"], results["mpirun"]["median"])
    return results


def stdio_inside(hosts, options):
    writer = compile_program("write_lines.c", "write_lines")
    check = [compile_program("check_lines.c", "check_lines"), "read"]
    total = options["mbytes"] * 1_000_000
    commands = Commands(hosts, options["tasks"])

    def measured(command):
        return lambda: rate(command, total, check, {}, commands.tasks)
    results = rounds({"poe": measured(commands.poe(writer, str(total), flags=("-labelio", "yes"))),
                      "hydra": measured(commands.hydra(writer, str(total), flags=("-prepend-rank",))),
                      "mpirun": measured(commands.open_mpi(writer, str(total), flags=("--tag-output",)))}, options["runs"])
    peers = [results[name]["median"] for name in ("hydra", "mpirun") if results[name]["median"]]
    results["ratio"] = results["poe"]["median"] / max(peers) if peers else None
    return results


INSIDE = {"launch": launch_inside, "stdio": stdio_inside}


def beside_hosts(part, hosts, options):
    """Runs one of INSIDE beside that many hosts; its results."""
    out = subprocess.run([TESTBED, str(hosts), "--", sys.executable, __file__, part, str(hosts), json.dumps(options)],
                         stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)


def arguments(name, words, hosts, **numbers):
    parser = argparse.ArgumentParser(prog=f"./dev bench {name}")
    parser.add_argument("--hosts", default=hosts, help="numbers of hosts, with commas")
    for key, value in numbers.items():
        parser.add_argument(f"--{key}", type=int, default=value)
    found = vars(parser.parse_args(words))
    sizes = [int(size) for size in found.pop("hosts").split(",")]
    if not HYDRA or not OPEN_MPI:
        raise SystemExit(f"bench {name}: needs mpich and openmpi-bin (./dev bench installs them)")
    if os.getuid() != 0:
        raise SystemExit(f"bench {name}: hosts in namespaces need root")
    os.environ.pop("DISPLAY", None)  # Open MPI would look for it
    return sizes, found


def run_launch(*words):
    sizes, options = arguments("cluster-launch", words, "16,64", runs=7)
    results = {hosts: beside_hosts("launch", hosts, options) for hosts in sizes}
    names = ("ssh tree", "poe", "hydra", "mpirun")
    table("launch and finish of /bin/true on each of N hosts by ssh, ms", ["N", *names, "poe/best", "target"],
          [[hosts, *(text(result[name]["median"], 1e3, 0) + (f" ({result[name]['failed']} failed)" * bool(result[name]["failed"]))
                     for name in names), text(result["ratio"]), 0.9] for hosts, result in results.items()])
    save("cluster-launch", results)


def run_stdio(*words):
    sizes, options = arguments("cluster-stdio", words, "16", tasks=4, mbytes=64, runs=3)
    results = {hosts: beside_hosts("stdio", hosts, options) for hosts in sizes}
    names = ("poe", "hydra", "mpirun")
    table(f"{options['tasks']} tasks on each of N hosts, {options['mbytes']} MB of labelled 80-byte lines each, MB/s",
          ["N", *names, "poe/best", "target"],
          [[hosts, *(text(result[name]["median"], 1, 0) for name in names), text(result["ratio"]), ">= 2.0"]
           for hosts, result in results.items()])
    save("cluster-stdio", {"options": options, "rates": results})


if __name__ == "__main__":
    print(json.dumps(INSIDE[sys.argv[1]](int(sys.argv[2]), json.loads(sys.argv[3]))))
