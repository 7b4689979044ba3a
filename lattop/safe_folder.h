// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where a file is written to, so that nobody but who runs lattop and root has a say
// in it: root may be told to write below /tmp, or with another user's HOME (sudo -E).
// Used by everything that writes files: recordings, exports, the user's configuration, the
// files that debuginfod servers send.
#pragma once

#include <string>

#include "unwind/unique_fd.h"

namespace lattop {

/// A folder, open (O_PATH), and a name in it, which has no slash. What has that name
/// was not looked at: who makes or opens it refuses links himself (O_NOFOLLOW).
struct FilePlace {
    UniqueFd folder;
    std::string name;
};

enum class MissingFolders { Refuse, Make };

/// Goes to the folder of `path` name by name, and refuses each symbolic link on the way
/// that another user can have made: one that is neither root's nor the effective user's,
/// unless it lies in a folder that is, and that neither a group nor others may write to.
/// That is fs.protected_symlinks (proc(5)) for all of a path, and for folders without
/// the sticky bit too. Links that processes have in /proc (cwd, root, fd/N) are owned by
/// the process's user. What was judged is what is gone through, whatever is renamed
/// meanwhile. Throws Error.
FilePlace find_place(const std::string& path, MissingFolders missing = MissingFolders::Refuse);

/// The folder `path`, made where it is missing, as the absolute path without links that leads
/// there, for who walks and writes there himself, and follows links: refused unless root and the
/// effective user own it and all folders above it, and nobody else may write to it, nor put
/// something else in the place of one of those (a sticky one keeps its own). The group may where
/// it is the effective user's and that is not root: such is the umask of many. Throws Error, which
/// names the folder that is not as it should be.
std::string own_folder(const std::string& path);

}  // namespace lattop
