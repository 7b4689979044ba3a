// SPDX-License-Identifier: GPL-2.0-or-later
//
// Paths of cgroups, which users make below their own, and the JSON that container
// runtimes keep. A path that anybody could have made has no name of a runtime's.
//
//	cgroup: path | JSON of every runtime    (bytes.h: parts_of; a line's end belongs to no path)
#include <cstdint>
#include <string>

#include "lattop/model/cgroup_names.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/folder.h"

namespace {

constexpr const char* kId = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static lattop::fuzz::Folder root;
    static lattop::fuzz::Folder bare;
    static const std::string id = kId;
    const auto parts = lattop::fuzz::parts_of<2>(lattop::fuzz::text_of(data, size));
    for (const std::string& name :
         {"var/lib/docker/containers/" + id + "/config.v2.json",
          std::string("var/lib/containers/storage/overlay-containers/containers.json"),
          "run/containerd/io.containerd.runtime.v2.task/k8s.io/" + id + "/config.json",
          "run/containers/storage/overlay-containers/" + id + "/userdata/config.json"})
        root.write(name, parts[1]);
    const std::string path(parts[0].substr(0, parts[0].find('\n')));
    lattop::SystemCgroups names(root.path());
    lattop::SystemCgroups without(bare.path());
    const std::string name = names.name(path);
    REQUIRE(!name.empty() && (!path.empty() || name == "-"));
    REQUIRE(names.name(path) == name);
    for (const std::string_view untrusted : {"/user.slice", "/.."})
        REQUIRE(!path.starts_with(untrusted) || name == without.name(path));
    return 0;
}
