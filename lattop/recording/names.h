// SPDX-License-Identifier: GPL-2.0-or-later
//
// The names in a recording: users, cgroups, and the frames of user stacks, so that
// a recording shows them on a machine that has none of them. NameBook gathers what is
// new with each snapshot; RecordedNames keeps what a reader finds.
//
// A Names payload is a run of items, the first byte of each says what it is; a
// text is its length (u32) and its bytes:
//
//	'F' text symbol, u64 offset, text module, text path, text file, u32 line,
//	    u32 n, n times: text symbol, text file, u32 line       (inlined here)
//	        a frame. The first of a recording is frame 0, and so on
//	'S' u32 kind, u32 pid, u32 tgid, u64 start_ns, u32 exec_id, u64 trace_id,
//	    u32 own, u32 n, n times: u32 frame
//	        a user stack, innermost frame first; a later one of the same
//	        identity replaces it. own: index of the innermost frame in the
//	        program's own file, ffffffff for none
//	'U' u32 uid, text name                  (an empty name is none, here and below)
//	'C' text path, text name
//	        a cgroup that is called other than by its path
//
// A process "sh" of pid 7 asleep in wait4, root's:
//
//	46 05 00 00 00 'wait4' 1a 00 00 00 00 00 00 00 09 00 00 00 'libc.so.6' ...
//	53 00 00 00 00 07 00 00 00 07 00 00 00 ... 01 00 00 00 00 00 00 00
//	55 00 00 00 00 04 00 00 00 'root'
//	43 4f 00 00 00 '/docker/...' 0a 00 00 00 'docker:web'
//
// A recording may be anybody's, and a few bytes of a packed payload make many
// in memory: what is beyond the limits below is refused. The writer keeps to
// them: it leaves out the outermost frames of a stack, the end of a text, and
// names that have no room any more, of which it counts the stacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lattop/model/cgroup_names.h"
#include "lattop/model/user_stacks.h"
#include "lattop/model/users.h"
#include "lattop/recording/objects.h"
#include "unwind/byte_reader.h"

namespace lattop::recording {

/// lattop itself walks 1,024 frames.
inline constexpr std::size_t kMaxStackFrames = 1200;
inline constexpr std::size_t kMaxInlined = 256;  ///< in one frame
/// Frames of a stack and what is inlined in them.
inline constexpr std::size_t kMaxStackFunctions = 4096;
inline constexpr std::size_t kMaxText = std::size_t{1} << 14;  ///< bytes
inline constexpr std::size_t kMaxNamesPayload = std::size_t{64} << 20;
/// All payloads of a recording; in memory six to ten times as much.
inline constexpr std::size_t kMaxNames = std::size_t{256} << 20;

/// An identity, where a payload has one next.
StackId read_stack_id(ByteReader& reader);

/// Whom names are taken from.
struct NameSources {
    const UserStacks& stacks;
    Users& users;
    CgroupNames& cgroups;
};

/// What has been written so far, and what is new. Of stacks and cgroups it keeps
/// those of the last snapshot: on a machine that forks or starts containers, others
/// come without end, and one that comes back is written again. Of the others it keeps in
/// mind those whose names are still being looked for.
class NameBook {
public:
    /// `most`: bytes of all payloads.
    explicit NameBook(std::size_t most = kMaxNames) : most_(most) {}

    /// The payload for the names of `snapshot` that are new or have changed;
    /// empty where none are.
    std::vector<std::byte> news(const Snapshot& snapshot, NameSources names);

    /// The payload for names that were being looked for when their snapshots were written
    /// and are known since.
    std::vector<std::byte> late(NameSources names);

    /// How many it keeps.
    [[nodiscard]] std::size_t stacks() const { return stacks_.size(); }
    [[nodiscard]] std::size_t cgroups() const { return cgroups_.size(); }

    /// How many stacks were left without names: those of all had no room.
    [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

private:
    enum class Added { Yes, Later, Never };
    /// The version of each one's names that was written, if any: to hold them would keep what the
    /// caller has dropped since.
    using Stacks = std::unordered_map<StackId, std::optional<std::uint64_t>, HashStackId>;
    using Cgroups = std::unordered_map<std::string, std::string>;  // by path
    Added add_stack(const StackId& id, const UserStack& stack, std::string& payload);
    /// From those of the snapshots before to those `here`, and what of it is new
    /// to `payload`.
    void take_over(const StackId& id, const UserStacks& stacks, Stacks& here, std::string& payload);
    /// One whose name is not known yet is kept in mind.
    void take_user(std::uint32_t uid, Users& users, std::string& payload);
    void add_user(std::uint32_t uid, const std::string& name, std::string& payload);
    void take_late_users(Users& users, std::string& payload);
    /// Names of stacks that are known by now; those that nobody looks for any more are forgotten.
    void take_late_stacks(const UserStacks& stacks, std::string& payload);
    std::vector<std::byte> finish(const std::string& payload);
    /// Adds the one at `path` to those that are in the snapshot.
    void add_cgroup(const std::string& path, CgroupNames& names, Cgroups& here,
                    std::string& payload);
    [[nodiscard]] Added room_for(std::size_t bytes, const std::string& payload) const;

    std::unordered_map<std::string, std::uint32_t> frames_;  // by the bytes of its item
    Stacks stacks_;
    std::unordered_set<StackId, HashStackId> late_stacks_;
    std::unordered_map<std::uint32_t, std::string> users_;
    std::set<std::uint32_t> late_users_;
    Cgroups cgroups_;
    std::size_t written_ = 0;  // bytes of all payloads before
    std::size_t most_;
    std::uint64_t left_out_ = 0;
};

/// The names of a recording, and what its sleepers waited for: all seams that views take names
/// from.
class RecordedNames final : public UserStacks, public Users, public CgroupNames {
public:
    /// `most`: bytes of all payloads.
    explicit RecordedNames(std::size_t most = kMaxNames) : most_(most) {}

    /// Refuses a payload by its size, before it is unpacked. Throws RecordingError.
    void expect(std::size_t bytes) const;

    /// Takes a payload over. Throws RecordingError; what came before the fault
    /// stays.
    void add(std::span<const std::byte> payload);

    void want(const Snapshot& /*snapshot*/) override {}
    bool collect() override { return false; }
    void want_live(const Task& /*task*/) override {}
    [[nodiscard]] int ready_fd() const override { return -1; }
    [[nodiscard]] const UserStack* find(const StackId& id) const override;
    [[nodiscard]] const LiveNames* find_live(const Task& /*task*/) const override {
        return nullptr;
    }
    [[nodiscard]] const std::string* object(const Snapshot& snapshot,
                                            const Task& task) const override {
        return objects_.objects().find(snapshot, task);
    }
    [[nodiscard]] RecordedObjects& objects() { return objects_; }

    /// The number where the recording has no name.
    const std::string& name(std::uint32_t uid) override;
    /// As on this machine where the recording has no name.
    const std::string& name(const std::string& path) override;

private:
    [[nodiscard]] UserStack read_stack(ByteReader& reader) const;

    std::vector<UserFramePtr> frames_;
    std::unordered_map<StackId, UserStack, HashStackId> stacks_;
    std::unordered_map<std::uint32_t, std::string> users_;
    std::unordered_map<std::string, std::string> cgroups_;  // by path
    SystemCgroups here_;
    RecordedObjects objects_;
    std::size_t bytes_ = 0;  // of all payloads
    std::size_t most_;
};

}  // namespace lattop::recording
