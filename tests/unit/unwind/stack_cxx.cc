// SPDX-License-Identifier: GPL-2.0-or-later
//
// main > outer > inner > a way to block that C++ has. See stack_program.c.
//
//     stack_cxx virtual|cleanup|catch|mutex|condition|lambda
//
// mutex and condition block in a futex, the others reading standard input.
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>

namespace {

const char* way;

template <typename T>
void use(T& value) {
    asm volatile("" : : "r"(&value) : "memory");
}

[[gnu::noinline, gnu::noclone]] long block() {
    char byte;
    long n = ::read(STDIN_FILENO, &byte, 1);
    use(n);
    return n;
}

struct Shape {
    virtual ~Shape() = default;
    virtual long area() = 0;
};

struct Square final : Shape {
    [[gnu::noinline]] long area() override {
        long n = block();
        use(n);
        return n;
    }
};

/// Blocks as the stack is unwound past it.
struct Guard {
    [[gnu::noinline]] ~Guard() {
        long n = block();
        use(n);
    }
};

[[gnu::noinline, gnu::noclone]] long fail() {
    throw std::runtime_error("as asked");
}

[[gnu::noinline, gnu::noclone]] long with_cleanup() {
    const Guard guard;
    long n = fail();
    use(n);
    return n;
}

[[gnu::noinline, gnu::noclone]] long with_catch() {
    try {
        return fail();
    } catch (const std::exception& error) {
        long n = block();
        use(n);
        return n;
    }
}

[[gnu::noinline, gnu::noclone]] long in_virtual(Shape& shape) {
    long n = shape.area();
    use(n);
    return n;
}

[[gnu::noinline, gnu::noclone]] long in_function(const std::function<long()>& function) {
    long n = function();
    use(n);
    return n;
}

[[gnu::noinline, gnu::noclone]] long on_mutex() {
    std::timed_mutex mutex;
    const std::lock_guard lock(mutex);
    long n = mutex.try_lock_for(std::chrono::hours(1)) ? 1 : 0;
    use(n);
    return n;
}

[[gnu::noinline, gnu::noclone]] long on_condition() {
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock lock(mutex);
    never.wait(lock);
    use(mutex);
    return 0;
}

bool is(const char* name) {
    return std::strcmp(way, name) == 0;
}

[[gnu::noinline, gnu::noclone]] long inner() {
    long n = 0;
    if (is("cleanup")) {
        try {
            n = with_cleanup();
        } catch (const std::exception&) {
            n = 2;
        }
    } else if (is("catch")) {
        n = with_catch();
    } else if (is("mutex")) {
        n = on_mutex();
    } else if (is("condition")) {
        n = on_condition();
    } else if (is("lambda")) {
        n = in_function([] { return block(); });
    } else {
        const std::unique_ptr<Shape> shape = std::make_unique<Square>();
        use(shape);
        n = in_virtual(*shape);
    }
    use(n);
    return n;
}

[[gnu::noinline, gnu::noclone]] long outer() {
    long n = inner();
    use(n);
    return n;
}

}  // namespace

int main(int argc, char** argv) {
    way = argc > 1 ? argv[1] : "virtual";
    return outer() < 0 ? 1 : 0;
}
