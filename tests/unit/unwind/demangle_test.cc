// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/demangle.h"

#include "tests/unit/support/catch.h"
#include "unwind/bounded_cache.h"

namespace lattop::test {

TEST_CASE("names are demangled, what is not mangled stays") {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"main", "main"},
        {"", ""},
        {"_Z", "_Z"},
        {"_ZN5known4Pool4takeEi", "known::Pool::take(int)"},
        {"_ZN3std6thread4park17h0123456789abcdefE", "std::thread::park"},
        {"_ZNKSt6vectorIiSaIiEE4sizeEv", "std::vector<int, std::allocator<int> >::size() const"},
        {"_ZN5known4PoolX", "_ZN5known4PoolX"},
    };
    for (const auto& [mangled, name] : cases)
        CHECK(demangle(mangled) == name);
}

TEST_CASE("hostile names cost neither stack nor time") {
    for (const std::string& part : {std::string("P"), std::string("N"), std::string("I")}) {
        std::string name = "_Z1f";
        while (name.size() < 100'000)
            name += part;
        CHECK(demangle(name) == name);
        name.resize(8000);
        CHECK(!demangle(name).empty());
    }
}

TEST_CASE("a bounded cache drops what was used least recently") {
    BoundedCache<int, std::string> cache(10);
    cache.put(1, "one", 4);
    cache.put(2, "two", 4);
    REQUIRE(cache.find(1) != nullptr);
    cache.put(3, "three", 4);
    CHECK(cache.find(2) == nullptr);
    CHECK(*cache.find(1) == "one");
    CHECK(cache.cost() == 8);

    cache.put(4, "larger than all", 100);
    CHECK(cache.size() == 1);
    CHECK(*cache.find(4) == "larger than all");

    cache.put(4, "again", 1);
    CHECK(cache.cost() == 1);
    cache.erase(4);
    cache.erase(4);
    CHECK(cache.size() == 0);
    CHECK(cache.peek(4) == nullptr);
}

}  // namespace lattop::test
