// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/model/cgroup_names.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/unit/support/catch.h"

namespace lattop::test {
namespace {

namespace fs = std::filesystem;

const std::string kId(64, 'a');

/// A root of files for names, gone at the end.
class Root {
public:
    Root() {
        char name[] = "/tmp/lattop-cgroup-names-XXXXXX";
        path_ = ::mkdtemp(name);
    }
    ~Root() { fs::remove_all(path_); }
    Root(const Root&) = delete;
    Root& operator=(const Root&) = delete;

    void write(const std::string& file, const std::string& text) const {
        fs::create_directories((path_ / file).parent_path());
        std::ofstream(path_ / file) << text;
    }
    [[nodiscard]] std::string name(const std::string& cgroup) const {
        return SystemCgroups(path_).name(cgroup);
    }

    [[nodiscard]] const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

}  // namespace

TEST_CASE("cgroups are called by unit or container; others by their path") {
    const Root root;
    const auto [path, name] = GENERATE_COPY(table<std::string, std::string>({
        {"", "-"},
        {"/", "/"},
        {"/system.slice", "/system.slice"},
        {"/system.slice/nginx.service", "nginx.service"},
        {"/user.slice/user-1000.slice/session-3.scope", "user-1000.slice/session-3.scope"},
        {"/my/own", "/my/own"},
        {"/../other", "/../other"},
        {"/system.slice/docker-" + kId + ".scope", "docker:aaaaaaaaaaaa"},
        {"/docker/" + kId, "docker:aaaaaaaaaaaa"},
        {"/docker/" + kId + "/system.slice/cron.service",
         "docker:aaaaaaaaaaaa/system.slice/cron.service"},
        {"/machine.slice/libpod-" + kId + ".scope/container", "podman:aaaaaaaaaaaa"},
        {"/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + kId + ".scope",
         "containerd:aaaaaaaaaaaa"},
        {"/kubepods/burstable/pod1/" + kId, "container:aaaaaaaaaaaa"},
        {"/kubepods.slice/crio-" + kId + ".scope", "crio:aaaaaaaaaaaa"},
        {"/libpod_parent/libpod-" + kId, "podman:aaaaaaaaaaaa"},
        {"/user.slice/user-1000.slice/user@1000.service/docker-" + kId + ".scope",
         "docker:aaaaaaaaaaaa@user-1000.slice"},
        {"/lxc.payload.web/init.scope", "lxc:web/init.scope"},
        {"/machine.slice/machine-qemu\\x2d1\\x2dvm.scope", "machine:qemu-1-vm"},
        {"/docker/short", "/docker/short"},
        {"/system.slice/docker-" + kId + ".scope/docker/" + std::string(64, 'b'),
         "docker:aaaaaaaaaaaa/docker/docker:bbbbbbbbbbbb"},
    }));
    CAPTURE(path);
    CHECK(root.name(path) == name);
}

TEST_CASE("names of cgroups take no more than so many bytes, however long their paths are") {
    const Root root;
    const std::string web = "/docker/" + kId;
    const auto call = [&](const std::string& name) {
        root.write("var/lib/docker/containers/" + kId + "/config.v2.json",
                   R"({"Name": "/)" + name + "\"}");
    };
    SystemCgroups names(root.path());
    int n = 0;
    const auto fill = [&](int mebibytes) {  // a path, twice, and its name, 4 KiB each
        for (int i = 0; i < mebibytes * 1024 / 12; ++i)
            names.name("/" + std::string(4'086, 'x') + std::to_string(100'000'000 + n++));
    };
    call("web");
    CHECK(names.name(web) == "docker:web");
    call("renamed");
    fill(14);
    CHECK(names.name(web) == "docker:web");  // is kept
    fill(14);
    CHECK(names.name(web) == "docker:web");  // for it was used
    fill(17);
    CHECK(names.name(web) == "docker:renamed");  // was looked up anew
}

TEST_CASE("cgroups that nobody asks for any more are forgotten as others come") {
    const Root root;
    const auto call = [&](const std::string& name) {
        root.write("var/lib/docker/containers/" + kId + "/config.v2.json",
                   R"({"Name": "/)" + name + "\"}");
    };
    const bool idle = GENERATE(true, false);
    SystemCgroups names(root.path(), idle ? std::chrono::milliseconds(1) : std::chrono::hours(1));
    call("web");
    CHECK(names.name("/docker/" + kId) == "docker:web");
    call("renamed");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    names.name("/another");
    CHECK(names.name("/docker/" + kId) == (idle ? "docker:renamed" : "docker:web"));
}

TEST_CASE("containers are called what their runtime calls them") {
    const Root root;
    root.write("var/lib/docker/containers/" + kId + "/config.v2.json", R"({"Name": "/web"})");
    CHECK(root.name("/system.slice/docker-" + kId + ".scope") == "docker:web");
    // Anybody may name a cgroup of his own so
    CHECK(root.name("/user.slice/user-7.slice/docker-" + kId) ==
          "docker:aaaaaaaaaaaa@user-7.slice");

    root.write("var/lib/containers/storage/overlay-containers/containers.json",
               R"([{"id": "other", "names": ["no"]}, {"id": ")" + kId + R"(", "names": ["db"]}])");
    CHECK(root.name("/machine.slice/libpod-" + kId + ".scope/container") == "podman:db");

    root.write("run/containerd/io.containerd.runtime.v2.task/k8s.io/" + kId + "/config.json",
               R"({"annotations": {"io.kubernetes.cri.container-name": "app",
                                   "io.kubernetes.cri.sandbox-name": "shop-1",
                                   "io.kubernetes.cri.sandbox-namespace": "prod"}})");
    CHECK(root.name("/kubepods/pod1/" + kId) == "container:prod/shop-1/app");

    root.write("run/containers/storage/overlay-containers/" + kId + "/userdata/config.json",
               R"({"annotations": {"io.kubernetes.container.name": "app",
                                   "io.kubernetes.pod.name": "shop-2",
                                   "io.kubernetes.pod.namespace": "test"}})");
    CHECK(root.name("/kubepods.slice/crio-" + kId + ".scope") == "crio:test/shop-2/app");
}

TEST_CASE("files of runtimes that are not as expected name nothing") {
    const Root root;
    const std::string text = GENERATE("", "{", "[]", "{}", "[{}]", "null", R"({"Name": 1})",
                                      R"({"annotations": []})", R"([{"id": 1, "names": {}}])");
    CAPTURE(text);
    root.write("var/lib/docker/containers/" + kId + "/config.v2.json", text);
    root.write("var/lib/containers/storage/overlay-containers/containers.json", text);
    root.write("run/containerd/io.containerd.runtime.v2.task/k8s.io/" + kId + "/config.json", text);
    root.write("run/containers/storage/overlay-containers/" + kId + "/userdata/config.json", text);
    CHECK(root.name("/crio-" + kId) == "crio:aaaaaaaaaaaa");
    CHECK(root.name("/docker/" + kId) == "docker:aaaaaaaaaaaa");
    CHECK(root.name("/libpod_parent/libpod-" + kId) == "podman:aaaaaaaaaaaa");
    CHECK(root.name("/kubepods/pod1/" + kId) == "container:aaaaaaaaaaaa");
}

TEST_CASE("what is no regular file names nothing, and is not waited for") {
    const Root root;
    const fs::path file = root.path() / "var/lib/docker/containers" / kId / "config.v2.json";
    const bool fifo = GENERATE(true, false);
    fs::create_directories(fifo ? file.parent_path() : file);
    if (fifo) REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
    CHECK(root.name("/docker/" + kId) == "docker:aaaaaaaaaaaa");
}

}  // namespace lattop::test
