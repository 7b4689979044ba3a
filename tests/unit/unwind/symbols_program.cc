// SPDX-License-Identifier: GPL-2.0-or-later
//
// A program with functions of known names. It prints for each the address of an
// instruction within, one "name address" a line, then waits until its standard
// input ends. Built in several ways for symbolizer_test.
#include <dlfcn.h>
#include <sys/auxv.h>

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

}  // namespace known

extern "C" {
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
    std::fflush(stdout);
    known::Pool pool;
    const int used = pool.take(1) + plain_function(2) + two_names(3);
    while (std::getchar() != EOF) {
    }
    return used == 0 ? 1 : 0;
}
