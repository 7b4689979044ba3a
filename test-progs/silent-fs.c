/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file system of one file, "memory", a MiB of zeros whatever is written to it, whose
 * server reads requests and answers none once a file of another file system is there: as a
 * server that hangs, or a user who means harm. silent-fs FOLDER -f -o clone_fd ...
 * with the environment's SILENCE the path of that file; FUSE's own options behind.
 */
#define _GNU_SOURCE
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fuse3/fuse.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILE_BYTES = 1 << 20,
    UNANSWERED_READS = 4096 /* that a program may wait for without being stopped */
};

static void* begin(struct fuse_conn_info* connection, struct fuse_config* unused) {
    (void)unused;
    connection->max_background = UNANSWERED_READS;
    return NULL;
}

static int get_attributes(const char* path, struct stat* st, struct fuse_file_info* unused) {
    (void)unused;
    memset(st, 0, sizeof(*st));
    st->st_nlink = 1;
    st->st_mode = S_IFDIR | 0755;
    if (strcmp(path, "/") == 0) return 0;
    st->st_mode = S_IFREG | 0644;
    st->st_size = FILE_BYTES;
    return strcmp(path, "/memory") == 0 ? 0 : -ENOENT;
}

static void answer_or_not(void) {
    while (access(getenv("SILENCE"), F_OK) == 0)
        pause();
}

static int read_zeros(const char* path, char* to, size_t bytes, off_t offset,
                      struct fuse_file_info* unused) {
    (void)path, (void)unused;
    answer_or_not();
    if (offset >= FILE_BYTES) return 0;
    if (bytes > (size_t)(FILE_BYTES - offset)) bytes = (size_t)(FILE_BYTES - offset);
    memset(to, 0, bytes);
    return (int)bytes;
}

static int write_nothing(const char* path, const char* from, size_t bytes, off_t offset,
                         struct fuse_file_info* unused) {
    (void)path, (void)from, (void)offset, (void)unused;
    answer_or_not();
    return (int)bytes;
}

int main(int argc, char** argv) {
    static const struct fuse_operations operations = {
        .init = begin, .getattr = get_attributes, .read = read_zeros, .write = write_nothing};

    if (!getenv("SILENCE")) return 2;
    return fuse_main(argc, argv, &operations, NULL);
}
