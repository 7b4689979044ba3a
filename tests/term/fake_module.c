// SPDX-License-Identifier: GPL-2.0-or-later
//
// Preloaded into lattop by run.py: a machine with the module loaded, for what
// the real program does with it. /proc/lattop is the file that
// LATTOP_TEST_MODULE names, one snapshot until somebody writes another one into it;
// with LATTOP_TEST_HANG=all no folder of a process can be opened, with a pid in place of "all"
// that one's alone cannot, as where its file system does not answer. With LATTOP_TEST_NO_ROOM what
// was written finds no room when it is stored, as over NFS. While the file that LATTOP_TEST_NO_MEMORY names is there, /proc/lattop
// has no memory for a query nor for a snapshot. Users are called user-UID after
// LATTOP_TEST_USERS milliseconds each, or with "never" in place of a number the name
// service does not answer.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "module/uapi/lattop.h"

static int is_process(const char *path)
{
	static const char proc[] = "/proc/";

	return strncmp(path, proc, sizeof(proc) - 1) == 0 && path[sizeof(proc) - 1] >= '1' &&
	       path[sizeof(proc) - 1] <= '9';
}

/* Whether whoever opens it waits for ever. */
static int hangs(const char *path)
{
	const char *who = getenv("LATTOP_TEST_HANG");
	size_t before = sizeof("/proc/") - 1;

	if (!who || !is_process(path))
		return 0;
	return strcmp(who, "all") == 0 ||
	       (strncmp(path + before, who, strlen(who)) == 0 && strchr("/", path[before + strlen(who)]));
}

static char of_module[1024];	// by descriptor: some thread may have one of its own

static int no_memory(int fd)
{
	const char *name = getenv("LATTOP_TEST_NO_MEMORY");

	if (fd < 0 || fd >= (int)sizeof(of_module) || !of_module[fd] || !name || access(name, F_OK) != 0)
		return 0;
	errno = ENOMEM;
	return 1;
}

static int open_as(const char *name, const char *path, int flags, mode_t mode)
{
	int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);
	int module = strcmp(path, LT_PROC_PATH) == 0;
	int fd;

	while (hangs(path))
		pause();
	fd = real(module ? getenv("LATTOP_TEST_MODULE") : path, flags, mode);
	if (fd >= 0 && fd < (int)sizeof(of_module))
		of_module[fd] = module;
	return fd;
}

int open(const char *path, int flags, ...)
{
	va_list rest;
	mode_t mode;

	va_start(rest, flags);
	mode = va_arg(rest, mode_t);
	va_end(rest);
	return open_as("open", path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	va_list rest;
	mode_t mode;

	va_start(rest, flags);
	mode = va_arg(rest, mode_t);
	va_end(rest);
	return open_as("open64", path, flags, mode);
}

int ioctl(int fd, unsigned long request, ...)
{
	int (*real)(int, unsigned long, ...) = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
	va_list rest;
	void *to;

	va_start(rest, request);
	to = va_arg(rest, void *);
	va_end(rest);
	if (request == LT_IOC_QUERY)
		return no_memory(fd) ? -1 : 0;
	return real(fd, request, to);
}

ssize_t pread(int fd, void *into, size_t bytes, off_t offset)
{
	ssize_t (*real)(int, void *, size_t, off_t) =
		(ssize_t (*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");

	return no_memory(fd) ? -1 : real(fd, into, bytes, offset);
}

int fsync(int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");

	if (!getenv("LATTOP_TEST_NO_ROOM"))
		return real(fd);
	errno = EDQUOT;
	return -1;
}

int getpwuid_r(uid_t uid, struct passwd *entry, char *buffer, size_t bytes, struct passwd **found)
{
	int (*real)(uid_t, struct passwd *, char *, size_t, struct passwd **) =
		(int (*)(uid_t, struct passwd *, char *, size_t, struct passwd **))dlsym(RTLD_NEXT, "getpwuid_r");
	const char *after = getenv("LATTOP_TEST_USERS");

	if (!after)
		return real(uid, entry, buffer, bytes, found);
	while (strcmp(after, "never") == 0)
		pause();
	usleep(1000 * (unsigned int)atoi(after));
	snprintf(buffer, bytes, "user-%u", uid);
	*entry = (struct passwd){ .pw_name = buffer, .pw_uid = uid };
	*found = entry;
	return 0;
}
