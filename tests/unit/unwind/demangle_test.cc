// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/demangle.h"

#include <fmt/format.h>

#include <atomic>

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

TEST_CASE("names of Rust are demangled in both manglings") {
    const std::vector<std::pair<std::string, std::string>> cases = {
        // v0: examples of RFC 2603 and of the rustc-demangle crate.
        {"_RNvC6_123foo3bar", "123foo::bar"},
        {"_RC3foo.llvm.9D1C9369", "foo"},
        {"_RNvNtNtCs1234_7mycrate3foo3bar3baz", "mycrate::foo::bar::baz"},
        {"_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}"},
        {"_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8Iterator"
         "9rpositionNCNgNpB9_6memchr7memrchrs_0E0Bb_",
         "<core::slice::Iter<u8> as core::iter::iterator::Iterator>::rposition::"
         "<core::slice::memchr::memrchr::{closure#1}>::{closure#0}"},
        {"_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_ECs1iopQbuBi"
         "w2_3std",
         "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>"},
        {"_RMC0INtC8arrayvec8ArrayVechKj7b_E", "<arrayvec::ArrayVec<u8, 123>>"},
        {"_RINvC3foo3barTReOhPlENtB2_3BazE", "foo::bar::<(&str, *mut u8, *const i32), foo::Baz>"},
        {"_RINvC3foo3barFUKCjEuE", "foo::bar::<unsafe extern \"C\" fn(usize)>"},
        {"_RINvC3foo3barAhj10_E", "foo::bar::<[u8; 16]>"},
        // What is none stays as it is.
        {"_R", "_R"},
        {"_RNvC6_123foo3ba", "_RNvC6_123foo3ba"},
        {"_RNvC99999999999999999999a1b", "_RNvC99999999999999999999a1b"},
        {"_RMC0B_", "_RMC0B_"},
        // The old one.
        {"_ZN3std2io5stdio6_print17h0123456789abcdefE", "std::io::stdio::_print"},
        {"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar"
         "17h930b740aa94f1d3aE",
         "<Test + 'static as foo::Bar<Test>>::bar"},
        {"_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE",
         "core::ptr::drop_in_place<alloc::string::String>"},
    };
    for (const auto& [mangled, name] : cases)
        CHECK(demangle(mangled) == name);
    CHECK(demangle(
              "_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE.llvm."
              "123") == "core::ptr::drop_in_place<alloc::string::String>");
    CHECK(demangle("_Z4waitv.llvm.123") == "wait() [clone .llvm.123]");
}

TEST_CASE("numbers of Rust names are not longer than they need be") {
    CHECK(demangle("_RINvC1a1bB0_E") == "a::b::<a::b>");
    const std::string zeros = "_RINvC1a1bB" + std::string(11, '0') + "_E";
    CHECK(demangle(zeros) == "a::b::<a::b>");
    CHECK(demangle("_RINvC1a1bB" + std::string(12, '0') + "_E").starts_with("_R"));
}

TEST_CASE("hostile Rust names cost neither stack nor time") {
    for (const std::string& part :
         {std::string("T"), std::string("INvC1a1b"), std::string("Y"), std::string("NCNgC1a1b0")}) {
        std::string name = "_RMC0";
        while (name.size() < 8000)
            name += part;
        CHECK(demangle(name) == name);
    }
    // Each tuple is twice the one before it.
    const auto base62 = [](std::size_t value) {
        static constexpr std::string_view kDigits =
            "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        std::string text = "_";
        for (std::size_t rest = value - 1; rest != 0 || text.size() == 1; rest /= kDigits.size())
            text.insert(text.begin(), kDigits.at(rest % kDigits.size()));
        return "B" + text;
    };
    std::string name = "MC0T";
    std::size_t before = name.size();
    name += "TuuE";
    for (int i = 0; i < 60; ++i) {
        const std::size_t here = name.size();
        name += "T" + base62(before) + base62(before) + "E";
        before = here;
    }
    CHECK(demangle("_R" + name + "E") == "_R" + name + "E");
}

TEST_CASE("hostile names cost neither stack nor time") {
    for (const std::string& part : {std::string("P"), std::string("N"), std::string("I")}) {
        std::string name = "_Z1f";
        while (name.size() < 100'000)
            name += part;
        CHECK(demangle(name) == name.substr(0, 8192));
        name.resize(8000);
        CHECK(!demangle(name).empty());
    }
}

TEST_CASE("C++ names that would be read for ever stay as they are") {
    // Conversions to a template's parameter within one another: each is read twice.
    std::string type = "i";
    for (int i = 0; i < 60; ++i)
        type = "N1AcvT_I" + type + "EE";
    CHECK(demangle("_Z" + type) == "_Z" + type);
    CHECK(demangle("_ZN1AcvT_IiEEv") != "_ZN1AcvT_IiEEv");
}

TEST_CASE("C++ names whose parameter packs would be looked for for ever stay as they are") {
    // Each function type has the one before it twice: nothing is printed until all are looked into.
    constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string name = "_Z1fDp" + std::string(36, 'F') + "1aS_E";
    for (const char digit : kDigits.substr(0, 35))
        name += fmt::format("S{}_E", digit);
    CHECK(demangle_at_once(name) == name);
    CHECK(demangle_at_once("_ZN2ns4Pool4takeEi") == "ns::Pool::take(int)");
    CHECK(demangle_at_once("_ZN4core3fmt17h0123456789abcdefE") == "core::fmt");
    CHECK(demangle_at_once("_Z1fRKSt6vectorIiSaIiEE").find('<') != std::string::npos);
    CHECK(demangle_at_once("_Z1fIiEvT_") == "_Z1fIiEvT_");
    CHECK(demangle_at_once("_Z1fIiEv3STAT0_") == "_Z1fIiEv3STAT0_");
    const std::string letters = "_Z" + std::string(8000, 'S');
    CHECK(demangle_at_once(letters) == letters);
    CHECK(demangle_at_once(letters + "_") == letters + "_");
    CHECK(demangle("_Z1fIiEvT_") == "void f<int>(int)");
}

TEST_CASE("C++ names that would print for ever stay as they are") {
    // Parameters of type A<T, T>, T being that of the one before: each is twice as long.
    const auto doubled = [](std::size_t times) {
        constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        std::string name = "_Z1f1AIiiE";
        for (const char digit : kDigits.substr(0, times))
            name += fmt::format("S_IS{0}_S{0}_E", digit);
        return name;
    };
    CHECK(demangle(doubled(1)) == "f(A<int, int>, A<A<int, int>, A<int, int> >)");
    CHECK(demangle(doubled(8)).size() > 4000);
    CHECK(demangle(doubled(36)) == doubled(36));
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

TEST_CASE("what a bounded cache expects has its room at once, and counts as held") {
    std::atomic<std::size_t> held = 0;
    BoundedCache<int, std::string> cache(10, &held);
    cache.put(1, "one", 4);
    cache.put(2, "two", 4);
    cache.expect(6);
    CHECK(cache.size() == 1);
    CHECK(held == 10);
    cache.put(3, "three", 5);
    CHECK(cache.size() == 2);
    CHECK(held == 9);
    cache.expect(10);
    CHECK(cache.size() == 0);
    CHECK(held == 10);
    cache.expect(0);
    CHECK(held == 0);
}

}  // namespace lattop::test
