/* error.c - see error.h.  Reads nothing, writes nothing: errors are plain heap objects. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wsdbg_error {
    enum wsdbg_error_code code;
    char *message;
};

static char no_memory_text[] = "out of memory";
struct wsdbg_error wsdbg_error_no_memory = {WSDBG_ERROR_NO_MEMORY, no_memory_text};

/* Takes ownership of message (NULL = it could not be made). */
static struct wsdbg_error *error_take(enum wsdbg_error_code code, char *message)
{
    struct wsdbg_error *error = message ? malloc(sizeof *error) : NULL;
    if (!error) {
        free(message);
        return &wsdbg_error_no_memory;
    }
    *error = (struct wsdbg_error){code, message};
    return error;
}

static char *format_message(const char *format, va_list arguments)
{
    char *message = NULL;
    return vasprintf(&message, format, arguments) < 0 ? NULL : message;
}

struct wsdbg_error *wsdbg_error_create(enum wsdbg_error_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *message = format_message(format, arguments);
    va_end(arguments);
    return error_take(code, message);
}

struct wsdbg_error *wsdbg_error_os(int os_errno, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *message = format_message(format, arguments);
    va_end(arguments);
    char *whole = NULL;
    if (message && asprintf(&whole, "%s: %s", message, strerror(os_errno)) < 0)
        whole = NULL;
    free(message);
    return error_take(WSDBG_ERROR_OS, whole);
}

struct wsdbg_error *wsdbg_error_prefix(struct wsdbg_error *error, const char *format, ...)
{
    if (!error || error == &wsdbg_error_no_memory)
        return error;
    va_list arguments;
    va_start(arguments, format);
    char *prefix = format_message(format, arguments);
    va_end(arguments);
    char *whole = NULL;
    if (prefix && asprintf(&whole, "%s: %s", prefix, error->message) >= 0) {
        free(error->message);
        error->message = whole;
    }
    free(prefix);
    return error;
}

void wsdbg_error_destroy(struct wsdbg_error *error)
{
    if (!error || error == &wsdbg_error_no_memory)
        return;
    free(error->message);
    free(error);
}

const char *wsdbg_error_message(const struct wsdbg_error *error)
{
    return error->message;
}

enum wsdbg_error_code wsdbg_error_code(const struct wsdbg_error *error)
{
    return error->code;
}
