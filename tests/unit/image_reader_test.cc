// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a `lattop image-reader` may do, by what the kernel says of one that has answered.
#include "lattop/image_reader.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include "lattop/source/error.h"
#include "tests/unit/support/catch.h"
#include "tests/unit/support/child.h"
#include "unwind/image_process.h"
#include "unwind/remote_image.h"

namespace lattop::test {
namespace {

const std::string kReadProgram = std::string(LATTOP_TEST_PROGRAMS) + "/symbols_pie";

/// One that holds a program open.
class RunningReader {
public:
    RunningReader() {
        REQUIRE(process_.start());
        const UniqueFd program(::open(kReadProgram.c_str(), O_RDONLY | O_CLOEXEC));
        REQUIRE(process_.ask({.op = ImageOp::Open, .image = 1, .flag = true}, program.get()));
        folder_ = "/proc/" + std::to_string(process_.pid());
        status_ = content_of(folder_ + "/status");
    }

    /// What /proc/PID/status says there, words one space apart.
    [[nodiscard]] std::string status(const std::string& name) const {
        const std::size_t place = status_.find("\n" + name + ":");
        if (place == std::string::npos) return "none";
        const std::size_t begin = place + name.size() + 2;
        std::istringstream line(status_.substr(begin, status_.find('\n', begin) - begin));
        std::string words;
        for (std::string word; line >> word;)
            words += (words.empty() ? "" : " ") + word;
        return words;
    }

    [[nodiscard]] std::string file(const std::string& name) const {
        return content_of(folder_ + "/" + name);
    }

    /// What its descriptors are, but for the socket's number.
    [[nodiscard]] std::multiset<std::string> descriptors() const {
        std::multiset<std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/fd")) {
            const std::string path = std::filesystem::read_symlink(entry.path()).string();
            found.insert(path.substr(0, path.find(":[")));
        }
        return found;
    }

private:
    ImageProcess process_{{LATTOP_TEST_LATTOP, std::string(kImageReaderVerb)}};
    std::string folder_, status_;
};

/// From now on this process can have no filter of system calls but this one.
bool refuse_filters() {
    auto program = std::to_array<sock_filter>({
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    });
    const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

/// Whether image readers go on without a filter, as a process of its own finds; 2 where it cannot
/// look.
int readers_without_filter(bool refused) {
    const pid_t child = ::fork();
    if (child == 0) {
        if (refused && !refuse_filters()) ::_exit(2);
        try {
            try_filter_of_image_readers();
        } catch (const Error& error) {
            ::_exit(*error.what() != '\0' && !error.hint().empty() ? 1 : 2);
        }
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("an image reader has no capability, can get none, and has a filter of system calls") {
    const RunningReader reader;
    const std::string none(16, '0');
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"})
        CHECK(reader.status(set) == none);
    CHECK(reader.status("NoNewPrivs") == "1");
    CHECK(reader.status("Seccomp") == "2");
    CHECK(reader.file("oom_score_adj") == "1000\n");
}

TEST_CASE("an image reader of root's is nobody, and holds what it was given alone") {
    if (::geteuid() != 0) {
        WARN("not shown: only root's reader becomes another user");
        return;
    }
    // As a shell leaves one to its commands.
    const UniqueFd inherited(::fcntl(STDIN_FILENO, F_DUPFD, 100));
    REQUIRE(inherited);
    const RunningReader reader;
    CHECK(reader.status("CapBnd") == std::string(16, '0'));
    CHECK(reader.status("Uid") == "65534 65534 65534 65534");
    CHECK(reader.status("Gid") == "65534 65534 65534 65534");
    CHECK(reader.status("Groups").empty());
    const std::multiset<std::string> expected = {"/dev/null", "/dev/null", "/dev/null", "socket",
                                                 std::filesystem::canonical(kReadProgram).string()};
    CHECK(reader.descriptors() == expected);
}

TEST_CASE("whether image readers have a filter of system calls is tried, not guessed") {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these end by other calls
    CHECK(readers_without_filter(false) == 0);
#endif
    CHECK(readers_without_filter(true) == 1);
}

}  // namespace lattop::test
