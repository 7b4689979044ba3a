// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/term/clipboard.h"

#include "tests/unit/support/catch.h"

namespace lattop::test {

TEST_CASE("text for the clipboard is base64 in OSC 52") {
    // RFC 4648, section 10
    CHECK(clipboard_sequence("") == "\033]52;c;\a");
    CHECK(clipboard_sequence("f") == "\033]52;c;Zg==\a");
    CHECK(clipboard_sequence("fo") == "\033]52;c;Zm8=\a");
    CHECK(clipboard_sequence("foo") == "\033]52;c;Zm9v\a");
    CHECK(clipboard_sequence("foobar") == "\033]52;c;Zm9vYmFy\a");
    CHECK(clipboard_sequence("\xff\xfe\xfd") == "\033]52;c;//79\a");
}

}  // namespace lattop::test
