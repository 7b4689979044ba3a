// SPDX-License-Identifier: GPL-2.0-or-later
//
// See output.h.
#include "lattop/output.h"

#include <fmt/format.h>
#include <langinfo.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "lattop/source/error.h"

namespace lattop {

bool write_output(std::string_view text) {
    while (!text.empty()) {
        const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
        if (n >= 0) {
            text.remove_prefix(static_cast<std::size_t>(n));
        } else if (errno == EPIPE) {
            return false;
        } else if (errno != EINTR) {
            throw Error(fmt::format("cannot write: {}", std::strerror(errno)));
        }
    }
    return true;
}

Charset locale_charset() {
    return std::string_view(::nl_langinfo(CODESET)) == "UTF-8" ? Charset::Utf8 : Charset::Ascii;
}

void complain(const std::string& text) {
    std::fputs(fmt::format("lattop: {}\n", printable(text, locale_charset())).c_str(), stderr);
}

}  // namespace lattop
