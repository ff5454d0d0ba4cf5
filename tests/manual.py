#!/usr/bin/env python3
"""That section 3 of the manual has what the library has: every error number, every function, every name under which
somebody may look for it. Arguments: the source tree, the build tree."""

import pathlib
import re
import sys

source, build = map(pathlib.Path, sys.argv[1:3])
aliases = build / "man/aliases"
faults = []

numbers = set(re.findall(r"^\s+k\w+ = (\d+),(?: +// .*)?$", (source / "comm/bootstrap/error_numbers.hpp").read_text(), re.M))
numbers |= set(re.findall(r"0032-(\d+)", (source / "comm/bootstrap/autostart.cpp").read_text()))
errors = re.search(r"^\.SH ERRORS$(.*?)^\.SH", (source / "man/mpl.3").read_text(), re.M | re.S).group(1)
documented = re.findall(r"^\.TP\n\.B (\d+)$", errors, re.M)
if len(numbers) < 10 or sorted(documented) != sorted(numbers):
    faults.append(f"mpl.3 has the errors {documented}, the library {sorted(numbers)}")

header = (build / "generated/mpl/comm/api/mpproto.h").read_text() + (source / "markerarray/client/mp_marker.h").read_text()
functions = set(re.findall(r"^(?:int|void) mpc_(\w+)\(", header, re.M))
by_reference = set(re.findall(r"^(?:int|void) mp_(\w+)\(", header, re.M))
if len(functions) < 20 or functions != by_reference:
    faults.append(f"not in both forms: {sorted(functions ^ by_reference)}")

pages = {page.stem: page.read_text() for page in (source / "man").glob("*.3")}
module = (build / "generated/mpl/mpl.f90").read_text()
for function in sorted(functions):
    homes = [name for name, text in pages.items()
             if re.search(rf"\bmpc_{function}\b", re.search(r"^\.SH NAME$(.*?)^\.SH", text, re.M | re.S).group(1))]
    if len(homes) != 1:
        faults.append(f"mpc_{function} is named by the pages {homes}, not by one")
        continue
    if not re.search(rf"mpc_{function}\(", pages[homes[0]]) or f"MP_{function.upper()}(" not in pages[homes[0]]:
        faults.append(f"{homes[0]}.3 has no synopsis of {function} in C and Fortran")
    if not re.search(rf"^\s+subroutine mp_{function}\(", module, re.M):
        faults.append(f"the module mpl has no mp_{function}")
    for name in (f"mpc_{function}", f"mp_{function}", f"MP_{function.upper()}"):
        alias = aliases / f"{name}.3"
        if name != homes[0] and (not alias.exists() or alias.read_text() != f".so man3/{homes[0]}.3\n"):
            faults.append(f"{alias} does not lead to {homes[0]}.3")

print("\n".join(faults) or f"{len(functions)} functions, {len(numbers)} errors")
sys.exit(bool(faults))
