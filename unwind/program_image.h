// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a program's file says about its code and variables, whoever reads it: this
// process (elf_image.h), or one that is held back (remote_image.h). Kept by the
// symbolizer, one for each file, whatever number of processes maps it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "unwind/debug_files.h"
#include "unwind/elf_lines.h"
#include "unwind/frame.h"
#include "unwind/maps.h"
#include "unwind/reader_clock.h"
#include "unwind/unique_fd.h"

namespace lattop {

/// Debug information larger than this, uncompressed, is left unread: names are
/// shown then, lines are not.
inline constexpr std::uint64_t kMaxDebugBytes = std::uint64_t{256} << 20;

/// What is read of a file: less of one that a reader came to an end at.
enum class Reading { Whole, Names, Nothing };

class ProgramImage {
public:
    ProgramImage(const ProgramImage&) = delete;
    ProgramImage& operator=(const ProgramImage&) = delete;
    virtual ~ProgramImage() = default;

    /// Names the code at `file_offset`, in a mapping of `path`. A return
    /// address is named by the byte before it.
    UserFramePtr frame_at(std::uint64_t file_offset, bool return_address, const std::string& path);

    /// What names the program's debug file, while it lacks what is in it and
    /// nobody has looked for it in vain; nullptr otherwise.
    [[nodiscard]] const DebugName* wanted_debug_file() const {
        return has_lines() || debug_name_.empty() ? nullptr : &debug_name_;
    }

    /// Whether this is asked for the first time: debug files that are installed
    /// are looked for once.
    [[nodiscard]] bool first_look() { return !std::exchange(looked_, true); }

    /// There is no debug file: wanted_debug_file() asks for none from now on.
    void give_up_debug_file() { debug_name_ = {}; }

    /// Adds what the program's debug file says.
    void add_debug_file(UniqueFd fd, AltLink alt_link);

    [[nodiscard]] virtual std::size_t symbol_count() const = 0;
    [[nodiscard]] virtual bool has_lines() const = 0;

    /// A process's address as the file counts it, where the file's memory has it:
    /// code, data or what begins as zeros. `code`: an executable mapping of the file.
    [[nodiscard]] virtual std::optional<std::uint64_t> address_in(const Mapping& code,
                                                                  std::uint64_t address) = 0;

    /// Variables are read when one is asked for first: most images never are.
    [[nodiscard]] virtual bool has_variables() const = 0;

    /// Reads them from the file, opened again, and from its debug file.
    virtual void load_variables(UniqueFd fd) = 0;

    /// "queue_lock+0x8" by an address as the file counts it; "" for none.
    [[nodiscard]] virtual std::string variable_at(std::uint64_t address) = 0;

    /// Whether its reader has come to an end: it knows no more than what it was asked before.
    [[nodiscard]] virtual bool lost() const { return false; }

    /// What is to be read of the file when it is opened again.
    [[nodiscard]] Reading next_reading() const { return next_reading_; }
    void read_less(Reading reading) { next_reading_ = std::max(next_reading_, reading); }

    /// About how much memory it holds, here and at its reader.
    [[nodiscard]] std::size_t bytes() const { return held() + frames_bytes_; }

protected:
    ProgramImage() = default;
    void set_debug_name(DebugName name) { debug_name_ = std::move(name); }
    static void set_place(UserFrame& frame, SourcePlace place);

private:
    /// All but the module and its path.
    virtual UserFrame read_frame(std::uint64_t file_offset, bool return_address) = 0;
    virtual void read_debug_file(UniqueFd fd, AltLink alt_link) = 0;
    [[nodiscard]] virtual std::size_t held() const = 0;

    DebugName debug_name_;
    bool looked_ = false;
    Reading next_reading_ = Reading::Whole;
    std::unordered_map<std::uint64_t, UserFramePtr> frames_;  // by offset * 2 + return_address
    std::size_t frames_bytes_ = 0;  // of all that came since it was emptied
};

/// Opens images.
class ImageSource {
public:
    ImageSource() = default;
    ImageSource(const ImageSource&) = delete;
    ImageSource& operator=(const ImageSource&) = delete;
    virtual ~ImageSource() = default;

    /// An image, without anything of a file that is none; nullptr where nothing can be read now.
    virtual std::unique_ptr<ProgramImage> from_file(UniqueFd fd, Reading reading) = 0;
    virtual std::unique_ptr<ProgramImage> from_memory(std::vector<char> bytes, Reading reading) = 0;

    /// What a file says about its debug file: of one that is the debug file its build id is
    /// the program's. Nothing where reading it came to an end.
    virtual std::optional<DebugName> name_of(const UniqueFd& fd) = 0;

    /// Bytes that all images may hold together, as far as who reads them is concerned now.
    [[nodiscard]] virtual std::size_t budget() const { return SIZE_MAX; }

    /// CPU time that processes beside this one have read for it.
    [[nodiscard]] virtual ReadingTime reading_time() const {
        return [] { return 0; };
    }
};

/// Reads in this process.
std::shared_ptr<ImageSource> local_images();

}  // namespace lattop
