/* sanitizer_stub.c - what a sanitizer's runtime shows of itself: LeakSanitizer its name; with LINKED_IN the functions of
 * the C library for which GCC's runtimes stand in, without a name, as when they are linked into the program. */
#ifndef LINKED_IN

__attribute__((visibility("default"))) void __lsan_init(void);
void __lsan_init(void)
{
}

#else

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("default"))) void *memcpy(void *to, const void *from, size_t bytes)
{
    volatile unsigned char *out = to;
    for (size_t i = 0; i < bytes; i++)
        out[i] = ((const unsigned char *)from)[i];
    return to;
}

__attribute__((visibility("default"))) int strncmp(const char *a, const char *b, size_t bytes)
{
    for (; bytes > 0; bytes--, a++, b++)
        if (*a != *b || *a == '\0')
            return (unsigned char)*a - (unsigned char)*b;
    return 0;
}

__attribute__((visibility("default"))) ssize_t read(int fd, void *out, size_t bytes)
{
    return syscall(SYS_read, fd, out, bytes);
}

#endif
