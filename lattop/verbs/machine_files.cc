// SPDX-License-Identifier: GPL-2.0-or-later
//
// See machine_files.h.
#include "lattop/verbs/machine_files.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "lattop/model/proc_text.h"

namespace lattop {

std::string FolderFiles::text(const std::string& path) const {
    return read_proc_text(root_ + path).text;
}

bool FolderFiles::exists(const std::string& path) const {
    struct stat info {};
    return ::stat((root_ + path).c_str(), &info) == 0;
}

std::vector<std::string> FolderFiles::names(const std::string& folder) const {
    namespace fs = std::filesystem;
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(root_ + folder, error), end; !error && entry != end;
         entry.increment(error))
        names.push_back(entry->path().filename());
    return names;
}

}  // namespace lattop
