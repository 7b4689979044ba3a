// SPDX-License-Identifier: GPL-2.0-or-later
//
// A program with functions of known names. It prints for each the address of an
// instruction within, one "name address" a line, then waits until its standard
// input ends. Built in several ways for symbolizer_test.
#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>

namespace known {

struct Pool {
    __attribute__((noinline)) int take(int n);
};

// A line table has entries inside: the address asked for is behind the first.
int Pool::take(int n) {
    volatile int sum = n;
    sum = sum + 1;
    return sum;  // line_of_take
}

std::uintptr_t merged_pc;

// Its code is in merging() alone; the place is behind the first instruction.
[[gnu::always_inline]] inline int merged(int n) {
    std::uintptr_t here = 0;
    __asm__ volatile("lea 0(%%rip), %0" : "=r"(here));
    merged_pc = here;
    volatile int sum = n;
    return sum + 4;
}

[[gnu::noinline]] int merging(int n) {
    volatile int sum = merged(n);
    return sum;
}

// A lambda is a function of a type that is local to within(), with code of its own.
[[gnu::noinline]] int within(int n) {
    const auto apart = [](int m) __attribute__((noinline)) {
        volatile int sum = merged(m);
        return sum;
    };
    return apart(n);
}

int queue_lock[4];  // begins as zeros: not in the file

}  // namespace known

// Labels without a size before, in and behind a function that has one, and a byte that is in none.
__asm__(
    ".pushsection .text.labels, \"ax\", @progbits\n"
    "label_before: nop\n nop\n"
    ".type sized_function, @function\n"
    "label_at_it:\n"
    "sized_function: nop\n"
    "label_in_it: nop\n nop\n"
    ".size sized_function, . - sized_function\n"
    "nop\n"
    ".type \"$s4main4waityyF\", @function\n"
    "\"$s4main4waityyF\": nop\n nop\n"
    ".size \"$s4main4waityyF\", 2\n"
    ".popsection\n");

extern "C" {
__attribute__((visibility("hidden"))) extern const char label_before[];

__attribute__((visibility("default"))) int shared_lock = 1;

__attribute__((noinline, visibility("default"))) int plain_function(int n) {
    volatile int sum = n;
    return sum + 2;
}

__attribute__((noinline, visibility("default"))) int __two_names(int n) {
    volatile int sum = n;
    return sum + 3;
}
int two_names(int n) __attribute__((alias("__two_names"), visibility("default")));
}

int main() {
    int (known::Pool::*take)(int) = &known::Pool::take;
    std::uintptr_t take_address = 0;
    __builtin_memcpy(&take_address, &take, sizeof(take_address));
    std::printf("take %lx\n", static_cast<unsigned long>(take_address));
    std::printf("plain %lx\n",
                static_cast<unsigned long>(reinterpret_cast<std::uintptr_t>(&plain_function)));
    std::printf("alias %lx\n",
                static_cast<unsigned long>(reinterpret_cast<std::uintptr_t>(&__two_names)));
    // Not &std::puts: without PIE that is the program's own stub.
    void* puts_address = ::dlsym(RTLD_DEFAULT, "puts");
    std::printf("libc %lx\n",
                static_cast<unsigned long>(reinterpret_cast<std::uintptr_t>(puts_address)));
    std::printf("vdso %lx\n", ::getauxval(AT_SYSINFO_EHDR));
    known::Pool pool;
    const int used = pool.take(1) + plain_function(2) + two_names(3) + known::merging(4);
    std::printf("merged %lx\n", static_cast<unsigned long>(known::merged_pc));
    const int more = known::within(5);
    std::printf("lambda %lx\n", static_cast<unsigned long>(known::merged_pc));
    std::printf("labels %lx\n",
                static_cast<unsigned long>(reinterpret_cast<std::uintptr_t>(&label_before[0])));
    constexpr std::size_t kPage = 4096;
    void* jit = ::mmap(nullptr, kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::printf("jit %lx\n", static_cast<unsigned long>(reinterpret_cast<std::uintptr_t>(jit)));
    std::printf("zeros %lx\n", static_cast<unsigned long>(
                                   reinterpret_cast<std::uintptr_t>(&known::queue_lock[2])));
    std::printf("data %lx\n",
                static_cast<unsigned long>(reinterpret_cast<std::uintptr_t>(&shared_lock)));
    std::printf("stdout %lx\n",
                static_cast<unsigned long>(reinterpret_cast<std::uintptr_t>(stdout)));
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    return used + more == 0 ? 1 : 0;
}
