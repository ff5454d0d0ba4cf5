"""The tables of RESULTS.md: one section for each topic, one row for each figure, and in each row what POE takes,
what the best peer takes, their ratio, the target and whether it is met.

A row is a dict:

  key        type               meaning
  what       text               what was measured, with its unit
  ours       number, text       the figure of POE; None if there is none
  peer       number, text       the figure of the best peer; None or left out if there is none
  peer_name  text               the name of that peer; may be left out
  ratio      number, text       only if ours and peer were not kept; otherwise ours / peer is computed
  target     number             the largest value allowed
             ">= number"        the smallest value allowed
             other text, None   shown as it is, and not judged

A target limits the ratio. If a row has no ratio, its target limits the figure of POE.
If the figures are Measured, a target that the median misses and single launches reach is shown as missed by noise, with
the range of the ratio: from our smallest by the peer's largest figure to our largest by its smallest.
A figure that is text is shown as it is."""

import os
import pathlib
import tempfile

from measuring import Measured

RESULTS = pathlib.Path(__file__).resolve().parent / "RESULTS.md"
COLUMNS = ("what", "POE", "best peer", "ratio", "target", "met")
AT_LEAST = ">="


def row(what, ours, peers=None, target=None, largest=False):
    """A row of which the best of `peers` (name -> number or None) is the peer: the smallest, or the largest. If no peer has
    a number, the row has no target, because it is one for the ratio."""
    found = {name: value for name, value in (peers or {}).items() if value is not None}
    if not found:
        return {"what": what, "ours": ours, "peer": None, "target": None if peers else target}
    name = (max if largest else min)(found, key=found.get)
    return {"what": what, "ours": ours, "peer": found[name], "peer_name": name, "target": target}


def number(value):
    """The value as a number; None if it is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def figure(value):
    """Three digits that count; text as it is."""
    if value is None:
        return "-"
    if isinstance(value, (str, int)):
        return str(value)
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:.{digits}f}"


def limit(target):
    """Whether the target is the smallest value allowed, and that value as text; a text that is no limit: None."""
    text = str(target)
    at_least = text.startswith(AT_LEAST)
    text = text.removeprefix(AT_LEAST).strip()
    return (at_least, text) if number(text) is not None else None


def ratio_of(row):
    """The ratio as text, with one digit more than the target has and at least two; None if there is none."""
    if row.get("ratio") is not None:
        ratio = row["ratio"]
    else:
        ours, peer = number(row["ours"]), number(row.get("peer"))
        if ours is None or not peer:
            return None
        ratio = ours / peer
    if isinstance(ratio, str):
        return ratio
    found = limit(row.get("target"))
    return f"{ratio:.{max(2, len(found[1].partition('.')[2]) + 1 if found else 0)}f}"


def range_of(row):
    """The smallest and the largest value that single launches give for what the target limits; None if not known."""
    ours, peer = row["ours"], row.get("peer")
    if not isinstance(ours, Measured) or row.get("ratio") is not None:
        return None
    if peer is None:
        return ours.low, ours.high
    return (ours.low / peer.high, ours.high / peer.low) if isinstance(peer, Measured) and peer.low > 0 else None


def cells(row):
    """The row's cells by COLUMNS. Whether the target is met is decided by the ratio that is shown."""
    ratio = ratio_of(row)
    target, met = row.get("target"), "-"
    found = limit(target)
    value = number(ratio if ratio is not None else row["ours"])
    if found:
        at_least, bound = found
        target = f"{'≥' if at_least else '≤'} {bound}"
        if value is not None:
            reached = lambda number: number >= float(bound) if at_least else number <= float(bound)
            met = "yes" if reached(value) else "no"
            values = range_of(row)
            if met == "no" and values and any(map(reached, values)):
                met = f"noise: {figure(values[0])} to {figure(values[1])}"
    peer = figure(row.get("peer"))
    if row.get("peer_name") and peer != "-":
        peer += f" {row['peer_name']}"
    return [row["what"], figure(row["ours"]), peer, ratio or "-", "-" if target is None else str(target), met]


def section(topic, header_line, rows):
    """The text of a topic, from its heading to the last row of its table. A row without any figure is left out."""
    lines = [f"## {topic}", "", header_line, ""]
    known = [row for row in rows if any(row.get(of) is not None for of in ("ours", "peer", "ratio"))]
    for words in (COLUMNS, ("---",) * len(COLUMNS), *map(cells, known)):
        lines.append("| " + " | ".join(word.replace("|", "\\|") for word in words) + " |")
    return "\n".join(lines) + "\n"


def replaced(text, topic, new):
    """The text with the section of that topic replaced by `new`; at the end if there is no such section."""
    lines = text.splitlines(keepends=True)
    headings = [at for at, line in enumerate(lines) if line.startswith("## ")] + [len(lines)]
    for begin, end in zip(headings, headings[1:]):
        if lines[begin].strip() == f"## {topic}":
            after = "".join(lines[end:])
            return "".join(lines[:begin]) + new + ("\n" + after if after else "")
    return text.rstrip("\n") + "\n\n" * bool(text.strip()) + new


def header(machine, command):
    """The line above a table: date, machine and versions as measuring.machine() has them, and the command."""
    short = lambda version: version.split("-")[0].split("+")[0]
    peers = [f"{name} {short(machine[package])}" for package, name in
             (("mpich", "MPICH"), ("openmpi-bin", "Open MPI"), ("libpmix2", "libpmix"))
             if machine.get(package, "not installed") != "not installed"]
    system = [f"{machine['cores']} cores ({machine['cpu']})", *filter(None, [machine.get("system")]),
              "Linux " + ".".join(machine["kernel"].split(".")[:2])]
    return "; ".join([machine["date"], ", ".join(system), *filter(None, [", ".join(peers)]), f"`{command}`"])


def write_table(topic, header_line, rows, path):
    """Replaces the section of one topic in that file, which is replaced in one step. Throws OSError."""
    path = pathlib.Path(path)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    new = replaced(text, topic, section(topic, header_line, rows))
    file = tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False)
    try:
        with file:
            file.write(new)
            file.flush()
            os.fchmod(file.fileno(), path.stat().st_mode & 0o777 if path.exists() else 0o644)
            os.fsync(file.fileno())
        os.replace(file.name, path)
    except BaseException:
        os.unlink(file.name)
        raise
