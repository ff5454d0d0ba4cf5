"""Collective operations over hosts with slow cables: MPL under poe, MPICH and Open MPI in turns, on the test
bed (tests/cluster/testbed, as root). One task on each of 16 hosts at 100 Mbit/s, MPL with what mptune has
measured there, which takes three minutes, and with what is built in; then broadcasts of 8 bytes with delay, by the
binomial tree, by lambda trees, and by what the call takes when mptune has measured lambda there.

./dev bench collectives hosts [HOSTS]: with fewer hosts there is no target."""

import json
import os
import subprocess
import sys
import tempfile

from measuring import BUILD, HYDRA, OPEN_MPI, POE, ROOT, in_turns, output_of, ratio, save, table, text
from results import row

TESTBED = str(ROOT / "tests" / "cluster" / "testbed")
RATE, DELAY = "100mbit", "1ms"
HOSTS = 16
LAUNCHES = 5
SECONDS = 0.5  # of measuring, in one launch
PATIENCE = 30  # seconds for one launch
PATIENCE_TUNING = 600
MPTUNE = str(BUILD / "bin" / "mptune")
# wirefilter stands still after some megabytes in a row, so lambda is measured with short messages.
LONGEST = "256"
LAMBDA_TREES = ("lambda:8", "lambda:16", "lambda:32")
CELLS = (("bcast", 1 << 20, 0.45), ("concat", 1 << 16, 0.75), ("index", 1 << 16, 0.7), ("index", 1 << 18, 0.9),
         ("sync", 8, 1.0))
LAMBDA = 0.85  # of the binomial tree's time


def launch(command):
    """Milliseconds of one call; None when it failed or took too long. On the first host."""
    out = output_of([TESTBED, "on", "0", *command], PATIENCE)
    return float(out.split()[3]) / 1000 if out else None


def launches(commands):
    """name -> median milliseconds of one call, of launches in turns."""
    return in_turns(LAUNCHES, {name: lambda command=command: launch(command) for name, command in commands.items()})


def lambdas(told):
    """Of 8 bytes, by experiment 1 and 2, as mptune prints them."""
    row = next(words for line in told.splitlines() if (words := line.split())[:1] == ["8"])
    return float(row[3]), float(row[5])


def measure(what, programs):
    """Beside the hosts, in the test bed: prints what was measured, as JSON."""
    hosts = int(os.environ["TESTBED_HOSTS"])
    with tempfile.NamedTemporaryFile("w", suffix=".hosts") as file:
        file.writelines(f"node{k}\n" for k in range(hosts))
        file.flush()

        def mpl(*words):
            return [POE, programs["MPL"], *words, "-procs", str(hosts), "-hostfile", file.name]

        found = {}
        if what == "peers":
            tuning = file.name + ".tuning"
            subprocess.run([TESTBED, "on", "0", MPTUNE, "-o", tuning, "-procs", str(hosts), "-hostfile", file.name],
                           stdout=subprocess.DEVNULL, check=True, timeout=PATIENCE_TUNING)
            for operation, size, _ in CELLS:
                words = (operation, str(size), str(SECONDS))
                found[f"{operation} {size}"] = launches({
                    "MPL": ["env", f"MP_TUNEFILE={tuning}", *mpl(*words)],
                    "not tuned": mpl(*words),
                    "MPICH": ["env", "UCX_TLS=tcp,self", HYDRA, "-f", file.name, "-n", str(hosts), programs["MPICH"],
                              *words],
                    # Without the mapping, Open MPI starts as many tasks on each host as it has processors.
                    "Open MPI": [OPEN_MPI, "--hostfile", file.name, "-n", str(hosts), "--map-by", "ppr:1:node", "--mca", "pml", "ob1", "--mca",
                                 "btl", "tcp,self", "--mca", "mpi_yield_when_idle", "1", programs["Open MPI"], *words]})
            os.unlink(tuning)
        else:
            tuning = file.name + ".tuning"
            out = subprocess.run([TESTBED, "on", "0", MPTUNE, "-longest", LONGEST, "-o", tuning, "-procs", str(hosts),
                                  "-hostfile", file.name], stdout=subprocess.PIPE, text=True, check=True,
                                 timeout=PATIENCE_TUNING).stdout
            # A barrier before each call is part of the time. Without it a call could begin before the previous one has ended.
            words = mpl("bcast", "8", str(SECONDS))
            times = launches({"tuned": ["env", "MP_CCL_MODE=barrier", f"MP_TUNEFILE={tuning}", *words],
                              **{tree: ["env", "MP_CCL_MODE=barrier", f"MP_COLL_BCAST={tree}", *words]
                                 for tree in ("binomial", *LAMBDA_TREES)}})
            os.unlink(tuning)
            found = {"times": times, "lambdas": lambdas(out)}
        print(json.dumps(found))


def inside(options, hosts, what, programs):
    command = [TESTBED, *options, str(hosts), "--", sys.executable, __file__, what, json.dumps(programs)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def run(programs, hosts=HOSTS):
    peers = inside(["--rate", RATE], hosts, "peers", programs)
    if peers is None:
        raise SystemExit("bench collectives hosts: the test bed does not start; it needs root, iproute2 and openssh-server")
    rows, missed = [], []
    for operation, size, limit in CELLS:
        times = peers[f"{operation} {size}"]
        share = ratio(times["MPL"], times["MPICH"], times["Open MPI"])
        asked = hosts == HOSTS and share is not None
        if asked and share > limit:
            missed.append(f"{operation} {size}")
        rows.append([operation, size, *(text(value, 1, 2) for value in times.values()), text(share), limit,
                     "" if not asked else "met" if share <= limit else "MISSED"])
    table(f"{hosts} hosts at {RATE}/s, ms", ["", "bytes", *times, "MPL/best", "target", ""], rows)
    trees = inside(["--delay", DELAY], hosts, "trees", programs)
    if trees is None:
        print("  trees with delay: not measured, the test bed cannot delay here")
    else:
        times = trees["times"]
        share = ratio(min(filter(None, (times[tree] for tree in LAMBDA_TREES)), default=None), times["binomial"])
        first, second = trees["lambdas"]
        table(f"{hosts} hosts, delay {DELAY} (lambda {first:.1f} and {second:.1f}), barrier and bcast of 8 bytes, ms",
              [*times, "lambda/binomial", "target", ""],
              [[*(text(value, 1, 2) for value in times.values()), text(share), LAMBDA,
                "" if share is None else "met" if share <= LAMBDA else "MISSED"]])
    for name in missed:
        print(f"  missed: {name}")
    save("collectives-hosts", {"peers": peers, "trees": trees, "missed": missed})
    return rows_of(peers, trees, hosts)


def rows_of(peers, trees, hosts):
    rows = []
    for operation, size, limit in CELLS:
        times = peers[f"{operation} {size}"]
        mpis = {name: times[name] for name in ("MPICH", "Open MPI")}
        what = f"{operation}, {size} B, {hosts} hosts at {RATE}/s"
        rows += [row(f"{what}, ms", times["MPL"], mpis, limit), row(f"{what}, not tuned, ms", times["not tuned"], mpis)]
    if trees:
        times = trees["times"]
        what = f"barrier and bcast of 8 B, delay {DELAY}"
        best = min((times[tree] for tree in LAMBDA_TREES if times[tree] is not None), default=None)
        rows += [row(f"{what}, best lambda tree, ms", best, {"binomial": times["binomial"]}, LAMBDA),
                 row(f"{what}, tuned, ms", times["tuned"], {"binomial": times["binomial"]})]
    return rows


if __name__ == "__main__":
    measure(sys.argv[1], json.loads(sys.argv[2]))
