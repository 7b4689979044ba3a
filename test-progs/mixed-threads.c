/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process of root's whose threads are somebody each. mixed-threads UID UID: for each line that it
 * reads a thread is born, becomes what the line says, sleeps three times, says so and ends:
 *
 *	a	the first user, who may look at it
 *	b	the second one
 *	cap	the first, with a privilege
 *	hidden	the first, not dumpable
 *	root	what the process is
 *
 * "end" ends it.
 *
 * tests/vm/cases/security-merged runs it.
 */
#include "truth.h"

#include <linux/capability.h>
#include <pthread.h>
#include <sys/prctl.h>

static long users[2];

/* By the system calls themselves: the C library's would make all threads so. */
static void become(long id, int dumpable) {
    truth_need(syscall(SYS_setresgid, id, id, id), "setresgid");
    truth_need(syscall(SYS_setresuid, id, id, id), "setresuid");
    truth_need(prctl(PR_SET_DUMPABLE, dumpable), "PR_SET_DUMPABLE");
}

static void become_privileged(long id) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{.permitted = 1U << CAP_NET_RAW}, {0}};

    truth_need(prctl(PR_SET_KEEPCAPS, 1), "PR_SET_KEEPCAPS");
    become(id, 1);
    truth_need(syscall(SYS_capset, &header, data), "capset");
    truth_need(prctl(PR_SET_DUMPABLE, 1), "PR_SET_DUMPABLE");
}

static void* be(void* how) {
    const char* who = how;

    if (!strcmp(who, "a"))
        become(users[0], 1);
    else if (!strcmp(who, "b"))
        become(users[1], 1);
    else if (!strcmp(who, "cap"))
        become_privileged(users[0]);
    else if (!strcmp(who, "hidden"))
        become(users[0], 0);
    for (int i = 0; i < 3; i++)
        truth_sleep_us(10000);
    return NULL;
}

int main(int argc, char** argv) {
    char line[16];
    pthread_t thread;

    users[0] = truth_arg(argc, argv, 1, 30001);
    users[1] = truth_arg(argc, argv, 2, 30002);
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (!strcmp(line, "end")) break;
        truth_need0(pthread_create(&thread, NULL, be, line), "pthread_create");
        pthread_join(thread, NULL);
        printf("ended %s\n", line);
        fflush(stdout);
    }
}
