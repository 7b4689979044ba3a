// SPDX-License-Identifier: GPL-2.0-or-later
//
// Preloaded into lattop by run.py: a machine with the module loaded, for what
// the real program does with it. /proc/lattop is the file that
// LATTOP_TEST_MODULE names, one snapshot for ever; with LATTOP_TEST_HANG no
// folder of a process can be opened, as where its file system does not answer.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
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

static int open_as(const char *name, const char *path, int flags, mode_t mode)
{
	int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);

	if (strcmp(path, LT_PROC_PATH) == 0)
		path = getenv("LATTOP_TEST_MODULE");
	while (getenv("LATTOP_TEST_HANG") && is_process(path))
		pause();
	return real(path, flags, mode);
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
	return request == LT_IOC_QUERY ? 0 : real(fd, request, to);
}
