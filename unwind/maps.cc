// SPDX-License-Identifier: GPL-2.0-or-later
//
// See maps.h. A line:
//
//	7f1e2a400000-7f1e2a5ff000 r-xp 00022000 fe:00 131074    /usr/lib/libc.so.6
//	start        end          perm offset   dev   inode     path, may be absent
#include "unwind/maps.h"

#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace lattop {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

constexpr std::string_view kNewline = "\\012";

/// Of a path as the kernel writes it: what may become kMaxMappedPath bytes.
constexpr std::size_t kMaxWrittenPath = kNewline.size() * kMaxMappedPath;

/// Bytes that what is before the path never has.
constexpr std::size_t kMaxFields = 256;

/// Takes the fields of one line off its front.
class Fields {
public:
    explicit Fields(std::string_view line) : rest_(line) {}

    /// A number in `base`, followed by `end`, which is taken off too.
    std::optional<std::uint64_t> number(int base, char end) {
        std::uint64_t value = 0;
        const char* last = rest_.data() + rest_.size();
        const auto [stop, error] = std::from_chars(rest_.data(), last, value, base);
        if (error != std::errc{} || (stop != last && *stop != end)) return std::nullopt;
        rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
        if (!rest_.empty()) rest_.remove_prefix(1);
        return value;
    }

    std::string_view word() {
        const std::size_t end = std::min(rest_.find(' '), rest_.size());
        const std::string_view word = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        return word;
    }

    std::string_view rest() {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
        return rest_;
    }

private:
    std::string_view rest_;
};

/// The kernel writes a newline in a path as "\012", and nothing else so.
std::string unescape_newlines(std::string_view path) {
    std::string result;
    for (std::size_t at = 0; (at = path.find(kNewline)) != std::string_view::npos;) {
        result.append(path.substr(0, at)) += '\n';
        path.remove_prefix(at + kNewline.size());
    }
    return result.append(path);
}

/// As it is in Mapping::path.
std::string mapped_path(std::string_view written) {
    const bool cut = written.size() > kMaxWrittenPath;
    if (cut) written.remove_prefix(written.size() - kMaxWrittenPath);
    std::string path = unescape_newlines(written);
    if (!cut && path.size() <= kMaxMappedPath) return path;
    return "..." + path.substr(path.size() - kMaxMappedPath);
}

/// Most lines are not of code: seen before any of their numbers is read.
bool executable(std::string_view line) {
    constexpr std::size_t kBehindBlank = 3;
    const std::size_t blank = line.find(' ');
    return blank < line.size() && line.size() - blank > kBehindBlank &&
           line[blank + kBehindBlank] == 'x';
}

std::optional<Mapping> parse_line(std::string_view line) {
    if (!executable(line)) return std::nullopt;
    Fields fields(line);
    const auto start = fields.number(16, '-');
    const auto end = fields.number(16, ' ');
    fields.word();
    const auto offset = fields.number(16, ' ');
    const auto major = fields.number(16, ':');
    const auto minor = fields.number(16, ' ');
    const auto inode = fields.number(10, ' ');
    if (!start || !end || !offset || !major || !minor || !inode || *start >= *end)
        return std::nullopt;

    Mapping mapping;
    mapping.start = *start;
    mapping.end = *end;
    mapping.offset = *offset;
    mapping.device = ::makedev(static_cast<unsigned>(*major), static_cast<unsigned>(*minor));
    mapping.inode = *inode;
    mapping.path = mapped_path(fields.rest());
    mapping.deleted = mapping.path.ends_with(kDeleted);
    return mapping;
}

}  // namespace

void MapsParser::take(std::string_view line) {
    if (auto mapping = parse_line(line)) maps_.push_back(*std::move(mapping));
}

void MapsParser::keep(std::string_view begin_of_line) {
    line_ += begin_of_line;
    if (line_.size() > kMaxFields + 2 * kMaxWrittenPath)
        line_.erase(kMaxFields, line_.size() - kMaxFields - kMaxWrittenPath - 1);
}

void MapsParser::add(std::string_view text) {
    for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
        if (line_.empty()) {
            take(text.substr(0, end));
        } else {
            keep(text.substr(0, end));
            take(line_);
            line_.clear();
        }
        text.remove_prefix(end + 1);
    }
    if (!text.empty()) keep(text);
}

std::vector<Mapping> MapsParser::finish() {
    take(line_);
    line_.clear();
    std::ranges::sort(maps_, {}, &Mapping::start);
    return std::exchange(maps_, {});
}

std::vector<Mapping> parse_maps(std::string_view text) {
    MapsParser parser;
    parser.add(text);
    return parser.finish();
}

const Mapping* find_mapping(const std::vector<Mapping>& maps, std::uint64_t address) {
    const auto behind = std::ranges::upper_bound(maps, address, {}, &Mapping::start);
    if (behind == maps.begin()) return nullptr;
    const Mapping& mapping = *std::prev(behind);
    return address < mapping.end ? &mapping : nullptr;
}

bool same_mapping(const Mapping& a, const Mapping& b) {
    return a.start == b.start && a.end == b.end && a.offset == b.offset && a.device == b.device &&
           a.inode == b.inode && a.path == b.path;
}

std::string module_name(const std::string& path) {
    std::string_view name = path;
    if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
    return std::string(name.substr(name.rfind('/') + 1));
}

}  // namespace lattop
