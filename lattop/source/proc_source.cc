// SPDX-License-Identifier: GPL-2.0-or-later
//
// See proc_source.h.
#include "lattop/source/proc_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>

#include "lattop/source/decoder.h"
#include "lattop/source/error.h"
#include "lattop/source/read_snapshot.h"

namespace lattop {
namespace {

/// Far above LT_MAX_LIMIT tasks with a few traces each; a header that says
/// more is damaged.
constexpr std::uint64_t kMaxSnapshotBytes = std::uint64_t{8} << 30;

constexpr const char* kLoadHint =
    "load it: `make load` in lattop's source tree, or `modprobe lattop` where it is installed "
    "(both as root)";

[[noreturn]] void throw_open_error(const std::string& path, int error) {
    switch (error) {
        case EDQUOT: throw SnapshotQuotaError(path);
        case ENOENT:
            throw NoModuleError(
                fmt::format("lattop's kernel module is not loaded (there is no {})", path),
                kLoadHint);
        case EACCES:
        case EPERM:
            throw NotUsableError(fmt::format("{}: {}", path, std::strerror(error)),
                                 "this user may not read it: try as root, or ask who loaded the "
                                 "module for access");
        default:
            throw NotUsableError(fmt::format("cannot open {}: {}", path, std::strerror(error)),
                                 kLoadHint);
    }
}

[[noreturn]] void throw_query_error(const std::string& path, int error) {
    switch (error) {
        case EDQUOT: throw SnapshotQuotaError(path);
        case ENOMEM:
        case EAGAIN:
        case EINTR:
            throw PassingError(fmt::format("cannot ask {}: {}", path, std::strerror(error)));
        case ENOTTY:
            throw NotUsableError(
                fmt::format("{} is not lattop's: it does not know the query", path),
                "something else has that name; unload it and load lattop");
        case E2BIG:
        case EINVAL:  // this one asks nothing that its own module does not know
            throw NotUsableError(
                "the loaded module is older than this lattop and does not know "
                "all of its query",
                "install module and lattop of the same release, then: rmmod "
                "lattop; modprobe lattop");
        default: throw Error(fmt::format("{} refused the query: {}", path, std::strerror(error)));
    }
}

}  // namespace

ProcSource::ProcSource(std::string path) : path_(std::move(path)) {
    open();
}

void ProcSource::open() {
    selected_.reset();
    fd_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd_) throw_open_error(path_, errno);
    // Asked here so that what is wrong is said before the screen opens.
    try {
        select(Query{});
    } catch (const PassingError&) {  // there is a module: take() asks again
    } catch (const Error&) {
        fd_ = {};
        throw;
    }
    ++loads_;
}

/// Whether the module that the descriptor was opened on is no longer there: no
/// ioctl is known then. One that is there refuses a query without an address.
bool ProcSource::gone() const {
    return ::ioctl(fd_.get(), LT_IOC_QUERY, nullptr) != 0 && errno == ENOTTY;
}

void ProcSource::select(const Query& query) {
    if (selected_ == query) return;
    if (query.pids.size() > LT_MAX_PIDS)
        throw UsageError(fmt::format("{} pids given, {} at most are possible", query.pids.size(),
                                     static_cast<int>(LT_MAX_PIDS)));
    lt_query raw{};
    raw.size = sizeof(raw);
    raw.view = LT_VIEW_RECORDS;
    raw.sort = query.sort;
    raw.limit = query.limit;
    raw.traces = query.traces;
    raw.flags = query.flags;
    raw.uid = LT_UID_ANY;
    raw.n_pids = static_cast<__u32>(query.pids.size());
    raw.pids = reinterpret_cast<std::uintptr_t>(query.pids.data());
    raw.min_blocked_ns = query.min_blocked_ns;
    if (::ioctl(fd_.get(), LT_IOC_QUERY, &raw) != 0) throw_query_error(path_, errno);
    selected_ = query;
}

Snapshot ProcSource::read() {
    const auto bytes = read_snapshot(fd_.get(), kMaxSnapshotBytes, path_, buffer_);
    if (bytes.empty()) throw FormatError(path_ + " is empty");
    Snapshot snapshot = decode(bytes);
    snapshot.header.load = loads_;
    return snapshot;
}

Snapshot ProcSource::take(const Query& query, Moment /*each one is a fresh one*/) {
    try {
        if (!fd_) open();
        select(query);
        return read();
    } catch (const NoModuleError&) {  // still none
    } catch (const Error&) {
        if (!fd_ || !gone()) throw;
    }
    fd_ = {};
    throw NoModuleError("lattop's kernel module was unloaded", kLoadHint);
}

void ProcSource::reset() {
    const UniqueFd fd(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
    static constexpr std::string_view kReset = "reset\n";
    if (!fd || ::write(fd.get(), kReset.data(), kReset.size()) < 0) {
        const int error = errno;
        throw Error(fmt::format("cannot reset: {}", std::strerror(error)),
                    error == EPERM || error == EACCES ? "only an administrator may" : "");
    }
}

}  // namespace lattop
