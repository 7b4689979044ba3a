// SPDX-License-Identifier: GPL-2.0-or-later
//
// What this process does at a signal, for a while, and what children begin with. For tests of
// what signals do and of what is inherited as ignored.
#pragma once

#include <csignal>

namespace lattop::test {

/// What a signal does, for as long as it lives.
class Disposition {
public:
    Disposition(int number, void (*handler)(int))
        : number_(number), before_(std::signal(number, handler)) {}
    Disposition(const Disposition&) = delete;
    Disposition& operator=(const Disposition&) = delete;
    ~Disposition() { std::signal(number_, before_); }

private:
    int number_;
    void (*before_)(int);
};

}  // namespace lattop::test
