# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel addresses in what was written: _addresses.py FILE... prints "FILE: ADDRESS is in WHAT" for each, and how many numbers it has looked at; 1 where
there is one. What is an address of this kernel is what root is told by /proc/kallsyms (its functions and data, and its modules') and by the headers of
/proc/kcore (the direct map, vmalloc, vmemmap)."""

import bisect
import functools
import re
import struct
import sys

USER_END = 1 << 63
MAGIC = b"LTOP"
HEX, DECIMAL = re.compile(rb"[0-9a-fA-F]{16}"), re.compile(rb"(?<![0-9.])[0-9]{19,20}(?![0-9.])")


def of_symbols():
    spans = {}
    with open("/proc/kallsyms", encoding="ascii") as f:
        for line in f:
            words = line.split()
            address, owner = int(words[0], 16), words[3] if len(words) > 3 else "the kernel"
            if address >= USER_END:
                low, high = spans.get(owner, (address, address))
                spans[owner] = (min(low, address), max(high, address))
    if "[lattop]" not in spans:
        sys.exit("FAIL /proc/kallsyms shows no address of the module: there is nothing to compare with")
    return [(low, high + 1, owner) for owner, (low, high) in spans.items()]


def of_core():
    """ELF64: what /proc/kcore would show of the kernel's memory."""
    with open("/proc/kcore", "rb") as f:
        head = f.read(64)
        at, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
        f.seek(at)
        headers = f.read(size * count)
    loads = [struct.unpack_from("<IIQQQQ", headers, i * size) for i in range(count)]
    return [(address, address + length, "memory") for kind, _, _, address, _, length in loads if kind == 1]


class Kernel:
    def __init__(self):
        self.spans = sorted(of_symbols() + of_core())
        self.floor = self.spans[0][0]
        self.begins = [span[0] for span in self.spans]

    @functools.lru_cache(maxsize=None)
    def whose(self, number):
        """What of the kernel's lies there; spans may overlap, and the last that begins before it may not be the one that has it."""
        for low, high, owner in reversed(self.spans[: bisect.bisect_right(self.begins, number)]):
            if number < high:
                return owner
        return None


def numbers(data):
    """Of the record view each word of eight bytes; of text each number that it may have written out."""
    if data[:4] == MAGIC:
        for (word,) in struct.iter_unpack("<Q", data[: len(data) // 8 * 8]):
            yield word
        return
    for match in HEX.finditer(data):
        yield int(match[0], 16)
    for match in DECIMAL.finditer(data):
        yield int(match[0])


def main():
    kernel = Kernel()
    found = looked = 0
    for path in sys.argv[1:]:
        with open(path, "rb") as f:
            data = f.read()
        for number in numbers(data):
            looked += 1
            owner = kernel.whose(number) if number >= kernel.floor else None
            if owner:
                found += 1
                if found <= 10:
                    print(f"{path}: {number:#x} is in {owner}")
    print(f"{looked} numbers, {found} of them kernel addresses, of {len(kernel.spans)} ranges from {kernel.floor:#x}")
    return found > 0


if __name__ == "__main__":
    sys.exit(main())
