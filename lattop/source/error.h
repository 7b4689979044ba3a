// SPDX-License-Identifier: GPL-2.0-or-later
//
// The errors that reach the user. Sources, decoder and commands throw them;
// main prints them and turns them into an exit status.
#pragma once

#include <stdexcept>
#include <string>

namespace lattop {

/// What the program exits with; documented in lattop(8).
enum class ExitCode {
    Ok = 0,
    Failed = 1,
    Usage = 2,
    NotUsable = 3,
};

/// Something failed: what and why in what(), what to try in hint().
class Error : public std::runtime_error {
public:
    explicit Error(const std::string& what, std::string hint = {}, ExitCode code = ExitCode::Failed)
        : std::runtime_error(what), hint_(std::move(hint)), code_(code) {}

    [[nodiscard]] const std::string& hint() const { return hint_; }
    [[nodiscard]] ExitCode code() const { return code_; }

private:
    std::string hint_;
    ExitCode code_;
};

/// The command line asks for something that makes no sense.
class UsageError : public Error {
public:
    explicit UsageError(const std::string& what, const std::string& hint = "see lattop --help")
        : Error(what, hint, ExitCode::Usage) {}
};

/// EDQUOT of /proc/lattop: who opened it holds all that he may.
class SnapshotQuotaError : public Error {
public:
    explicit SnapshotQuotaError(const std::string& path)
        : Error("all that this user's open descriptors of " + path + " may hold is used up",
                "end other readers of the same user, or load the module with a larger "
                "max_snapshot_mib") {}
};

/// A read that failed for a cause that passes, out of memory for one: the next
/// refresh may do better (passing_errors.h counts them).
class PassingError : public Error {
public:
    using Error::Error;
};

/// There is no module to talk to, or it does not let this user, or it speaks
/// another version.
class NotUsableError : public Error {
public:
    NotUsableError(const std::string& what, const std::string& hint)
        : Error(what, hint, ExitCode::NotUsable) {}
};

/// None is loaded, or the one that was has been unloaded. Whoever can wait may
/// ask again: it may be loaded.
class NoModuleError : public NotUsableError {
public:
    using NotUsableError::NotUsableError;
};

/// A file that is not a recording, or a part of one that is not what its
/// checksums say.
class RecordingError : public Error {
public:
    explicit RecordingError(const std::string& what)
        : Error(what, "lattop record -o FILE makes recordings") {}
};

/// Bytes that are not a snapshot. what() says where and what was expected.
class FormatError : public Error {
public:
    explicit FormatError(const std::string& what)
        : Error("the snapshot is damaged: " + what,
                "this is a fault of lattop's module or of the recording: please report it") {}
};

}  // namespace lattop
