// SPDX-License-Identifier: GPL-2.0-or-later
//
// See demangle_rust.h: its v0 half. The v0 mangling is a prefix code: one letter
// says what follows, so the name is read once from left to right and printed
// meanwhile. Back references (B) go to an earlier place and may nest so that a
// short name would print for ever: depth and length of the output are bounded.
#include "unwind/demangle_rust.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "unwind/hex.h"

namespace lattop {
namespace {

constexpr int kMaxDepth = 128;
constexpr std::size_t kMaxOutput = 65536;

/// Basic types by their letter, 'a' to 'z'.
constexpr std::array<std::string_view, 26> kBasicTypes = {
    "i8",   "bool", "char", "f64", "str", "f32", "",    "u8", "isize", "usize", "",    "i32", "u32",
    "i128", "u128", "_",    "",    "",    "i16", "u16", "()", "...",   "",      "i64", "u64", "!"};

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}
bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}

class V0 {
public:
    explicit V0(std::string_view text) : text_(text) {}

    std::optional<std::string> run() {
        path(InValue::Yes);
        if (!failed_ && at_ < text_.size() && is_upper(peek())) {
            silent_ = true;  // the crate that it was instantiated in
            path(InValue::No);
        }
        if (failed_ || at_ != text_.size() || out_.empty()) return std::nullopt;
        return std::move(out_);
    }

private:
    enum class InValue { No, Yes };
    struct Identifier {
        std::string_view name;
        bool punycode = false;
        std::uint64_t disambiguator = 0;
    };

    /// Ends a level of nesting, whatever way it is left.
    class Level {
    public:
        explicit Level(V0& reader) : reader_(reader) {
            if (++reader_.depth_ > kMaxDepth) reader_.fail();
        }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;
        ~Level() { --reader_.depth_; }

    private:
        V0& reader_;
    };

    void fail() { failed_ = true; }
    [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    char next() {
        if (at_ >= text_.size()) fail();
        return failed_ ? '\0' : text_[at_++];
    }
    bool eat(char c) {
        if (failed_ || peek() != c) return false;
        ++at_;
        return true;
    }
    void print(std::string_view what) {
        if (silent_ || failed_) return;
        if (out_.size() + what.size() > kMaxOutput) return fail();
        out_ += what;
    }

    /// "_" is 0, "0_" is 1, ...
    std::uint64_t base62() {
        if (eat('_')) return 0;
        constexpr int kMaxDigits = 11;  // of 64 bits
        std::uint64_t value = 0;
        for (int digits = 0; !failed_ && !eat('_'); ++digits) {
            if (digits == kMaxDigits) fail();
            const char c = next();
            std::uint64_t digit = 0;
            if (is_digit(c))
                digit = static_cast<std::uint64_t>(c - '0');
            else if (is_lower(c))
                digit = static_cast<std::uint64_t>(c - 'a' + 10);
            else if (is_upper(c))
                digit = static_cast<std::uint64_t>(c - 'A' + 36);
            else
                fail();
            if (value > (UINT64_MAX - digit) / 62 - 1) fail();
            value = value * 62 + digit;
        }
        return value + 1;
    }

    std::uint64_t optional_base62(char tag) { return eat(tag) ? base62() + 1 : 0; }

    std::size_t decimal() {
        if (!is_digit(peek())) fail();
        if (eat('0')) return 0;
        std::size_t value = 0;
        while (!failed_ && is_digit(peek())) {
            value = value * 10 + static_cast<std::size_t>(next() - '0');
            if (value > text_.size()) fail();
        }
        return value;
    }

    Identifier identifier() {
        Identifier id;
        id.disambiguator = optional_base62('s');
        id.punycode = eat('u');
        const std::size_t bytes = decimal();
        eat('_');
        if (failed_ || bytes > text_.size() - at_) {
            fail();
            return {};
        }
        id.name = text_.substr(at_, bytes);
        at_ += bytes;
        return id;
    }

    void print(const Identifier& id) {
        if (id.punycode) print("punycode{");
        print(id.name);
        if (id.punycode) print("}");
    }

    /// Reads what stands at an earlier place, then goes on behind the reference.
    template <typename Read>
    void back_reference(Read read) {
        const std::size_t here = at_ - 1;
        const std::uint64_t target = base62();
        if (failed_ || target >= here) return fail();
        if (silent_) return;
        const std::size_t behind = at_;
        at_ = static_cast<std::size_t>(target);
        read();
        at_ = behind;
    }

    void skip_impl_path() {
        optional_base62('s');
        const bool was = silent_;
        silent_ = true;
        path(InValue::No);
        silent_ = was;
    }

    void nested_path(InValue in_value) {
        const char space = next();
        if (!is_upper(space) && !is_lower(space)) return fail();
        path(in_value);
        const Identifier id = identifier();
        if (is_lower(space)) {
            if (!id.name.empty()) print("::");
            return print(id);
        }
        print("::{");
        print(space == 'C' ? "closure" : space == 'S' ? "shim" : std::string_view(&space, 1));
        if (!id.name.empty()) {
            print(":");
            print(id);
        }
        print("#" + std::to_string(id.disambiguator) + "}");
    }

    void path(InValue in_value) {
        const Level level(*this);
        if (failed_) return;
        switch (next()) {
            case 'C': print(identifier()); break;
            case 'N': nested_path(in_value); break;
            case 'M':
                skip_impl_path();
                print("<");
                type();
                print(">");
                break;
            case 'X': skip_impl_path(); [[fallthrough]];
            case 'Y':
                print("<");
                type();
                print(" as ");
                path(InValue::No);
                print(">");
                break;
            case 'I':
                path(in_value);
                print(in_value == InValue::Yes ? "::<" : "<");
                list('E', ", ", [this] { generic_argument(); });
                print(">");
                break;
            case 'B': back_reference([this, in_value] { path(in_value); }); break;
            default: fail();
        }
    }

    /// Elements up to `end`; how many.
    template <typename Read>
    std::size_t list(char end, std::string_view separator, Read read) {
        std::size_t n = 0;
        while (!failed_ && !eat(end)) {
            if (n++ != 0) print(separator);
            read();
        }
        return n;
    }

    void generic_argument() {
        if (eat('L'))
            lifetime(base62());
        else if (eat('K'))
            constant();
        else
            type();
    }

    /// 0 is erased; others count binders from the innermost.
    void lifetime(std::uint64_t index) {
        if (index == 0) return print("'_");
        if (index > bound_) return fail();
        const std::uint64_t depth = bound_ - index;
        constexpr std::uint64_t kLetters = 26;
        print("'");
        if (depth < kLetters) {
            const char letter = static_cast<char>('a' + depth);
            print(std::string_view(&letter, 1));
        } else {
            print("_" + std::to_string(depth));
        }
    }

    /// "for<'a, 'b> " and what it holds for.
    template <typename Read>
    void bind(Read read) {
        const std::uint64_t before = bound_;
        const std::uint64_t added = optional_base62('G');
        if (added > kMaxDepth) return fail();
        if (added != 0) {
            print("for<");
            for (std::uint64_t i = 0; i < added; ++i) {
                if (i != 0) print(", ");
                ++bound_;
                lifetime(1);
            }
            print("> ");
        }
        read();
        bound_ = before;
    }

    void reference(std::string_view qualifier) {
        print("&");
        if (eat('L'))
            if (const std::uint64_t index = base62(); index != 0) {
                lifetime(index);
                print(" ");
            }
        print(qualifier);
        type();
    }

    void function() {
        if (eat('U')) print("unsafe ");
        if (eat('K')) {
            print("extern \"");
            if (eat('C')) {
                print("C");
            } else {
                std::string abi(identifier().name);
                std::ranges::replace(abi, '_', '-');
                print(abi);
            }
            print("\" ");
        }
        print("fn(");
        list('E', ", ", [this] { type(); });
        print(")");
        if (eat('u')) return;  // returns ()
        print(" -> ");
        type();
    }

    void dyn_trait() {
        const bool open = trait_path();
        bool first = !open;
        while (!failed_ && eat('p')) {
            print(first ? "<" : ", ");
            first = false;
            print(identifier());
            print(" = ");
            type();
        }
        if (!first) print(">");
    }

    /// A trait's path; whether its list of arguments was left open.
    bool trait_path() {
        const Level level(*this);
        if (failed_) return false;
        if (eat('B')) {
            bool open = false;
            back_reference([this, &open] { open = trait_path(); });
            return open;
        }
        if (!eat('I')) {
            path(InValue::No);
            return false;
        }
        path(InValue::No);
        print("<");
        list('E', ", ", [this] { generic_argument(); });
        return true;
    }

    void dyn_type() {
        print("dyn ");
        bind([this] { list('E', " + ", [this] { dyn_trait(); }); });
        if (!eat('L')) return fail();
        if (const std::uint64_t index = base62(); index != 0) {
            print(" + ");
            lifetime(index);
        }
    }

    void type() {
        const Level level(*this);
        if (failed_) return;
        const char tag = peek();
        if (is_lower(tag)) {
            ++at_;
            const std::string_view name = kBasicTypes.at(static_cast<std::size_t>(tag - 'a'));
            return name.empty() ? fail() : print(name);
        }
        static constexpr std::string_view kOwn = "ASTRQPOFDB";
        if (kOwn.find(tag) == std::string_view::npos || tag == '\0') return path(InValue::No);
        ++at_;
        switch (tag) {
            case 'A':
            case 'S':
                print("[");
                type();
                if (tag == 'A') {
                    print("; ");
                    constant();
                }
                print("]");
                break;
            case 'T': {
                print("(");
                const std::size_t n = list('E', ", ", [this] { type(); });
                print(n == 1 ? ",)" : ")");
                break;
            }
            case 'R': reference(""); break;
            case 'Q': reference("mut "); break;
            case 'P':
                print("*const ");
                type();
                break;
            case 'O':
                print("*mut ");
                type();
                break;
            case 'F': bind([this] { function(); }); break;
            case 'D': dyn_type(); break;
            default: back_reference([this] { type(); });
        }
    }

    /// Numbers, bool and char; other constants are rare and end the reading.
    void constant() {
        const Level level(*this);
        if (failed_) return;
        const char tag = next();
        if (tag == 'B') return back_reference([this] { constant(); });
        if (tag == 'p') return print("_");
        if (!is_lower(tag)) return fail();
        if (eat('n')) print("-");
        std::string_view digits = text_.substr(at_);
        digits = digits.substr(0, digits.find('_'));
        if (digits.size() == text_.size() - at_) return fail();
        at_ += digits.size() + 1;
        if (!is_hex(digits)) return fail();
        constexpr std::size_t kDigits64 = 16;
        if (digits.size() > kDigits64) {
            print("0x");
            return print(digits);
        }
        std::uint64_t value = 0;
        for (const char c : digits)
            value = value * 16 + static_cast<std::uint64_t>(is_digit(c) ? c - '0' : c - 'a' + 10);
        if (tag == 'b') return print(value != 0 ? "true" : "false");
        constexpr std::uint64_t kDelete = 0x7f;
        if (tag == 'c' && value > ' ' && value < kDelete) {
            const char letter = static_cast<char>(value);
            return print("'" + std::string(1, letter) + "'");
        }
        print(std::to_string(value));
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::string out_;
    std::uint64_t bound_ = 0;  // lifetimes of binders around
    int depth_ = 0;
    bool silent_ = false;
    bool failed_ = false;
};

}  // namespace

std::optional<std::string> demangle_rust_v0(std::string_view name) {
    if (!name.starts_with("_R")) return std::nullopt;
    name.remove_prefix(2);
    // What compilers add behind: ".llvm.123", "$suffix".
    name = name.substr(0, name.find_first_of(".$"));
    if (name.empty() || !is_upper(name.front())) return std::nullopt;
    return V0(name).run();
}

}  // namespace lattop
