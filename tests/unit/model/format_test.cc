// SPDX-License-Identifier: GPL-2.0-or-later
#include "lattop/model/format.h"

#include <clocale>

#include "tests/unit/support/catch.h"

namespace lattop::test {

TEST_CASE("durations are short and cut, not rounded") {
    const std::vector<std::pair<std::uint64_t, const char*>> cases = {
        {0, "0"},
        {1, "1ns"},
        {999, "999ns"},
        {1'000, "1.00us"},
        {45'678, "45.6us"},
        {789'999, "789us"},
        {999'999, "999us"},
        {1'000'000, "1.00ms"},
        {1'230'000'000, "1.23s"},
        {59'999'999'999, "59.9s"},
        {60'000'000'000, "1m00s"},
        {245'000'000'000, "4m05s"},
        {3'599'999'999'999, "59m59s"},
        {14'340'000'000'000, "3h59m"},
        {86'400'000'000'000, "1d00h"},
        {8'639'999'000'000'000, "99d23h"},
        {8'640'000'000'000'000, "100d"},
        {86'400'000'000'000'000, "2.73y"},
        {UINT64_MAX, "584y"},
    };
    for (const auto& [ns, text] : cases) {
        CHECK(format_duration(ns) == text);
        CHECK(format_duration(ns).size() <= 6);
    }
}

TEST_CASE("counts have at most five columns") {
    const std::vector<std::pair<std::uint64_t, const char*>> cases = {
        {0, "0"},
        {99'999, "99999"},
        {100'000, "100k"},
        {999'999, "999k"},
        {1'234'567, "1.23M"},
        {12'345'678, "12.3M"},
        {UINT64_MAX, "18.4E"},
    };
    for (const auto& [n, text] : cases) {
        CHECK(format_count(n) == text);
        CHECK(format_count(n).size() <= 5);
    }
}

TEST_CASE("rates have at most five columns") {
    const std::vector<std::pair<double, const char*>> cases = {
        {0, "0"},         {-1, "0"},       {0.001, "<0.01"}, {0.25, "0.25"},
        {9.99, "9.99"},   {9.999, "10.0"}, {12.34, "12.3"},  {99.97, "100"},
        {12345, "12345"}, {1e30, "1.00E"}, {0.0 / 1.0, "0"},
    };
    for (const auto& [rate, text] : cases) {
        CHECK(format_rate(rate) == text);
        CHECK(format_rate(rate).size() <= 5);
    }
}

TEST_CASE("shares have at most five columns, also of records for many tasks") {
    CHECK(format_percent(0) == "0.0");
    CHECK(format_percent(0.9994) == "99.9");
    CHECK(format_percent(1) == "100.0");
    CHECK(format_percent(12.34) == "1234");
    CHECK(format_percent(-1) == "0.0");
}

TEST_CASE("bytes and long numbers") {
    CHECK(format_bytes(512) == "512B");
    CHECK(format_bytes(1536) == "1.50K");
    CHECK(format_bytes(1023 * 1024) == "1023K");
    CHECK(format_bytes(11 * 1024 + 1023) == "11.9K");
    CHECK(format_bytes(UINT64_MAX) == "15.9E");
    CHECK(with_commas(0) == "0");
    CHECK(with_commas(1'234'567) == "1,234,567");
    CHECK(with_commas(123'456) == "123,456");
}

TEST_CASE("nothing that a terminal acts on is printable") {
    struct Case {
        std::string bytes, utf8, ascii;
    };
    const std::vector<Case> cases = {
        {"plain", "plain", "plain"},
        {"a\x1b[2Jb", "a?[2Jb", "a?[2Jb"},
        {"bell\a\r\n\t", "bell????", "bell????"},
        {"\x7f\x80\xff", "???", "???"},
        {"\xc2\x9b"
         "31m",
         "?31m", "?31m"},  // C1 CSI in UTF-8
        {"caf\xc3\xa9", "caf\xc3\xa9", "caf?"},
        {"\xc3", "?", "?"},                    // cut
        {"\xc0\xaf", "??", "??"},              // overlong
        {"\xed\xa0\x80", "?", "?"},            // surrogate
        {"\xf4\x90\x80\x80", "????", "????"},  // above U+10FFFF
        {"\xe2\x80\xae"
         "gpj",
         "?gpj", "?gpj"},           // right-to-left override
        {"e\xcc\x81", "e?", "e?"},  // combining
        {"\xe6\x97\xa5", "\xe6\x97\xa5", "?"},
    };
    for (const Case& one : cases) {
        CHECK(printable(one.bytes, Charset::Utf8) == one.utf8);
        CHECK(printable(one.bytes, Charset::Ascii) == one.ascii);
    }
    // Where the C library knows them: signs of other scripts that have no width of their own
    const std::string before = std::setlocale(LC_CTYPE, nullptr);
    REQUIRE(std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr);
    CHECK(printable("\xe0\xa5\x81\xd8\x90\xe3\x82\x99", Charset::Utf8) == "???");
    CHECK(printable("\xe6\x97\xa5\xc3\xa9", Charset::Utf8) == "\xe6\x97\xa5\xc3\xa9");
    std::setlocale(LC_CTYPE, before.c_str());
    CHECK(columns_of(U'a') == 1);
    CHECK(columns_of(U'\u65e5') == 2);
}

}  // namespace lattop::test
