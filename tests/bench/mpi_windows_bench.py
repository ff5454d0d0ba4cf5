"""One-sided communication for mpi_bench: operations of task 0 on the window of task 1 and their completion, on all kinds of
windows, beside the peers in the same run."""

import comm_bench
from measuring import ratio, table, text
from results import row

SIZES = (8, 4096, 1 << 20)
# Operation -> what is measured, and sizes in bytes.
OPERATIONS = {"put": ("put and flush", SIZES), "get": ("get and flush", SIZES),
              "accumulate": ("accumulate and flush", SIZES), "fetch": ("fetch and op, flush", (8,)),
              "swap": ("compare and swap, flush", (8,)), "lock": ("lock and unlock", (8,)),
              "lockput": ("lock, put, unlock", (8,)), "puts": ("a put of 32 before one flush", (8,)),
              "fence": ("put and fence", (8,))}
WINDOWS = ("allocated", "created", "shared")
MEAN, WORST = 0.8, 1.2
PATIENCE = 20
# Puts while the target computes; they do not count in the mean.
BUSY = "busyput"


def windows(programs, compared, mean_row, how):
    """The rows and the results. `programs`, `compared` and `mean_row` are those of mpi_bench."""
    built, rows, results, means, all_shares = programs("mpi_window_bench.c"), [], {}, [], []
    for window in WINDOWS:
        shares = {}
        for operation, (title, sizes) in OPERATIONS.items():
            found = comm_bench.operation(built, f"{operation}-{window}", sizes, **how)
            results[f"{operation} {window}"] = found
            for state, of in sorted(found.items()):
                for size in sizes:
                    made, share = compared(f"{title}, {window} window, {size} B, {state}, µs", of, size, WORST)
                    rows.append(made)
                    shares.setdefault(state, []).append(share)
        for state, of in sorted(shares.items()):
            means.append(mean_row(f"one-sided, {window} windows, {state}", of, MEAN))
            all_shares += of
        show(window, results)
    found = comm_bench.operation(built, f"{BUSY}-created", (8,), **how)
    results[BUSY] = found
    for state, of in sorted(found.items()):
        rows.append(compared(f"put and flush, created window, 8 B, the target computes, {state}, µs", of, 8, WORST)[0])
    return [mean_row("one-sided, all windows", all_shares, MEAN), *means, *rows], results


def show(window, results):
    lines = []
    for operation, (title, sizes) in OPERATIONS.items():
        for state, of in sorted(results[f"{operation} {window}"].items()):
            lines += [[title, size, state, *(text(of[name][size], 1, 3) for name in of),
                       text(ratio(of["POE"][size], *(of[name][size] for name in of if name != "POE")))] for size in sizes]
    table(f"{window} windows, us", ["operation", "bytes", "cores", "POE", "MPICH", "Open MPI", "POE/best"], lines)
