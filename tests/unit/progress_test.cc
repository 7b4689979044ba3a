// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/progress.h"

#include "tests/unit/support/catch.h"
#include "tests/unit/support/fakes.h"

namespace lattop::test {

TEST_CASE("long work says how far it is, brief work nothing, and no line is left") {
    using namespace std::chrono_literals;
    FakeClock clock;
    std::vector<std::string> shown;
    const auto show = [&](std::string_view text) { shown.emplace_back(text); };
    {
        ProgressLine brief("reading a.rec", clock, show);
        brief.at(1, 2);
        clock.advance(999ms);
        brief.at(2, 2);
    }
    CHECK(shown.empty());
    {
        ProgressLine line("reading e\x1b[2J", clock, show);
        clock.advance(1000ms);
        line.at(5, 200);
        line.at(6, 200);
        clock.advance(250ms);
        line.at(150, 200);
        line.at(0, 0);
    }
    CHECK(shown == std::vector<std::string>{"\rlattop: reading e?[2J: 2%; ^C ends it",
                                            "\rlattop: reading e?[2J: 75%; ^C ends it",
                                            "\r" + std::string(38, ' ') + "\r"});
}

}  // namespace lattop::test
