// SPDX-License-Identifier: GPL-2.0-or-later
//
// See sleep_registers.h.
#include "lattop/source/sleep_registers.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <memory>

#include "unwind/unique_fd.h"

namespace lattop {

RegisterReader module_registers(const std::string& path) {
    const auto fd = std::make_shared<UniqueFd>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return [fd](std::uint32_t tid) -> std::optional<lt_regs> {
        lt_regs registers{};
        registers.size = sizeof(registers);
        registers.pid = tid;
        if (!*fd || ::ioctl(fd->get(), LT_IOC_REGS, &registers) != 0) return std::nullopt;
        return registers;
    };
}

}  // namespace lattop
