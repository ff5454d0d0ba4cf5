"""A launch on up to 100,000 nodes in model time: poe's own tree and messages, model delays (launch_model.hpp)."""

import subprocess

from measuring import BUILD


def run(*sizes):
    subprocess.run([BUILD / "bin" / "launch_model", *sizes], check=True)
