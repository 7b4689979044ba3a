// SPDX-License-Identifier: GPL-2.0-or-later
//
// See sleep_registers.h.
#include "lattop/source/sleep_registers.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <memory>

#include "unwind/unique_fd.h"

namespace lattop {

RegisterReader module_registers(const std::string& path) {
    const auto fd = std::make_shared<UniqueFd>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return [fd, path](std::uint32_t tid) -> std::optional<lt_regs> {
        lt_regs registers{};
        registers.size = sizeof(registers);
        registers.pid = tid;
        const auto told = [&] { return *fd && ::ioctl(fd->get(), LT_IOC_REGS, &registers) == 0; };
        if (told()) return registers;
        // Nobody behind it, or nobody any more: the module may be loaded by now.
        if (*fd && errno != ENOTTY) return std::nullopt;
        *fd = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        if (told()) return registers;
        return std::nullopt;
    };
}

}  // namespace lattop
