// SPDX-License-Identifier: GPL-2.0-or-later
//
// See symbolizer.h.
#include "unwind/symbolizer.h"

#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "unwind/demangle.h"
#include "unwind/hash.h"
#include "unwind/nanoseconds.h"
#include "unwind/own_vdso.h"

namespace lattop {
namespace {

/// What an image costs at least: those with DWARF hold a descriptor.
constexpr std::size_t kLeastImageCost = std::size_t{1} << 20;

/// What the perf map of a process costs at least, also when it has none.
constexpr std::size_t kLeastJitCost = 4096;

/// What a process costs beside its maps.
constexpr std::size_t kLeastProcessCost = 512;

/// Rounds after which a process that none of asked for is forgotten: most such have ended, and the
/// others' maps are read again in a moment. A refresh is a round, a look of the pane is one, and
/// for what tasks wait for a second is.
constexpr std::uint64_t kIdleRounds = 256;

/// The same of perf maps, which may take seconds to read.
constexpr std::uint64_t kIdleJitRounds = 4096;

/// Files that a reader came to an end at, which are remembered.
constexpr std::size_t kMaxReadLess = 4096;

UserFramePtr bare_frame(std::uint64_t address) {
    auto frame = std::make_shared<UserFrame>();
    frame->offset = address;
    return frame;
}

/// A frame of which only the module is known.
UserFramePtr module_frame(const Mapping& mapping, std::uint64_t address) {
    auto frame = std::make_shared<UserFrame>();
    frame->module = mapping.path.empty() ? "[anon]" : module_name(mapping.path);
    frame->path = mapping.path;
    frame->offset = address - mapping.start + mapping.offset;
    return frame;
}

/// Where a server is being asked, the stack is asked for again anyway.
void note_partly(Naming& naming) {
    if (naming.result == Naming::Result::Named) naming.result = Naming::Result::Partly;
}

bool is_roots(const UniqueFd& fd) {
    struct stat info {};
    return ::fstat(fd.get(), &info) == 0 && info.st_uid == 0;
}

}  // namespace

std::size_t Symbolizer::HashId::operator()(const ImageId& id) const {
    return ((id.device * kHashMultiplier + id.inode) * kHashMultiplier + id.bytes) *
               kHashMultiplier +
           static_cast<std::uint64_t>(id.modified_ns);
}

std::size_t Symbolizer::HashId::operator()(const ProcessId& id) const {
    return (id.tgid * kHashMultiplier + id.exec_id) * kHashMultiplier + id.start_ticks;
}

Symbolizer::Symbolizer(DebugSources debug, std::string proc, SymbolizerLimits limits,
                       std::shared_ptr<ImageSource> source)
    : debug_(std::move(debug)),
      proc_(std::move(proc)),
      source_(std::move(source)),
      read_less_(kMaxReadLess),
      image_bytes_(limits.image_bytes),
      images_(limits.image_bytes),
      processes_(limits.maps_bytes),
      jits_(limits.perf_map_bytes) {}

std::size_t Symbolizer::Process::bytes() const {
    std::size_t bytes =
        kLeastProcessCost + maps.capacity() * sizeof(Mapping) + files.capacity() * sizeof(File);
    for (const Mapping& mapping : maps)
        bytes += mapping.path.capacity();
    return bytes;
}

/// Reads a process's maps, keeping what is known about files still mapped
/// there. False where they cannot be read.
bool Symbolizer::read_maps(Process& process, const ProcessFiles& files, std::uint64_t round) {
    process.read_round = round;
    auto maps = files.maps();
    if (!maps) return false;
    std::vector<File> known(maps->size());
    for (std::size_t i = 0; i < maps->size(); ++i) {
        const Mapping* before = find_mapping(process.maps, (*maps)[i].start);
        if (before == nullptr || !same_mapping(*before, (*maps)[i])) continue;
        known[i] = process.files[static_cast<std::size_t>(before - process.maps.data())];
    }
    process.maps = *std::move(maps);
    process.files = std::move(known);
    processes_.set_cost(process.id, process.bytes());
    return true;
}

Symbolizer::Process* Symbolizer::find_process(const TaskRef& task, const ProcessFiles& files,
                                              std::uint64_t round) {
    // Threads share their process's maps. Its start tells it from another one
    // that had its pid before.
    const auto start = task.pid == task.tgid ? std::optional(ticks_of_ns(task.start_ns))
                                             : ProcessFiles::start_ticks(proc_, task.tgid);
    if (!start) return nullptr;
    const ProcessId id{task.tgid, task.exec_id, *start};
    if (Process* known = processes_.find(id)) {
        known->used_round = round;
        return known;
    }
    forget_idle(round);
    Process process;
    process.used_round = round;
    if (!read_maps(process, files, round)) return nullptr;
    process.program = files.program();
    process.id = id;
    const std::size_t cost = process.bytes();
    return &processes_.put(id, std::move(process), cost);
}

void Symbolizer::forget_idle(std::uint64_t round) {
    processes_.drop_oldest_while([&](const ProcessId&, const Process& process) {
        return process.used_round + kIdleRounds < round;
    });
    jits_.drop_oldest_while(
        [&](const ProcessId&, const Jit& jit) { return jit.used_round + kIdleJitRounds < round; });
}

/// The mapping that holds an address, from maps read again if need be.
const Mapping* Symbolizer::cover(Process& process, const ProcessFiles& files, std::uint64_t address,
                                 std::uint64_t round) {
    if (const Mapping* mapping = find_mapping(process.maps, address)) return mapping;
    if (process.read_round == round || !read_maps(process, files, round)) return nullptr;
    return find_mapping(process.maps, address);
}

/// An image that is known; one whose reader has come to an end is no more.
ProgramImage* Symbolizer::kept_image(const ImageId& id) {
    const auto* known = images_.find(id);
    if (known == nullptr) return nullptr;
    if (!(*known)->lost()) return known->get();
    if ((*known)->next_reading() != Reading::Whole) read_less_.put(id, (*known)->next_reading());
    images_.erase(id);
    return nullptr;
}

Reading Symbolizer::reading_of(const ImageId& id) const {
    const Reading* less = read_less_.peek(id);
    return less == nullptr ? Reading::Whole : *less;
}

ProgramImage* Symbolizer::keep(const ImageId& id, std::unique_ptr<ProgramImage> image) {
    if (image == nullptr) return nullptr;
    const std::size_t cost = std::max(image->bytes(), kLeastImageCost);
    images_.set_budget(std::min(image_bytes_, source_->budget()));
    return images_.put(id, std::move(image), cost).get();
}

ProgramImage* Symbolizer::open_vdso(const Mapping& mapping, File& file, const ProcessFiles& files) {
    const std::size_t bytes = mapping.end - mapping.start;
    if (bytes > kMaxVdsoBytes) return nullptr;
    const std::span<const char> own = own_vdso();
    // A 32-bit task's may be as large.
    const bool alike = own.size() == bytes && mapping.start > UINT32_MAX;
    auto image = alike ? std::optional(std::vector(own.begin(), own.end()))
                       : files.memory(mapping.start, bytes);
    if (!image) return nullptr;
    // No file has inode 0. Kinds of vdso (64-bit, 32-bit, x32) differ in content.
    const std::string_view content(image->data(), image->size());
    const ImageId id{0, 0, bytes, static_cast<std::int64_t>(std::hash<std::string_view>{}(content)),
                     0};
    file.image = id;
    if (ProgramImage* known = kept_image(id)) return known;
    return keep(id, source_->from_memory(*std::move(image), reading_of(id)));
}

ProgramImage* Symbolizer::open_image(const Mapping& mapping, File& file,
                                     const ProcessFiles& files) {
    if (mapping.path == kVdso) return open_vdso(mapping, file, files);
    const FilePath path = files.mapped_file(mapping);
    if (!path) return nullptr;
    const ImageId id{path.info.st_dev, path.info.st_ino,
                     static_cast<std::uint64_t>(path.info.st_size), nanoseconds(path.info.st_mtim),
                     nanoseconds(path.info.st_ctim)};
    file.image = id;
    if (ProgramImage* known = kept_image(id)) return known;
    UniqueFd fd = open_to_read(path);
    return fd ? keep(id, source_->from_file(std::move(fd), reading_of(id))) : nullptr;
}

ProgramImage* Symbolizer::find_image(const Mapping& mapping, File& file, const ProcessFiles& files,
                                     std::uint64_t round) {
    if (file.image)
        if (ProgramImage* known = kept_image(*file.image)) return known;
    if (file.tried && file.tried_round == round) return nullptr;
    file.tried = true;
    file.tried_round = round;
    return open_image(mapping, file, files);
}

/// A debug file of this machine or of the process's root.
UniqueFd Symbolizer::installed_debug_file(ProgramImage& image, const DebugName& name,
                                          const Mapping& mapping, const ProcessFiles& files,
                                          AltLink& alt_link) {
    const IdentifyFile identify = [&](const UniqueFd& fd) {
        if (auto said = source_->name_of(fd)) return *std::move(said);
        image.read_less(Reading::Names);
        return DebugName{};
    };
    const OpenFile in_root = [&](const std::string& path) { return files.open_in_root(path); };
    DebugFileSearch search(name, mapping.path, debug_.folder, identify);
    UniqueFd fd = search.find([](const std::string& path) { return open_regular_file(path).fd; });
    if (fd && is_roots(fd)) alt_link = AltLink::Followed;
    if (!fd && !image.lost()) fd = search.find(in_root);
    return fd;
}

/// Gives an image its debug file: an installed one, of this machine or of the
/// process's root, or one from a server, which comes later.
void Symbolizer::complete(ProgramImage& image, const Mapping& mapping, const File& file,
                          const ProcessFiles& files, Naming& naming) {
    const DebugName* name = image.wanted_debug_file();
    if (name == nullptr) return;
    UniqueFd fd;
    AltLink alt_link = AltLink::Refused;
    if (image.first_look()) fd = installed_debug_file(image, *name, mapping, files, alt_link);
    if (image.lost()) return note_partly(naming);
    if (!fd && debug_.fetch != nullptr && !name->build_id.empty()) {
        const auto state = debug_.fetch->want(name->build_id, module_name(mapping.path));
        if (state == DebugFetch::State::Waiting) {
            naming.result = Naming::Result::Waiting;
            return;
        }
        if (state == DebugFetch::State::Failed) {
            const auto at = debug_.fetch->retry_at(name->build_id);
            if (at && (!naming.retry_at || *at < *naming.retry_at)) naming.retry_at = at;
            return;
        }
        fd = debug_.fetch->take(name->build_id);
        if (!fd && state == DebugFetch::State::Here) {  // another thread took it: fetched again
            naming.result = Naming::Result::Waiting;
            return;
        }
        alt_link = AltLink::Followed;
    }
    if (fd)
        image.add_debug_file(std::move(fd), alt_link);
    else
        image.give_up_debug_file();
    images_.set_cost(*file.image, std::max(image.bytes(), kLeastImageCost));
}

/// A frame by the process's perf map, as it is in this round: places of code are used again.
/// nullptr where that does not name it.
UserFramePtr Symbolizer::jit_frame(const Process& process, const ProcessFiles& files,
                                   const Mapping& mapping, std::uint64_t address, bool is_return,
                                   std::uint64_t round) {
    const std::uint64_t look_up = address - (is_return ? 1 : 0);
    Jit* jit = jits_.find(process.id);
    if (jit == nullptr) jit = &jits_.put(process.id, {}, kLeastJitCost);
    jit->used_round = round;
    if (jit->read_round != round) {
        jit->read_round = round;
        if (const UniqueFd fd = files.open_perf_map()) jit->map.read(fd);
        jits_.set_cost(process.id, jit->map.bytes() + kLeastJitCost);
    }
    const auto function = jit->map.find(look_up);
    if (!function) return nullptr;
    auto frame = std::make_shared<UserFrame>(*module_frame(mapping, address));
    frame->symbol = demangle_at_once(std::string(function->name));
    frame->offset = address - function->start;
    return frame;
}

/// Names one address of a process whose maps are known, and says in `naming`
/// what was missing.
void Symbolizer::name_address(Process& process, const ProcessFiles& files, std::uint64_t address,
                              std::uint64_t round, Naming& naming) {
    UserStack& stack = naming.stack;
    const bool is_return = !stack.frames.empty();
    const std::uint64_t look_up = is_return && address != 0 ? address - 1 : address;
    const Mapping* mapping = cover(process, files, look_up, round);
    if (mapping == nullptr) {
        note_partly(naming);
        stack.frames.push_back(bare_frame(address));
        return;
    }
    File& file = process.files[static_cast<std::size_t>(mapping - process.maps.data())];
    const bool has_file = mapping->path.starts_with('/') || mapping->path == kVdso;
    ProgramImage* image = has_file ? find_image(*mapping, file, files, round) : nullptr;
    if (has_file && image == nullptr) note_partly(naming);
    if (image != nullptr) complete(*image, *mapping, file, files, naming);
    const bool own = !process.program.empty() && mapping->path == process.program;
    if (own && stack.own == UserStack::kNone) stack.own = stack.frames.size();
    UserFramePtr frame;
    if (image == nullptr || image->symbol_count() == 0)
        frame = jit_frame(process, files, *mapping, address, is_return, round);
    if (frame == nullptr && image == nullptr) frame = module_frame(*mapping, address);
    if (frame == nullptr) {
        frame =
            image->frame_at(address - mapping->start + mapping->offset, is_return, mapping->path);
        if (image->lost()) note_partly(naming);
        images_.set_cost(*file.image, std::max(image->bytes(), kLeastImageCost));
    }
    stack.frames.push_back(std::move(frame));
}

Naming Symbolizer::name(const TaskRef& task, std::span<const std::uint64_t> addresses,
                        std::uint64_t round) {
    Naming naming;
    const auto files = ProcessFiles::open(proc_, task.pid, task.start_ns);
    if (!files) return naming;
    Process* process = find_process(task, *files, round);
    if (process == nullptr) {
        naming.result = Naming::Result::Partly;
        for (const std::uint64_t address : addresses)
            naming.stack.frames.push_back(bare_frame(address));
        return naming;
    }
    naming.result = Naming::Result::Named;
    for (const std::uint64_t address : addresses)
        name_address(*process, *files, address, round, naming);
    return naming;
}

/// Linkers put a file's data behind its code, so that it is behind the last code
/// before it.
std::string Symbolizer::variable_in(Process& process, const ProcessFiles& files,
                                    std::uint64_t address, std::uint64_t round) {
    auto code = std::ranges::upper_bound(process.maps, address, {}, &Mapping::start);
    do {
        if (code == process.maps.begin()) return "";
        --code;
    } while (!code->path.starts_with('/'));
    File& file = process.files[static_cast<std::size_t>(code - process.maps.begin())];
    ProgramImage* image = find_image(*code, file, files, round);
    const auto own = image == nullptr ? std::nullopt : image->address_in(*code, address);
    if (!own) return "";
    Naming ignored;
    complete(*image, *code, file, files, ignored);
    if (!image->has_variables()) {
        image->load_variables(open_to_read(files.mapped_file(*code)));
        images_.set_cost(*file.image, std::max(image->bytes(), kLeastImageCost));
    }
    return image->variable_at(*own);
}

std::string Symbolizer::variable(const TaskRef& task, std::uint64_t address, std::uint64_t round) {
    const auto files = ProcessFiles::open(proc_, task.pid, task.start_ns);
    Process* process = files ? find_process(task, *files, round) : nullptr;
    if (process == nullptr) return "";
    std::string name = variable_in(*process, *files, address, round);
    // Of a library that was loaded since, maybe.
    if (name.empty() && process->read_round != round && read_maps(*process, *files, round))
        name = variable_in(*process, *files, address, round);
    return name;
}

}  // namespace lattop
