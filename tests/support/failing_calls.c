/* read and write that fail with EIO for one file; preloaded. Other calls are passed on to the system. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* The real path of the file, none if it is empty; whether its writes fail or its reads; the number of these so far, and
   from which one on they fail. */
static char failing[4096];
static int fails_writes;
static long n_calls, first_failing;

void fail_calls(const char *path, int writes, long first);
long count_calls(void);

void fail_calls(const char *path, int writes, long first) {
    strncpy(failing, path, sizeof(failing) - 1);
    fails_writes = writes;
    n_calls = 0;
    first_failing = first;
}

long count_calls(void) {
    return n_calls;
}

static int fails(int file, int writes) {
    char link[64], path[4096];
    if (!failing[0] || writes != fails_writes) {
        return 0;
    }
    snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    const ssize_t size = readlink(link, path, sizeof(path) - 1);
    if (size < 0 || (size_t)size != strlen(failing) || memcmp(path, failing, (size_t)size) != 0) {
        return 0;
    }
    if (n_calls++ < first_failing) {
        return 0;
    }
    errno = EIO;
    return 1;
}

ssize_t read(int file, void *out, size_t size) {
    return fails(file, 0) ? -1 : syscall(SYS_read, file, out, size);
}

ssize_t pread64(int file, void *out, size_t size, off_t offset) {
    return fails(file, 0) ? -1 : syscall(SYS_pread64, file, out, size, offset);
}

ssize_t pread(int file, void *out, size_t size, off_t offset) {
    return pread64(file, out, size, offset);
}

ssize_t write(int file, const void *data, size_t size) {
    return fails(file, 1) ? -1 : syscall(SYS_write, file, data, size);
}
