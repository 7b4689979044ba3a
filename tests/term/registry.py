# SPDX-License-Identifier: GPL-2.0-or-later
"""The tests that run.py runs, in the order in which they are defined."""

TESTS = []


def test(function):
    TESTS.append(function)
    return function
