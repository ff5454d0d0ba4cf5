"""Several hosts, of the test bed (tests/cluster/testbed): launching a task on each by ssh, and labelled
lines of many tasks, beside the peers on the same hosts in the same run; and launching under a Slurm on these
hosts. Needs root.

  ./dev bench cluster-launch [--hosts 16,64] [--runs 7]
  ./dev bench cluster-slurm [--hosts 16] [--runs 7]
  ./dev bench cluster-stdio [--hosts 16] [--tasks 4] [--mbytes 64] [--runs 3]
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from measuring import (BUILD, HYDRA, OPEN_MPI, POE, ROOT, compile_program, median, ratio, rounds, save, seconds, table,
                       text)
from results import row
from stdio_bench import rate

TESTBED = str(ROOT / "tests" / "cluster" / "testbed")
HERE = pathlib.Path(__file__).resolve().parent
FANOUT = 16  # the default of poe
# The key exchange without the post-quantum half, which costs most of a connection.
CHEAP_SSH = "-o KexAlgorithms=^curve25519-sha256"
TREE_TARGET = 1.03  # of the bare tree of ssh connections
SLURM_TARGET = 0.7  # of srun
STDIO_TARGET = ">= 2.0"  # of the faster peer
HUNG = 60  # seconds; mpirun does so now and then
# On several hosts, most runs of MPICH's hello do not end, under srun, hydra and poe alike: one task closes its
# connections in MPI_Finalize and waits for tasks that already wait in PMI. A srun that gets SIGTERM ends its tasks.
SOON = ["timeout", "--kill-after=5", "15"]
# On hosts that are namespaces of one computer, MPIs would try other connections, some of which never succeed.
PLAIN_NETWORK = ["env", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=eth0", "OMPI_MCA_pml=ob1", "OMPI_MCA_btl=tcp,self",
                 "OMPI_MCA_btl_tcp_if_include=eth0"]


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

    def ssh_tree(self, options=""):
        return self.on_first("env", f"SSH_OPTIONS={options}", "sh", str(HERE / "ssh_tree.sh"), str(FANOUT), *self.names[1:])


def launch_inside(hosts, options):
    commands = Commands(hosts, 1)
    cheap = ["env", f"MP_REMOTE_SHELL=ssh -xT -o BatchMode=yes {CHEAP_SSH}"]
    results = rounds({"ssh tree": lambda: seconds(commands.ssh_tree(), HUNG),
                      "poe": lambda: seconds(commands.poe("/bin/true"), HUNG),
                      "ssh tree, X25519": lambda: seconds(commands.ssh_tree(CHEAP_SSH), HUNG),
                      "poe, X25519": lambda: seconds([*cheap, *commands.poe("/bin/true")], HUNG),
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


def slurm_inside(hosts, options):
    """Starts the Slurm; what is measured is started on its first host, as a user would, once in an allocation of
    all hosts that is there already, and once with an allocation of its own."""
    sys.path.insert(0, str(ROOT / "tests" / "cluster"))
    import slurm
    if not slurm.installed():
        raise SystemExit("bench cluster-slurm: needs slurm-wlm and munge (./dev bench installs them)")
    slurm.begin()
    measure = [sys.executable, __file__, "srun", str(hosts), json.dumps(options)]
    allocate = ["salloc", "--quiet", f"--nodes={hosts}", "--ntasks-per-node=1"]
    return {where: json.loads(subprocess.run([TESTBED, "on", "0", *words, *measure], stdout=subprocess.PIPE, check=True).stdout)
            for where, words in (("given", allocate), ("own", []))}


def srun_inside(hosts, options):
    """The same job of one task a host: poe, and srun with what Debian's Slurm has for each MPI."""
    own = "SLURM_JOB_ID" not in os.environ
    share = [f"--nodes={hosts}", "--ntasks-per-node=1"]
    flags = ["-nodes", str(hosts), "-tasks_per_node", "1", *(["-resd", "yes"] if own else [])]

    def poe(*command):
        return lambda: seconds([*SOON, *PLAIN_NETWORK, POE, *command, *flags], HUNG)

    def srun(*command):
        return lambda: seconds([*SOON, *PLAIN_NETWORK, "srun", *share, *command], HUNG)
    mpl = compile_program("hello_mpl.c", "hello_mpl", str(BUILD / "bin" / "mpcc"))
    mpich = compile_program("hello_mpi.c", "hello_mpich", "mpicc.mpich")
    open_mpi = compile_program("hello_mpi.c", "hello_openmpi", "mpicc.openmpi")
    results = rounds({"srun": srun("/bin/true"), "poe": poe("/bin/true"), "poe MPL": poe(mpl),
                      "srun MPICH": srun("--mpi=pmi2", mpich), "srun Open MPI": srun("--mpi=pmix", open_mpi),
                      "poe MPICH": poe(mpich), "poe Open MPI": poe(open_mpi)}, options["runs"])
    results["ratio"] = ratio(results["poe MPL"]["median"], results["srun MPICH"]["median"], results["srun Open MPI"]["median"])
    return results


INSIDE = {"launch": launch_inside, "slurm": slurm_inside, "srun": srun_inside, "stdio": stdio_inside}


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


def milliseconds(result):
    return text(result["median"], 1e3, 0) + f" ({result['failed']} failed)" * bool(result["failed"])


def run_launch(*words):
    sizes, options = arguments("cluster-launch", words, "16,64", runs=7)
    results = {hosts: beside_hosts("launch", hosts, options) for hosts in sizes}
    names = ("ssh tree", "poe", "ssh tree, X25519", "poe, X25519", "hydra", "mpirun")
    table("launch and finish of /bin/true on each of N hosts by ssh, ms", ["N", *names, "poe/tree", "target", "poe/best"],
          [[hosts, *(milliseconds(result[name]) for name in names), text(ratio(result["poe"]["median"], result["ssh tree"]["median"]), 1, 3),
            TREE_TARGET, text(result["ratio"])] for hosts, result in results.items()])
    save("cluster-launch", results)
    return launch_rows(results)


def launch_rows(results):
    rows = []
    for hosts, found in results.items():
        ms = lambda name: median(found, name, 1e3)
        what = f"/bin/true on each of {hosts} hosts by ssh"
        launchers = {name: ms(name) for name in ("hydra", "mpirun")}
        rows += [row(f"{what}, ms", ms("poe"), launchers),
                 row(f"{what}, ms", ms("poe"), {"bare tree": ms("ssh tree")}, TREE_TARGET),
                 row(f"{what}, X25519 only, ms", ms("poe, X25519"), {"bare tree": ms("ssh tree, X25519")}),
                 row(f"{what}, X25519 only, ms", ms("poe, X25519"),
                     {f"{name} as it is": value for name, value in launchers.items()})]
    return rows


def run_slurm(*words):
    sizes, options = arguments("cluster-slurm", words, "16", runs=7)
    results = {hosts: beside_hosts("slurm", hosts, options) for hosts in sizes}
    names = ("srun", "poe", "poe MPL", "srun MPICH", "srun Open MPI", "poe MPICH", "poe Open MPI")
    for where, title in (("given", "in an allocation that is there"), ("own", "with an allocation of its own")):
        table(f"launch and finish on each of N hosts under Slurm, {title}, ms (srun, poe: /bin/true; others: one collective)",
              ["N", *names, "MPL/best", "target"],
              [[hosts, *(milliseconds(result[where][name]) for name in names), text(result[where]["ratio"]),
                SLURM_TARGET]
               for hosts, result in results.items()])
    save("cluster-slurm", results)
    return slurm_rows(results)


def slurm_rows(results):
    rows = []
    for hosts, by_allocation in results.items():
        for where, words in (("given", "in an allocation"), ("own", "with an allocation of its own")):
            ms = lambda name: median(by_allocation[where], name, 1e3)
            what = f"{hosts} hosts, {words}"
            rows += [row(f"{what}: /bin/true, ms", ms("poe"), {"srun": ms("srun")}),
                     row(f"{what}: MPL hello, ms", ms("poe MPL"),
                         {"srun, MPICH": ms("srun MPICH"), "srun, Open MPI": ms("srun Open MPI")}, SLURM_TARGET),
                     row(f"{what}: Open MPI hello, ms", ms("poe Open MPI"), {"srun": ms("srun Open MPI")}),
                     row(f"{what}: MPICH hello, ms", ms("poe MPICH"), {"srun": ms("srun MPICH")})]
    return rows


def run_stdio(*words):
    sizes, options = arguments("cluster-stdio", words, "16", tasks=4, mbytes=64, runs=3)
    results = {hosts: beside_hosts("stdio", hosts, options) for hosts in sizes}
    names = ("poe", "hydra", "mpirun")
    table(f"{options['tasks']} tasks on each of N hosts, {options['mbytes']} MB of labelled 80-byte lines each, MB/s",
          ["N", *names, "poe/best", "target"],
          [[hosts, *(text(result[name]["median"], 1, 0) for name in names), text(result["ratio"]),
            STDIO_TARGET] for hosts, result in results.items()])
    save("cluster-stdio", {"options": options, "rates": results})
    return stdio_rows(results, options)


def stdio_rows(results, options):
    tasks, mbytes = options["tasks"], options["mbytes"]
    return [row(f"{tasks} tasks on each of {hosts} hosts, {mbytes} MB of labelled lines each, MB/s",
                median(found, "poe"), {name: median(found, name) for name in ("hydra", "mpirun")}, STDIO_TARGET, True)
            for hosts, found in results.items()]


if __name__ == "__main__":
    print(json.dumps(INSIDE[sys.argv[1]](int(sys.argv[2]), json.loads(sys.argv[3]))))
