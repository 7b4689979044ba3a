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
#include <span>

#include "lattop/source/error.h"
#include "lattop/write_file.h"

namespace lattop {

bool write_output(std::string_view text) {
    const int error = write_all(STDOUT_FILENO, std::as_bytes(std::span(text)));
    if (error != 0 && error != EPIPE)
        throw Error(fmt::format("cannot write: {}", std::strerror(error)));
    return error == 0;
}

Charset locale_charset() {
    return std::string_view(::nl_langinfo(CODESET)) == "UTF-8" ? Charset::Utf8 : Charset::Ascii;
}

void complain(const std::string& text) {
    std::fputs(fmt::format("lattop: {}\n", printable(text, locale_charset())).c_str(), stderr);
}

}  // namespace lattop
