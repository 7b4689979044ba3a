// SPDX-License-Identifier: GPL-2.0-or-later
//
// See process_code.h.
#include "unwind/process_code.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>

#include "unwind/hash.h"
#include "unwind/nanoseconds.h"
#include "unwind/own_vdso.h"

namespace lattop {
namespace {

/// Pages of one stack that are remembered: a walk goes up and seldom back.
constexpr std::size_t kPages = 8;

/// Above a frame's sp its frame pointer is at most this far.
constexpr std::uint64_t kMaxFrameBytes = std::uint64_t{1} << 20;

/// What an image costs at least, whatever its sections have.
constexpr std::size_t kLeastFileCost = 16384;

/// Rows that are looked through for a process: a file may be mapped in ever so many pieces.
constexpr std::size_t kMaxKnownLooks = std::size_t{1} << 22;

/// Of files in maps, remembered beside two for each file that is held.
constexpr std::size_t kMoreNames = 1024;

/// Code that "push %rbp; mov %rsp,%rbp" opens, walked by frame pointer.
BuiltRow frame_pointer_row() {
    BuiltRow built;
    built.row.kind = LT_ROW_BP;
    built.row.cfa_offset = 16;
    built.row.bp_offset = -16;
    built.row.flags = LT_ROW_BP_SAVED;
    return built;
}

}  // namespace

std::size_t HashCodeFileId::operator()(const CodeFileId& id) const {
    const auto times = static_cast<std::uint64_t>(id.modified_ns) * kHashMultiplier +
                       static_cast<std::uint64_t>(id.changed_ns);
    return ((id.device * kHashMultiplier + id.inode) * kHashMultiplier + id.bytes) *
               kHashMultiplier +
           times;
}

std::size_t HashMapsFileId::operator()(const MapsFileId& id) const {
    return id.device * kHashMultiplier + id.inode;
}

CodeFiles::CodeFiles(std::size_t budget_bytes, std::size_t most_files,
                     std::atomic<std::size_t>* held, Clock::duration idle)
    : budget_(budget_bytes),
      least_cost_(std::max(kLeastFileCost, budget_bytes / std::max<std::size_t>(most_files, 1))),
      idle_(idle),
      files_(budget_bytes, held),
      names_(SIZE_MAX) {}

std::size_t CodeFiles::cost_of(const CfiRows& file) const {
    return std::max(file.bytes(), least_cost_);
}

CodeFiles::File CodeFiles::find(const CodeFileId& id) {
    Held* known = files_.find(id);
    if (known == nullptr) return nullptr;
    known->used = Clock::now();
    File file = known->file;
    files_.set_cost(id, cost_of(*file));  // it has more rows by now
    return file;
}

CodeFiles::File CodeFiles::find(const CodeFileId& id, const Mapping& mapping) {
    File file = find(id);
    if (file != nullptr) names_.put({mapping.device, mapping.inode}, {});
    return file;
}

CodeFiles::File CodeFiles::keep(const CodeFileId& id, const Mapping& mapping, File file) {
    const Clock::time_point now = Clock::now();
    files_.drop_oldest_while(
        [&](const CodeFileId&, const Held& held) { return now - held.used > idle_; });
    const std::size_t cost = cost_of(*file);
    files_.put(id, {file, now}, cost);
    names_.put({mapping.device, mapping.inode}, {});
    names_.keep_newest(2 * files_.size() + kMoreNames);
    return file;
}

CodeFiles::File CodeFiles::read(const CodeFileId& id, const Mapping& mapping, UniqueFd fd) {
    struct Expected {
        explicit Expected(decltype(files_)& cache, std::size_t cost) : files(cache) {
            files.expect(cost);
        }
        Expected(const Expected&) = delete;
        Expected& operator=(const Expected&) = delete;
        ~Expected() { files.expect(0); }
        decltype(files_)& files;
    };
    ElfBytes elf = ElfBytes::from_file(std::move(fd));
    const std::size_t bytes = CfiRows::bytes_to_read(elf);
    if (bytes > most_of_a_file()) return nullptr;
    const Expected expected(files_, bytes);
    auto file = CfiRows::from_elf(std::move(elf), most_of_a_file());
    return file == nullptr ? nullptr : keep(id, mapping, std::move(file));
}

bool CodeFiles::may_have(const Mapping& mapping) const {
    return names_.peek({mapping.device, mapping.inode}) != nullptr;
}

std::optional<ProcessCode> ProcessCode::find(const std::string& proc, std::uint32_t pid,
                                             std::uint64_t start_ns, CodeFiles& files) {
    auto proc_files = ProcessFiles::open(proc, pid, start_ns);
    if (!proc_files) return std::nullopt;
    return ProcessCode({pid, start_ns}, *std::move(proc_files), files);
}

bool ProcessCode::look_in() {
    memory_ = proc_files_.open_memory();
    return memory_ && read_maps();
}

std::optional<ProcessCode> ProcessCode::open(const std::string& proc, std::uint32_t pid,
                                             std::uint64_t start_ns, CodeFiles& files) {
    auto code = find(proc, pid, start_ns, files);
    if (!code || !code->look_in()) return std::nullopt;
    return code;
}

void ProcessCode::note_user() {
    const auto real = proc_files_.real_user();
    const std::uint64_t users = proc_files_.user_namespace();
    const bool here = users == own_user_namespace();
    user_ = !real || users == 0 ? kNoUser : here ? *real : kApart | users;
    payer_ = payer_of(real, here);
}

bool ProcessCode::read_maps() {
    auto maps = proc_files_.maps();
    if (!maps) return false;
    std::vector<Known> known(maps->size());
    for (std::size_t i = 0; i < maps->size(); ++i) {
        const Mapping* before = find_mapping(maps_, (*maps)[i].start);
        if (before != nullptr && same_mapping(*before, (*maps)[i]))
            known[i] = known_[static_cast<std::size_t>(before - maps_.data())];
    }
    maps_ = *std::move(maps);
    known_ = std::move(known);
    return true;
}

const Mapping* ProcessCode::cover(std::uint64_t address) {
    if (const Mapping* mapping = find_mapping(maps_, address)) return mapping;
    if (!may_refresh_) return nullptr;
    may_refresh_ = false;
    return read_maps() ? find_mapping(maps_, address) : nullptr;
}

ProcessCode::Opened ProcessCode::open_vdso(const Mapping& mapping, Load load) {
    std::vector<char> image(std::min<std::size_t>(mapping.end - mapping.start, kMaxVdsoBytes));
    if (!read_memory(mapping.start, image)) return {};
    // No file has device 0. A process may have changed its own: that has rows for this process.
    CodeFileId id{0, 0, image.size(), 0, 0};
    if (!std::ranges::equal(own_vdso(), image))
        id = {0, name_.pid, image.size(), static_cast<std::int64_t>(name_.start_ns), 1};
    if (auto known = files_->find(id, mapping); known != nullptr || load == Load::IfKnown)
        return {known, false, id};
    return {files_->keep(id, mapping, CfiRows::from_memory(std::move(image))), false, id};
}

ProcessCode::Opened ProcessCode::open_file(const Mapping& mapping, Load load) {
    if (mapping.path == kVdso) return open_vdso(mapping, load);
    if (mapping.inode == 0) return {};
    const FilePath path = proc_files_.mapped_file(mapping);
    if (!path) return {nullptr, path.wanting};
    const CodeFileId id{path.info.st_dev, path.info.st_ino,
                        static_cast<std::uint64_t>(path.info.st_size),
                        nanoseconds(path.info.st_mtim), nanoseconds(path.info.st_ctim)};
    if (auto known = files_->find(id, mapping); known != nullptr || load == Load::IfKnown)
        return {known, false, id};
    UniqueFd fd = open_to_read(path);
    if (!fd) return {nullptr, is_want(errno)};
    auto file = files_->read(id, mapping, std::move(fd));
    return file == nullptr ? Opened{nullptr, true} : Opened{std::move(file), false, id};
}

ProcessCode::Opened ProcessCode::file_of(const Mapping& mapping) {
    Known& known = known_[static_cast<std::size_t>(&mapping - maps_.data())];
    if (known.file) {
        if (auto file = files_->find(*known.file)) return {file};
    } else if (known.tried && !known.wanting) {
        return {};
    }
    // Files that do not fit could be read again for each frame of each stack.
    if (known.tried && reloads_++ >= kMaxReloads) return {nullptr, true};
    Opened opened = open_file(mapping, Load::Always);
    known = {true, opened.wanting, opened.id};
    return opened;
}

ProcessCode::CodeAt ProcessCode::code_at(std::uint64_t pc) {
    const Mapping* mapping = cover(pc);
    if (mapping == nullptr) return {};
    return {mapping, file_of(*mapping).file};
}

/// Whether a call instruction ends at `address`: 5-byte direct, or one of the
/// indirect forms, ff /2 of 2 to 7 bytes (Intel SDM volume 2, CALL).
bool ProcessCode::follows_call(std::uint64_t address) {
    std::array<char, 8> code{};
    if (address < code.size() || !read_memory(address - code.size(), code)) return false;
    const auto byte = [&](std::size_t back) {
        return static_cast<std::uint8_t>(code.at(code.size() - back));
    };
    if (byte(5) == 0xe8) return true;
    for (std::size_t back = 2; back <= 7; ++back)
        if (byte(back) == 0xff && (byte(back - 1) >> 3 & 7) == 2) return true;
    return false;
}

/// Is bp a frame pointer here? It must lie in this frame's reach, and the word
/// above it must be where a call returns to.
bool ProcessCode::has_frame_pointer(const lt_uframe& frame) {
    if (frame.exact != 0 || (frame.bp & 7) != 0) return false;
    if (frame.bp < frame.sp || frame.bp - frame.sp > kMaxFrameBytes) return false;
    std::uint64_t caller = 0;
    if (!read_word(frame.bp + 8, caller)) return false;
    return caller != 0 && find_mapping(maps_, caller - 1) != nullptr && follows_call(caller);
}

/// mov $15,%eax or %rax; syscall: what a signal handler returns to where the library wrote no
/// call-frame information for it (musl, Go). Of the process's memory, which may be its own doing:
/// no other is taught it.
bool ProcessCode::is_signal_return(std::uint64_t address) const {
    static constexpr std::array<std::uint8_t, 9> kLong{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    static constexpr std::array<std::uint8_t, 7> kShort{0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
    std::array<std::uint8_t, kLong.size()> code{};
    if (!read_memory(address, {reinterpret_cast<char*>(code.data()), code.size()})) return false;
    return code == kLong || std::equal(kShort.begin(), kShort.end(), code.begin());
}

/// JITs (V8, .NET, the JVM with PreserveFramePointer) and much hand-written code
/// keep frame pointers and say so nowhere. Such code gets the frame-pointer
/// rule where the registers bear it out, at return addresses only: at any other
/// place the frame may not be set up yet. A leaf that has none is skipped over
/// then; nothing shows that from outside.
BuiltRow ProcessCode::without_cfi(const lt_uframe& frame) {
    if (is_signal_return(frame.pc)) return signal_row(0);
    if (has_frame_pointer(frame)) return frame_pointer_row();
    return cannot_row(CannotCause::NoCfi);
}

std::optional<PlacedRow> ProcessCode::row_at(const lt_uframe& frame) {
    const bool exact = frame.exact != 0;
    const std::uint64_t look_up = frame.pc - (exact ? 0 : 1);
    if (frame.pc == 0) return std::nullopt;
    const Mapping* mapping = cover(look_up);
    if (mapping == nullptr) return std::nullopt;
    PlacedRow placed{};
    placed.range = {mapping->start, mapping->end};
    const Opened opened = file_of(*mapping);
    const CodeFiles::File& file = opened.file;
    if (file != nullptr)
        placed.built = file->row_at(frame.pc - mapping->start + mapping->offset, exact, user_);
    const bool has_file = mapping->inode != 0 || mapping->path == kVdso;
    if (file == nullptr && has_file)
        placed.built = cannot_row(opened.wanting ? CannotCause::NoRoom : CannotCause::NoFile);
    if (!has_file || placed.built.cannot == CannotCause::NoCfi ||
        placed.built.cannot == CannotCause::NoFile)
        if (BuiltRow bare = without_cfi(frame); bare.cannot == CannotCause::None || !has_file) {
            placed.built = bare;
            placed.guessed = bare.cannot == CannotCause::None;
        }
    placed.built.row.pc = frame.pc;
    placed.built.row.flags |= exact ? LT_ROW_EXACT : 0;
    return placed;
}

std::vector<PlacedRow> ProcessCode::known_rows(std::size_t max) {
    std::vector<std::pair<std::uint32_t, PlacedRow>> found;  // by how often they were asked for
    const auto keep_most_asked = [&] {
        std::ranges::sort(found, std::ranges::greater(),
                          &std::pair<std::uint32_t, PlacedRow>::first);
        if (found.size() > max) found.resize(max);
    };
    std::size_t looks = 0;
    for (std::size_t i = 0; i < maps_.size() && looks < kMaxKnownLooks; ++i) {
        const Mapping& mapping = maps_[i];
        if (!files_->may_have(mapping)) continue;
        const auto [file, wanting, id] = open_file(mapping, Load::IfKnown);
        if (file == nullptr) continue;
        known_[i] = {true, false, id};
        looks += file->rows();
        const std::uint64_t end = mapping.offset + (mapping.end - mapping.start);
        for (KnownRow& known : file->known_rows(mapping.offset, end, max, user_)) {
            known.built.row.pc = mapping.start + (known.file_offset - mapping.offset);
            found.push_back({known.asked, {known.built, {mapping.start, mapping.end}, false}});
        }
        if (found.size() > 4 * max) keep_most_asked();
    }
    keep_most_asked();
    std::vector<PlacedRow> rows;
    for (const auto& [asked, placed] : found)
        rows.push_back(placed);
    return rows;
}

bool ProcessCode::read_memory(std::uint64_t address, std::span<char> bytes) const {
    if (address > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()) - bytes.size())
        return false;
    ssize_t n = 0;
    do
        n = ::pread(memory_.get(), bytes.data(), bytes.size(), static_cast<off_t>(address));
    while (n < 0 && errno == EINTR);
    return n == static_cast<ssize_t>(bytes.size());
}

void ProcessCode::forget_memory() {
    pages_ = std::vector<Page>();  // {} would keep the room
}

std::span<const std::uint8_t> ProcessCode::page_at(std::uint64_t address) {
    if (pages_.empty()) pages_.resize(kPages);
    auto page = std::ranges::find(pages_, address, &Page::address);
    if (page == pages_.end()) {
        page = pages_.begin() + static_cast<std::ptrdiff_t>(next_page_++ % kPages);
        page->there = read_memory(address, page->bytes);
        page->address = address;
    }
    if (!page->there) return {};
    return {reinterpret_cast<const std::uint8_t*>(page->bytes.data()), kPageBytes};
}

bool ProcessCode::read_word(std::uint64_t address, std::uint64_t& word) {
    if (address > std::numeric_limits<std::uint64_t>::max() - sizeof(word)) return false;
    const std::uint64_t offset = address % kPageBytes;
    if (offset + sizeof(word) > kPageBytes)
        return read_memory(address, {reinterpret_cast<char*>(&word), sizeof(word)});
    const auto page = page_at(address - offset);
    if (page.empty()) return false;
    std::memcpy(&word, page.data() + offset, sizeof(word));
    return true;
}

std::size_t ProcessCode::bytes() const {
    std::size_t bytes = sizeof(*this) + pages_.capacity() * sizeof(Page) +
                        maps_.capacity() * sizeof(Mapping) + known_.capacity() * sizeof(Known);
    for (const Mapping& mapping : maps_)
        bytes += mapping.path.capacity();
    return bytes;
}

bool ProcessCode::alive() const {
    if (!proc_files_.exists()) return false;
    // Some mapping may have gone by itself; all of the first ones have not.
    constexpr std::size_t kProbes = 8;
    std::array<char, 1> byte{};
    for (std::size_t i = 0; i < std::min(maps_.size(), kProbes); ++i)
        if (read_memory(maps_[i].start, byte)) return true;
    return false;
}

int read_process_word(void* process_code, __u64 address, __u64* word) {
    std::uint64_t value = 0;
    if (!static_cast<ProcessCode*>(process_code)->read_word(address, value)) return 0;
    *word = value;
    return 1;
}

}  // namespace lattop
