// SPDX-License-Identifier: GPL-2.0-or-later
//
// See image_reader.h.
#include "lattop/image_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>

#include "lattop/capabilities.h"
#include "lattop/source/error.h"
#include "lattop/system_call_filter.h"
#include "unwind/image_process.h"
#include "unwind/image_server.h"
#include "unwind/remote_image.h"

namespace lattop {
namespace {

/// Of address space; nothing where it is not said.
std::optional<rlim_t> memory_limit(std::span<const char* const> arguments) {
    if (arguments.size() != 1) return std::nullopt;
    const std::string_view text = arguments.front();
    rlim_t bytes = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return RLIM_INFINITY;  // they take all addresses there are
#endif
    return bytes;
}

/// Who has nothing; the kernel's overflow uid.
constexpr uid_t kNobody = 65534;

bool is_socket(int fd) {
    int type = 0;
    socklen_t bytes = sizeof(type);
    return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_SEQPACKET;
}

void limit(__rlimit_resource resource, rlim_t most) {
    const rlimit both{.rlim_cur = most, .rlim_max = most};
    ::setrlimit(resource, &both);
}

/// Where memory runs out for all, this process is worth least.
void be_killed_first() {
    const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    static_cast<void>(::write(fd, "1000", 4) == 4);
    ::close(fd);
}

/// What lattop was started with, by a shell perhaps, is not for this process.
void close_all_but_the_socket() {
    static_assert(kImageSocket > STDERR_FILENO);
    ::syscall(SYS_close_range, kImageSocket + 1, ~0U, 0);
}

/// What cannot be given up (in a user namespace there may be nobody else to be) is kept: all the
/// rest holds.
void give_up_capabilities(CapabilitySet but) {
    try {
        keep_capabilities(but);
    } catch (const std::system_error&) {
    }
}

void give_up_all(rlim_t memory) {
    be_killed_first();
    close_all_but_the_socket();
    narrow_bounding_set(0);
    if (::geteuid() == 0) {
        give_up_capabilities(capability_bit(CAP_SETUID) | capability_bit(CAP_SETGID));
        static_cast<void>(::setgroups(0, nullptr) == 0);
        static_cast<void>(::setresgid(kNobody, kNobody, kNobody) == 0);
        static_cast<void>(::setresuid(kNobody, kNobody, kNobody) == 0);
    }
    give_up_capabilities(0);
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    ::prctl(PR_SET_NAME, "lattop-images", 0, 0, 0);
    // With the thread that started it; who hangs up first is seen on the socket.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_AS, memory);
    // Without one the rest holds: lattop doctor says so.
    static_cast<void>(filter_system_calls(FilterFor::ImageReader));
}

}  // namespace

void try_filter_of_image_readers() {
    const pid_t child = ::fork();
    if (child < 0) throw Error(fmt::format("cannot fork: {}", std::strerror(errno)));
    if (child == 0) {
        ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        ::_exit(filter_system_calls(FilterFor::ImageReader));
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) throw Error(::strsignal(WTERMSIG(status)));
    if (const int error = WEXITSTATUS(status); error != 0)
        throw Error(std::strerror(error),
                    "its user and its limits alone hold it back; a kernel with "
                    "CONFIG_SECCOMP_FILTER has such filters");
}

void use_image_readers() {
    set_reader_command({"/proc/self/exe", std::string(kImageReaderVerb)});
}

int run_image_reader(std::span<const char* const> arguments) {
    const auto memory = memory_limit(arguments);
    if (!is_socket(kImageSocket) || !memory)
        throw UsageError("lattop image-reader is started by lattop itself", "try lattop --help");
    give_up_all(*memory);
    serve_images(kImageSocket);
    ::_exit(0);
}

}  // namespace lattop
