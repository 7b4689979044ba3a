// SPDX-License-Identifier: GPL-2.0-or-later
//
// See failing_call.h. A filter of system calls ends with its thread.
#include "tests/unit/support/failing_call.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <system_error>
#include <thread>

namespace lattop::test {
namespace {

void fail_call(int call, int error) {
    std::array<sock_filter, 4> code = {{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<__u32>(call), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<__u32>(error)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }};
    const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
        throw std::system_error(errno, std::generic_category(), "a filter of system calls");
}

}  // namespace

void with_failing_call(int call, int error, const std::function<void()>& what) {
    std::exception_ptr thrown;
    std::thread([&] {
        try {
            fail_call(call, error);
            what();
        } catch (...) {
            thrown = std::current_exception();
        }
    }).join();
    if (thrown) std::rethrow_exception(thrown);
}

}  // namespace lattop::test
