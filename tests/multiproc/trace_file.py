"""Reads traces for tests, in the simplest way that FORMAT.md allows: all of a file in memory."""

import collections
import json
import pathlib
import struct

HEADER = 4096
KINDS = ("none enter leave send receive collective bytes text define marker progress counter system clock tracing lost doing "
         "ended send_ended context sample sampling call carried_out whole_call block").split()
CALL_LINE = 6  # what a define record defines for records of kind call
# In `detail` of a collective record: the part in the operation, and the data flow from bit 2 on.
STARTS, ENDS, PHASE_BITS = 1, 2, 3
BARRIER, ALL_TO_ALL, ONE_TO_ALL, ALL_TO_ONE, PREFIX = 1, 2, 3, 4, 5

Record = collections.namedtuple("Record", "time kind detail extra a b text")
Stream = collections.namedtuple("Stream", "kind task node node_name tasks level wraps capacity length origin process records")


class Trace:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        assert len(data) % HEADER == 0, len(data)
        self.job, self.nodes, self.tasks, self.samples = None, {}, {}, {}
        at = 0
        while at < len(data):
            (magic, version, order, header, size, kind, task, node, tasks, level, wraps, capacity, length, origin, _wall,
             process) = struct.unpack_from("<8s5IiiiiIQQQQq", data, at)
            assert (magic, version, order, header, size) == (b"POETRACE", 9, 0x01020304, HEADER, 24), at
            name = data[at + 152:at + 216].split(b"\0")[0].decode()
            body = data[at + HEADER:at + HEADER + length]
            assert length > 0 and len(body) == length
            if kind == 1:
                self.job = json.loads(body)
            else:
                stream = Stream(kind, task, node, name, tasks, level, wraps, capacity, length, origin, process, records_of(body))
                {2: self.nodes, 3: self.tasks, 4: self.samples}[kind][task if kind == 3 else node] = stream
            at += HEADER + (length + HEADER - 1) // HEADER * HEADER

    def of(self, task, kind):
        return [record for record in self.tasks[task].records if record.kind == kind]

    def names(self, task, what):
        """id -> text of the stream's definitions of that kind (1 region, 2 counter, 3 site)."""
        return {record.a: record.text for record in self.of(task, "define") if record.detail == what}


def records_so_far(folder, stream):
    """The records of a stream ("node-0", "task-3") of a job that is being traced, whose parts are the only ones in the folder."""
    paths = pathlib.Path(folder).glob(f"*.parts/{stream}.stream")
    return [record for path in paths for record in records_of(path.read_bytes()[HEADER:])]


def records_of(body):
    records, lines = [], {}
    for at in range(0, len(body) - 23, 24):
        stamp, kind, detail, extra, a, b = struct.unpack_from("<QBBHIQ", body, at)
        if stamp >> 48 == 0:
            continue
        if KINDS[kind] == "text":
            owner = records[-1]
            records[-1] = owner._replace(text=owner.text + body[at + 10:at + 10 + detail].decode())
        elif KINDS[kind] == "define" and detail == CALL_LINE:
            root, rest = struct.unpack_from("<IQ", body, at + 24 + 12)
            lines[at // 24] = (a, b, root, rest >> 32, rest & 0xffffffff)
        elif KINDS[kind] == "call":
            records += parts_of(stamp & ((1 << 48) - 1), detail, extra, b >> 32, b & 0xffffffff, lines[a])
        elif KINDS[kind] == "whole_call":
            records += parts_of_whole(stamp & ((1 << 48) - 1), detail, extra, b, lines[a])
        else:
            records.append(Record(stamp & ((1 << 48) - 1), KINDS[kind], detail, extra, a, b, ""))
    return records


def parts_of_whole(time, detail, extra, packed, line):
    """The records that a record of kind whole_call stands for."""
    if detail & 1:
        request, duration, length = packed >> 42, packed >> 22 & 0xfffff, packed & 0x3fffff
    else:
        request, duration, length = 0, packed >> 32, packed & 0xffffffff
    part = detail >> 2
    at_beginning = part in (1, 4, 5)
    yield from parts_of(time, (part if at_beginning else 0) << 2 | 1, extra, request, length, line)
    yield from parts_of(time + duration, (0 if at_beginning else part) << 2 | 2, extra, request, length, line)


def parts_of(time, detail, extra, request, length, line):
    """The records that a record of kind call stands for."""
    region, end_of_message, root, site, context = line
    peer, tag = end_of_message >> 32, end_of_message & 0xffffffff

    def about(number):
        return Record(time, "context", 0, 0, number, context, "")

    part = detail >> 2 & 7
    if detail & 1:
        yield Record(time, "enter", 0, site, region, end_of_message, "")
        yield about(0)
    if part in (1, 2, 3):
        yield Record(time, ("send", "receive", "send_ended")[part - 1], 2, extra, peer, tag << 32 | (length if part < 3 else 0), "")
        yield about(request)
    elif part in (4, 5, 6):
        yield Record(time, "collective", detail >> 5 << 2 | part - 4, extra, root, (0x40000000 | context) << 32 | length, "")
    if detail & 2:
        yield Record(time, "leave", 0, 0, region, length, "")
