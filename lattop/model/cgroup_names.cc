// SPDX-License-Identifier: GPL-2.0-or-later
//
// See cgroup_names.h. Runtimes name cgroups by the container's id, 64 digits:
// "docker-ID.scope" under systemd, "/docker/ID" without it, and so on. Of
// containers in containers only the outermost is looked up: the others are of its
// own making.
#include "lattop/model/cgroup_names.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "unwind/unique_fd.h"

namespace lattop {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::size_t kIdDigits = 64;
constexpr std::size_t kShownDigits = 12;  // as docker ps shows an id
/// Names are kept of so many bytes, each taking some; beyond that those used longest ago are looked
/// up anew.
constexpr std::size_t kMaxCgroupBytes = std::size_t{16} << 20;
constexpr std::size_t kLeastCgroupBytes = 256;

struct Container {
    std::string runtime;
    std::string id;
    std::string name;  ///< where the cgroup itself has it
};

bool is_id(std::string_view text) {
    return text.size() == kIdDigits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// Takes `prefix` and `suffix` off `text`; nothing where it has not both.
std::optional<std::string_view> between(std::string_view text, std::string_view prefix,
                                        std::string_view suffix) {
    if (text.size() < prefix.size() + suffix.size() || !text.starts_with(prefix) ||
        !text.ends_with(suffix))
        return std::nullopt;
    text.remove_prefix(prefix.size());
    text.remove_suffix(suffix.size());
    return text;
}

/// systemd.unit(5): "\x2d" stands for "-".
std::string unescaped(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned value = 0;
        const std::string_view escape = text.substr(i, 4);
        if (escape.size() == 4 && escape.starts_with("\\x") &&
            escape.find_first_not_of("0123456789abcdef", 2) == escape.npos) {
            value = static_cast<unsigned>(std::stoul(std::string(escape.substr(2)), nullptr, 16));
            result += static_cast<char>(value);
            i += 3;
        } else {
            result += text[i];
        }
    }
    return result;
}

/// The container that one component of a path is; `above` is the path before it.
std::optional<Container> container_of(std::string_view component, std::string_view above) {
    struct Prefix {
        std::string_view text, runtime;
    };
    static constexpr auto kPrefixes = std::to_array<Prefix>({{"docker-", "docker"},
                                                             {"libpod-", "podman"},
                                                             {"cri-containerd-", "containerd"},
                                                             {"nerdctl-", "containerd"},
                                                             {"crio-", "crio"}});
    for (const Prefix& prefix : kPrefixes)
        for (const std::string_view suffix : {".scope", ""})
            if (const auto id = between(component, prefix.text, suffix); id && is_id(*id))
                return Container{std::string(prefix.runtime), std::string(*id), ""};
    if (is_id(component))
        return Container{above.ends_with("/docker") ? "docker" : "container",
                         std::string(component), ""};
    if (const auto name = between(component, "lxc.payload.", ""))
        return Container{"lxc", "", std::string(*name)};
    if (const auto name = between(component, "machine-", ".scope"))
        return Container{"machine", "", unescaped(*name)};
    return std::nullopt;
}

/// A regular file of JSON, of 16 MiB at most; null where there is none to be read.
json read_json(const fs::path& path) {
    constexpr off_t kMostBytes = off_t{16} << 20;
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size > kMostBytes)
        return {};
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    const ssize_t n = ::pread(fd.get(), text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    return json::parse(text, nullptr, false);
}

std::string string_in(const json& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    return object.is_object() && found != object.end() && found->is_string()
               ? found->get<std::string>()
               : "";
}

/// "namespace/pod/container" of Kubernetes, by the annotations with these names.
std::string pod_name(const json& config, const char* space, const char* pod,
                     const char* container) {
    if (!config.is_object() || !config.contains("annotations")) return "";
    const json& annotations = config["annotations"];
    const std::string name = string_in(annotations, container);
    const std::string of = string_in(annotations, space) + "/" + string_in(annotations, pod);
    return name.empty() ? "" : of + "/" + name;
}

std::string docker_name(const fs::path& root, const std::string& id) {
    std::string name =
        string_in(read_json(root / "var/lib/docker/containers" / id / "config.v2.json"), "Name");
    if (name.starts_with('/')) name.erase(0, 1);
    return name;
}

std::string podman_name(const fs::path& root, const std::string& id) {
    const json all =
        read_json(root / "var/lib/containers/storage/overlay-containers/containers.json");
    if (!all.is_array()) return "";
    for (const json& one : all)
        if (string_in(one, "id") == id && one.contains("names") && one["names"].is_array() &&
            !one["names"].empty() && one["names"][0].is_string())
            return one["names"][0];
    return "";
}

std::string containerd_name(const fs::path& root, const std::string& id) {
    return pod_name(read_json(root / "run/containerd/io.containerd.runtime.v2.task/k8s.io" / id /
                              "config.json"),
                    "io.kubernetes.cri.sandbox-namespace", "io.kubernetes.cri.sandbox-name",
                    "io.kubernetes.cri.container-name");
}

std::string crio_name(const fs::path& root, const std::string& id) {
    return pod_name(
        read_json(root / "run/containers/storage/overlay-containers" / id / "userdata/config.json"),
        "io.kubernetes.pod.namespace", "io.kubernetes.pod.name", "io.kubernetes.container.name");
}

/// What its runtime calls it, else the start of its id. `trusted`: only its runtime
/// can have made a cgroup of that name there.
std::string container_name(const fs::path& root, const Container& container, bool trusted) {
    std::string name = container.name;
    if (trusted && container.runtime == "docker") name = docker_name(root, container.id);
    if (trusted && container.runtime == "podman") name = podman_name(root, container.id);
    if (trusted && container.runtime == "crio") name = crio_name(root, container.id);
    if (trusted && (container.runtime == "containerd" || container.runtime == "container"))
        name = containerd_name(root, container.id);
    return container.runtime + ":" + (name.empty() ? container.id.substr(0, kShownDigits) : name);
}

/// Users below their slice, services and containers below themselves make what
/// cgroups they like; and in another's namespace nobody knows what is above.
bool others_may_make(std::string_view above) {
    return above.starts_with("/user.slice") || above.starts_with("/..") ||
           above.find(".service/") != above.npos || above.ends_with(".service") ||
           above.find(".scope/") != above.npos || above.ends_with(".scope");
}

/// A container and what is below it; "" for a path without one.
std::string container_path(const fs::path& root, const std::string& path) {
    const std::string_view all(path);
    std::string text;
    for (std::size_t from = 0; from < path.size();) {
        const std::size_t slash = std::min(path.find('/', from + 1), path.size());
        const std::string_view component = all.substr(from + 1, slash - from - 1);
        const std::string_view above = all.substr(0, from);
        if (const auto container = container_of(component, above)) {
            const bool trusted = text.empty() && !others_may_make(above);
            if (!text.empty()) text += '/';
            text += container_name(root, *container, trusted);
            if (above.starts_with("/user.slice/")) {
                const std::size_t user = std::string_view("/user.slice/").size();
                text += "@" + std::string(above.substr(user, above.find('/', user) - user));
            }
        } else if (!text.empty() && !(component == "container" && slash == path.size())) {
            text += "/" + std::string(component);  // podman's own is left out
        }
        from = slash;
    }
    return text;
}

std::string name_of(const fs::path& root, const std::string& path) {
    if (path.empty()) return "-";
    std::string container = container_path(root, path);
    if (!container.empty()) return container;
    for (const std::string_view slice : {"/system.slice/", "/user.slice/"})
        if (path.size() > slice.size() && path.starts_with(slice)) return path.substr(slice.size());
    return path;
}

}  // namespace

SystemCgroups::SystemCgroups(std::filesystem::path root, Clock::duration idle)
    : root_(std::move(root)), idle_(idle), names_(kMaxCgroupBytes) {}

const std::string& SystemCgroups::name(const std::string& path) {
    const Clock::time_point now = Clock::now();
    if (Name* known = names_.find(path)) {
        known->used = now;
        return known->text;
    }
    names_.drop_oldest_while(
        [&](const std::string&, const Name& name) { return now - name.used > idle_; });
    std::string text = name_of(root_, path);
    const std::size_t bytes = kLeastCgroupBytes + 2 * path.size() + text.size();
    return names_.put(path, {std::move(text), now}, bytes).text;
}

}  // namespace lattop
