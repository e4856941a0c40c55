/* memory.c - see memory.h.
 *
 * The flag belongs to the whole process, as its memory does.
 */
#include "base/memory.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic bool has_failed;

struct wsdbg_error *wsdbg_memory_error(void)
{
    return atomic_exchange(&has_failed, false) ? &wsdbg_error_no_memory : NULL;
}

static void *seen(void *memory, bool wanted)
{
    if (!memory && wanted)
        has_failed = true;
    return memory;
}

/* `used`: the linker takes them for nobody's where it optimises the whole program. */
#define WRAPPED __attribute__((used))

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
int __real_vasprintf(char **out, const char *format, va_list arguments);
FILE *__real_open_memstream(char **text, size_t *size);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t size);
int __wrap_vasprintf(char **out, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
int __wrap_asprintf(char **out, const char *format, ...) __attribute__((format(printf, 2, 3)));
FILE *__wrap_open_memstream(char **text, size_t *size);

WRAPPED void *__wrap_malloc(size_t size)
{
    return seen(__real_malloc(size), size > 0);
}

WRAPPED void *__wrap_calloc(size_t count, size_t size)
{
    return seen(__real_calloc(count, size), count > 0 && size > 0);
}

WRAPPED void *__wrap_realloc(void *old, size_t size)
{
    return seen(__real_realloc(old, size), size > 0);
}

WRAPPED void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
    return seen(__real_reallocarray(old, count, size), count > 0 && size > 0);
}

WRAPPED char *__wrap_strdup(const char *text)
{
    return seen(__real_strdup(text), true);
}

WRAPPED char *__wrap_strndup(const char *text, size_t size)
{
    return seen(__real_strndup(text, size), true);
}

WRAPPED int __wrap_vasprintf(char **out, const char *format, va_list arguments)
{
    const int length = __real_vasprintf(out, format, arguments);
    if (length < 0) {
        *out = NULL;
        has_failed = true;
    }
    return length;
}

WRAPPED int __wrap_asprintf(char **out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = __wrap_vasprintf(out, format, arguments);
    va_end(arguments);
    return length;
}

WRAPPED FILE *__wrap_open_memstream(char **text, size_t *size)
{
    return seen(__real_open_memstream(text, size), true);
}
