/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks one thing of the module again and again, and each time lets one allocation of it
 * fail, the first, the second and so on to the last, or at most TRIES of them, evenly
 * chosen (/proc/thread-self/fail-nth: a kernel with fault injection). It must be done, or
 * refused with ENOMEM and nothing done, as /proc/modules and the header of a snapshot have it
 * (since_ns, filter, rows in use); and then be done when nothing fails. Says how often which. Of a
 * load, those of the module's. TRIES as 2/4: each of them, in four runs, of which this is the
 * second. With TRIES below 0 it asks so many times and each time any may fail,
 * as debugfs's failslab says of tasks that ask for it. tests/vm/cases/fault-allocations-fail runs
 * it.
 *
 * fail-nth load|unload TRIES KO [PARAMETERS]
 * fail-nth open|text|records|pids|misses|teach|reset|filter TRIES
 */
#include "lesson.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { MORE_THAN_ANY = 1000000000 };

struct subject {
    const char* name;
    void (*prepare)(void);
    long (*ask)(void);
    void (*undo)(void); /* what was done */
    bool (*is_done)(void);
    void (*before_each)(void); /* NULL: nothing */
};

static const char *ko, *parameters;
static int nth_fd, any_fd, opened = -1;
static char* buffer;

static void set_nth(long n) {
    char text[24];

    truth_need(pwrite(nth_fd, text, (size_t)snprintf(text, sizeof(text), "%ld", n), 0), "fail-nth");
}

/* How many allocations would still have been gone by; 0: one has failed. */
static long get_nth(void) {
    char text[24] = "";

    truth_need(pread(nth_fd, text, sizeof(text) - 1, 0), "fail-nth");
    return strtol(text, NULL, 10);
}

static void set_any(bool may_fail) {
    truth_need(pwrite(any_fd, may_fail ? "1" : "0", 1, 0), "make-it-fail");
}

static bool is_loaded(void) {
    char line[256];
    FILE* modules = fopen("/proc/modules", "r");
    bool found = false;

    if (!modules) truth_die("/proc/modules");
    while (fgets(line, sizeof(line), modules))
        found = found || !strncmp(line, "lattop ", 7);
    fclose(modules);
    if (!found && access(LT_PROC_PATH, F_OK) == 0) {
        errno = EEXIST;
        truth_die(LT_PROC_PATH " without the module");
    }
    return found;
}

static bool is_not_loaded(void) {
    return !is_loaded();
}

static int ko_fd;

static void open_ko(void) {
    ko_fd = (int)truth_need(open(ko, O_RDONLY | O_CLOEXEC), ko);
}

static long load(void) {
    return syscall(SYS_finit_module, ko_fd, parameters, 0);
}

/* Allocations of the kernel's own, before the module has its turn: it refuses a parameter first of
 * all. */
static long before_load(void) {
    long n;

    set_nth(MORE_THAN_ANY);
    if (syscall(SYS_finit_module, ko_fd, "hook=no-such-hook", 0) == 0)
        truth_die("hook=no-such-hook: loaded");
    n = MORE_THAN_ANY - get_nth();
    set_nth(0);
    return n;
}

static long unload(void) {
    return syscall(SYS_delete_module, "lattop", 0);
}

static void plainly_unload(void) {
    truth_need(unload(), "delete_module");
}

static void plainly_load(void) {
    truth_need(load(), "finit_module");
}

static void open_ko_and_load(void) {
    open_ko();
    plainly_load();
}

static long open_file(void) {
    return opened = open(LT_PROC_PATH, O_RDWR | O_CLOEXEC);
}

static void close_file(void) {
    close(opened);
    opened = -1;
}

static void open_plainly(void) {
    truth_need(open_file(), LT_PROC_PATH);
}

/* The header of a snapshot of nearly nothing, taken while nothing fails. */
static const struct lt_header* header_now(void) {
    static int fd = -1;

    if (fd < 0) fd = (int)truth_need(truth_open_lattop((uint32_t)getpid()), LT_PROC_PATH);
    return truth_snapshot(fd, buffer, TRUTH_PROCESS_BYTES);
}

static void nothing(void) {}

static bool always(void) {
    return true;
}

static long read_file(void) {
    return pread(opened, buffer, TRUTH_PROCESS_BYTES, 0);
}

static void ask_for_records(void) {
    struct lt_query query = {.size = sizeof(query),
                             .view = LT_VIEW_RECORDS,
                             .limit = LT_MAX_LIMIT,
                             .traces = LT_TRACES_ALL,
                             .uid = LT_UID_ANY};

    open_plainly();
    truth_need(ioctl(opened, LT_IOC_QUERY, &query), "LT_IOC_QUERY");
}

static void check_records(void) {
    truth_snapshot(opened, buffer, TRUTH_PROCESS_BYTES);
}

static long take_misses(void) {
    static struct lt_miss room[LT_MAX_MISSES];
    struct lt_misses misses = {
        .size = sizeof(misses), .n = LT_MAX_MISSES, .event_fd = -1, .misses = (uintptr_t)room};

    return ioctl(opened, LT_IOC_MISSES, &misses);
}

static long ask_for_pids(void) {
    static const uint32_t pids[] = {1, 2, 3};
    struct lt_query query = {.size = sizeof(query),
                             .view = LT_VIEW_RECORDS,
                             .limit = 1,
                             .uid = LT_UID_ANY,
                             .n_pids = 3,
                             .pids = (uintptr_t)pids};

    return ioctl(opened, LT_IOC_QUERY, &query);
}

static char* code;
static pid_t pupil;

static void map_code(void) {
    open_plainly();
    code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED) truth_die("mmap");
}

/* Of an address space that was taught nothing yet: the first lesson of one allocates most. */
static void begin_pupil(void) {
    if (pupil) {
        kill(pupil, SIGKILL);
        waitpid(pupil, NULL, 0);
    }
    pupil = (pid_t)truth_need(fork(), "fork");
    if (pupil) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        pause();
}

static struct lt_teach lesson;

static bool has_rows(void) {
    return header_now()->used[LT_LIMIT_ROWS] > 0;
}

/* The rows of the last one, of whom only its memory was left, have gone. */
static void ready_pupil(void) {
    int tries = 0;

    begin_pupil();
    while (has_rows() && ++tries < TRUTH_TRIES)
        truth_sleep_us(1000);
    if (tries == TRUTH_TRIES) truth_die("rows stay behind their process");
    truth_lesson_for((uint32_t)pupil, &lesson, buffer, TRUTH_PROCESS_BYTES);
}

static long teach(void) {
    static struct lt_row rows[64];
    static struct lt_row_range range;

    for (uint32_t i = 0; i < 64; i++)
        rows[i] =
            (struct lt_row){.pc = (uintptr_t)code + 4 * i, .kind = LT_ROW_SP, .cfa_offset = 8};
    range = (struct lt_row_range){(uintptr_t)code, (uintptr_t)code + 4096};
    lesson.rows = (uintptr_t)rows;
    lesson.n_rows = 64;
    lesson.ranges = (uintptr_t)&range;
    lesson.n_ranges = 1;
    return ioctl(opened, LT_IOC_TEACH, &lesson);
}

static uint64_t since_ns;

static void note_since(void) {
    since_ns = header_now()->since_ns;
}

static long reset(void) {
    return write(opened, "reset", 5);
}

static bool is_reset(void) {
    return header_now()->since_ns != since_ns;
}

static const char filter_command[] = "filter tgid=1,2,3 uid=0,1 cgroup=/ kthreads=no";

static long filter(void) {
    return write(opened, filter_command, sizeof(filter_command) - 1);
}

/* With which all figures begin anew. */
static bool is_filtered(void) {
    const struct lt_header* header = header_now();
    const char* text = buffer + header->section[LT_SEC_STRINGS].offset + header->filter;
    bool filtered = !strcmp(text, filter_command + strlen("filter "));

    if (!filtered && strcmp(text, "none")) {
        errno = EPROTO;
        truth_die("the filter is '%s'", text);
    }
    if (filtered != (header->since_ns != since_ns)) {
        errno = EPROTO;
        truth_die("the filter is '%s', and figures began %s", text, filtered ? "before" : "anew");
    }
    return filtered;
}

static void filter_nothing(void) {
    truth_need(write(opened, "filter none", 11), "filter none");
}

static const struct subject subjects[] = {
    {"load", open_ko, load, plainly_unload, is_loaded, NULL},
    {"unload", open_ko_and_load, unload, plainly_load, is_not_loaded, NULL},
    {"open", nothing, open_file, close_file, always, NULL},
    {"text", open_plainly, read_file, nothing, always, NULL},
    {"records", ask_for_records, read_file, check_records, always, NULL},
    {"pids", open_plainly, ask_for_pids, nothing, always, NULL},
    {"misses", open_plainly, take_misses, nothing, always, NULL},
    {"teach", map_code, teach, nothing, has_rows, ready_pupil},
    {"reset", open_plainly, reset, nothing, is_reset, note_since},
    {"filter", open_plainly, filter, filter_nothing, is_filtered, note_since},
};

/* What was asked for has been done, or refused for want of memory and nothing done. */
static void judge(const struct subject* s, long answer, int error, long n) {
    if (answer >= 0) {
        if (!s->is_done()) truth_die("%s, try %ld: done, but it is not", s->name, n);
        s->undo();
        return;
    }
    errno = error;
    if (error != ENOMEM) truth_die("%s, try %ld", s->name, n);
    if (s->is_done != always && s->is_done())
        truth_die("%s, try %ld: refused, but it is done", s->name, n);
}

static void before_each(const struct subject* s) {
    if (s->before_each) s->before_each();
}

/* Any may fail, each time. */
static void ask_often(const struct subject* s, long tries) {
    long refused = 0;

    for (long n = 1; n <= tries; n++) {
        long answer;
        int error;

        before_each(s);
        set_any(true);
        answer = s->ask();
        error = errno;
        set_any(false);
        judge(s, answer, error, n);
        refused += answer < 0;
    }
    printf("%s, any may fail: %ld of %ld times refused\n", s->name, refused, tries);
    if (refused == 0) {
        errno = ENODATA;
        truth_die("nothing failed");
    }
}

/* One allocation fails; true when there was one. */
static bool fail_one(const struct subject* s, long n, long* done, long* refused) {
    long answer;
    int error;
    bool failed;

    before_each(s);
    set_nth(n);
    answer = s->ask();
    error = errno;
    failed = get_nth() == 0;
    set_nth(0);
    judge(s, answer, error, n);
    if (answer < 0 && !failed) truth_die("%s: refused when nothing failed", s->name);
    *(answer < 0 ? refused : done) += failed;
    return failed;
}

int main(int argc, char** argv) {
    const struct subject* s = subjects;
    const struct subject* end = subjects + sizeof(subjects) / sizeof(*subjects);
    bool any = argc > 2 && argv[2][0] == '-';
    long tries = 0, part = 0, parts = 0, all, first, tried = 0, done = 0, refused = 0;
    double step;

    while (s < end && (argc < 2 || strcmp(s->name, argv[1])))
        s++;
    if (s == end || (s < subjects + 2 && argc < 4)) {
        errno = EINVAL;
        truth_die("fail-nth WHAT TRIES [KO [PARAMETERS]]");
    }
    if (any) argv[2]++;
    if (argc > 2 && strchr(argv[2], '/')) {
        if (sscanf(argv[2], "%ld/%ld", &part, &parts) != 2 || part < 1 || part > parts) {
            errno = EINVAL;
            truth_die("'%s': PART/PARTS, as 2/4", argv[2]);
        }
    } else {
        tries = truth_arg(argc, argv, 2, 100);
    }
    ko = argc > 3 ? argv[3] : "";
    parameters = argc > 4 ? argv[4] : "";
    buffer = malloc(TRUTH_PROCESS_BYTES);
    nth_fd = (int)truth_need(open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC), "fail-nth");
    any_fd = (int)truth_need(open("/proc/self/make-it-fail", O_RDWR | O_CLOEXEC), "make-it-fail");
    s->prepare();
    if (any) {
        ask_often(s, tries);
        return 0;
    }
    /* How many are there? The first time there are some more than later */
    for (int i = 0; i < 2; i++) {
        before_each(s);
        set_nth(MORE_THAN_ANY);
        truth_need(s->ask(), s->name);
        all = MORE_THAN_ANY - get_nth();
        set_nth(0);
        s->undo();
    }
    first = s->ask == load ? before_load() + 1 : 1;
    if (parts) {
        first += part - 1;
        step = (double)parts;
    } else {
        step = all - first >= tries ? (double)(all - first) / (double)tries : 1;
    }
    for (double n = (double)first; n <= (double)all; n += step)
        tried += fail_one(s, (long)n, &done, &refused);
    before_each(s);
    truth_need(s->ask(), s->name);
    if (!s->is_done()) truth_die("%s: not done when nothing fails", s->name);
    s->undo();
    printf(
        "%s: %ld allocations, %ld made to fail: %ld times refused, %ld times done all the same\n",
        s->name, all, tried, refused, done);
    /* A later part of few may have none to fail; all of them, or the first part, has */
    if (tried == 0 && (part < 2 || first <= all)) {
        errno = ENODATA;
        truth_die("nothing failed");
    }
}
