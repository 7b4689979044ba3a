# SPDX-License-Identifier: GPL-2.0-or-later
"""What lattop writes without a terminal. Used by the tests of run.py."""
import os
import subprocess
import time

from terminal import Failure, TIMEOUT


def as_text(setup, record, *flags):
    """What batch mode prints of a recording: (standard output, standard error)."""
    command = [setup.lattop, "-i", record, "-b", *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    if done.returncode != 0:
        raise Failure(f"{done.returncode} {done.stderr!r}")
    return done.stdout, done.stderr


def must_hold(setup, record, *texts):
    """Its first snapshot, of which there is nothing to complain."""
    text, said = as_text(setup, record, "-n", "1")
    missing = [wanted for wanted in texts if wanted not in text]
    if said or missing:
        raise Failure(f"{said!r} without {missing}: {text}")


def grown(path, size):
    """The size of a file that is being written, as soon as it is larger than that."""
    end = time.monotonic() + TIMEOUT
    while not os.path.exists(path) or os.path.getsize(path) <= size:
        if time.monotonic() > end:
            raise Failure(f"{path} does not grow beyond {size} bytes")
        time.sleep(0.02)
    return os.path.getsize(path)
