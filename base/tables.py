"""Tables that describe the calls of a library, and the files that are made from them. Used by comm/api and mpi."""


class TableError(Exception):
    """A mistake in a row. Its text continues "the row X ..."."""


def read_rows(path):
    """The rows of a table as (number of the line, columns). Lines that begin with # are comments."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            yield number, line.split("\t")


def write(path, text):
    """Writes a file. If its contents do not change, it keeps its time, so nothing is built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)
