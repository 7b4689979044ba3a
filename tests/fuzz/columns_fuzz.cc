// SPDX-License-Identifier: GPL-2.0-or-later
//
// columns.conf: whatever it says, each view has columns, each once; what is
// written of it is read the same, also after F2's changes. screen.conf: whatever
// it says, the order is by a column of the view, and it is read as written.
//
//	columns: 2 bytes, what F2 does | the file
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "lattop/model/column_choice.h"
#include "lattop/model/screen_choice.h"
#include "lattop/source/error.h"
#include "tests/fuzz/bytes.h"

namespace {

void check(const lattop::ColumnChoice& choice) {
    for (const lattop::ViewInfo& view : lattop::views()) {
        REQUIRE(!choice.shown(view.id).empty());
        const auto all = choice.all(view.id);
        REQUIRE(std::ranges::is_permutation(all, lattop::all_columns(view.id)));
    }
    REQUIRE(lattop::ColumnChoice::parse(choice.text(), "again") == choice);
}

void check_screen(std::string_view text) {
    try {
        const lattop::ScreenChoice choice = lattop::ScreenChoice::parse(text, "fuzz.conf");
        REQUIRE(std::ranges::count(lattop::columns(choice.view), choice.sort) == 1);
        REQUIRE(lattop::ScreenChoice::parse(choice.text(), "again") == choice);
    } catch (const lattop::Error& error) {
        REQUIRE(std::string_view(error.what()).starts_with("fuzz.conf:"));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const std::string_view text = lattop::fuzz::text_of(data + 2, size - 2);
    check_screen(text);
    try {
        lattop::ColumnChoice choice = lattop::ColumnChoice::parse(text, "fuzz.conf");
        check(choice);
        const auto views = lattop::views();
        const lattop::View view = views[data[0] % views.size()].id;
        const auto columns = lattop::columns(view);
        choice.toggle(view, columns[data[1] % columns.size()]);
        check(choice);
        choice.move(view, columns[data[1] % columns.size()], (data[0] & 0x80U) != 0 ? 1 : -1);
        check(choice);
    } catch (const lattop::Error& error) {
        REQUIRE(std::string_view(error.what()).starts_with("fuzz.conf:"));
    }
    return 0;
}
