// SPDX-License-Identifier: GPL-2.0-or-later
//
// Records of the module: a snapshot whose indices are in range, or an error.
#include <cstdint>

#include "lattop/source/decoder.h"
#include "lattop/source/error.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const auto bytes = std::as_bytes(std::span(data, size));
        const lattop::Snapshot snapshot = lattop::decode(bytes);
        for (const lattop::Task& task : snapshot.tasks) {
            for (const lattop::Entry& entry : snapshot.entries_of(task)) {
                for (const lattop::Waker& waker : snapshot.wakers_of(entry))
                    if (const lattop::Trace* from = snapshot.trace_at(waker.trace))
                        static_cast<void>(snapshot.kernel_frames(*from).size());
                const lattop::Trace* trace = snapshot.trace_of(entry);
                if (trace == nullptr) continue;
                std::uint64_t sum = 0;
                for (const std::uint64_t frame : snapshot.user_frames(*trace))
                    sum += frame;
                static_cast<void>(sum);
            }
        }
    } catch (const lattop::Error&) {
    }
    return 0;
}
