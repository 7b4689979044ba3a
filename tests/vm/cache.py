# SPDX-License-Identifier: GPL-2.0-or-later
"""Where what was fetched, and what passed, is kept. Imported by run and suite; lib.sh says the same to scripts."""

import os


def cache_folder(*names):
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ["HOME"], ".cache")
    return os.path.join(cache, "lattop", *names)
