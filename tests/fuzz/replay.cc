// SPDX-License-Identifier: GPL-2.0-or-later
//
// The fuzzers without libFuzzer: each over nothing, over its seeds and over what
// was once found. `make test` runs it with the unit tests under sanitizers.
//
// usage: fuzz_replay TARGET FOLDER...
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#define LATTOP_FUZZER(name) \
    extern "C" int lattop_fuzz_##name(const std::uint8_t* data, std::size_t size);
LATTOP_FUZZERS
#undef LATTOP_FUZZER

namespace {

namespace fs = std::filesystem;

using Fuzzer = int (*)(const std::uint8_t*, std::size_t);

struct Target {
    std::string_view name;
    Fuzzer run;
};

#define LATTOP_FUZZER(name) {#name, lattop_fuzz_##name},
constexpr Target kTargets[] = {LATTOP_FUZZERS};
#undef LATTOP_FUZZER

Fuzzer fuzzer_of(std::string_view name) {
    for (const Target& target : kTargets)
        if (target.name == name) return target.run;
    return nullptr;
}

/// Says which it is first: what a sanitizer finds ends the program.
void run_file(Fuzzer run, const fs::path& path) {
    std::fprintf(stderr, "%s\n", path.c_str());
    std::ifstream in(path, std::ios::binary);
    in.exceptions(std::ios::badbit | std::ios::failbit);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) try {
    const Fuzzer run = argc < 2 ? nullptr : fuzzer_of(argv[1]);
    if (run == nullptr) {
        std::fputs("usage: fuzz_replay TARGET FOLDER...\n", stderr);
        return 2;
    }
    const std::uint8_t nothing = 0;
    run(&nothing, 0);
    int files = 0;
    for (int i = 2; i < argc; ++i) {
        const int before = files;
        for (const auto& entry : fs::directory_iterator(argv[i])) {
            run_file(run, entry.path());
            ++files;
        }
        if (files == before) throw std::runtime_error(std::string("no files in ") + argv[i]);
    }
    std::printf("%s: %d files\n", argv[1], files);
    return 0;
} catch (const std::exception& e) {
    std::fprintf(stderr, "fuzz_replay: %s\n", e.what());
    return 1;
}
