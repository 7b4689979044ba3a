// SPDX-License-Identifier: GPL-2.0-or-later
//
// Who is left alone by one who looks at processes, and until when, having kept his thread: a
// program, so that it has a sixtieth of the thread's time and no more (or whatever `times` says);
// and its user, since a program that forks is always a new one. Used by ResolverWorker,
// WorkerNamer and ObjectWorker.
//
// A user may have two whole looks of the patience before that is so: what lies on a file server
// that died is one's own misfortune, and his other programs are not to be forgotten for it. Root is
// not counted: it could end who looks.
//
// A program has half a look of the patience: the first look at it, where its files are large or
// slow, is not repeated.
//
// A program is forgotten when what it took is made up for: of looks that take d at least, no more
// than some (times * most + free) / d are remembered, since one thread notes them one by one.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>

#include "lattop/model/program_id.h"
#include "unwind/payer.h"

namespace lattop {

/// What is noted of looks, and how many of the threads that are left behind may be one user's.
struct AloneLimits {
    unsigned times = 60;                             ///< as long as a look took
    std::chrono::steady_clock::duration patience{};  ///< a whole look
    std::chrono::steady_clock::duration most{};      ///< what is noted of one look at most
    std::size_t kept = 8;                            ///< threads: half of all
};

/// May be used by several threads.
class LeftAlone {
public:
    using Time = std::chrono::steady_clock::time_point;
    using Span = std::chrono::steady_clock::duration;

    explicit LeftAlone(const AloneLimits& limits) : limits_(limits) {}

    /// Whether he is ever left alone: not root, nor nobody.
    [[nodiscard]] static bool counts(Payer payer) {
        return payer != kNoPayer && payer != kRootPayer;
    }

    [[nodiscard]] bool program(const ProgramId& program, Time now) const;
    [[nodiscard]] bool user(Payer payer, Time now) const;

    /// Either of them; neither where the payer does not count.
    [[nodiscard]] bool either(const ProgramId& program, Payer payer, Time now) const;

    /// A look took so long, and is over.
    void note(const ProgramId& program, Payer payer, Span took, Time now);

    /// A thread is left behind with the program, which is left alone until through(). As it may
    /// turn out that it cannot be: let_go(), and nothing is noted.
    void keep(const ProgramId& program, Payer payer);
    void let_go(const ProgramId& program);
    void left_behind(Payer payer, Span took, Time now);
    void through(const ProgramId& program, Time now);

private:
    [[nodiscard]] Span program_free() const;
    [[nodiscard]] Span user_free() const;
    void charge(Payer payer, Span took, Time now);
    void add(Time& paid, Span free, Span took, Time now) const;
    void forget_old(Time now);

    const AloneLimits limits_;
    mutable std::mutex lock_;
    std::map<ProgramId, Time> programs_;  // when all that was noted is paid for
    std::map<ProgramId, Payer> kept_;     // at most as many as threads may be
    std::map<Payer, Time> users_;         // as of programs
};

}  // namespace lattop
