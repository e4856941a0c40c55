/* error.h - the one error idiom of the tracer.
 *
 * A function that can fail returns `struct wsdbg_error *`, NULL = success, and gives its results through
 * pointers that come last.  On error the results are untouched.  The caller owns the error and destroys it
 * or passes it up; only tracer/cmd prints.  Out of memory is a static object, so reporting it cannot fail.
 */
#ifndef WSDBG_BASE_ERROR_H
#define WSDBG_BASE_ERROR_H

enum wsdbg_error_code {
    WSDBG_ERROR_OTHER = 1,
    WSDBG_ERROR_NO_MEMORY,
    WSDBG_ERROR_OS,        /* a system call failed; the message ends with strerror */
    WSDBG_ERROR_NOT_FOUND, /* a named thing is not there */
    WSDBG_ERROR_BAD_INPUT, /* a file or argument is not what it must be */
    WSDBG_ERROR_VERSION,   /* made by another version */
    WSDBG_ERROR_BUSY,
    WSDBG_ERROR_FOREIGN, /* another user's, and not to be trusted */
};

struct wsdbg_error;

/* The only error that needs no memory. */
extern struct wsdbg_error wsdbg_error_no_memory;

/* A new error with a printf-style message: one line, naming the input, the place and the reason. */
struct wsdbg_error *wsdbg_error_create(enum wsdbg_error_code code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same with ": " and strerror(os_errno) appended; code WSDBG_ERROR_OS. */
struct wsdbg_error *wsdbg_error_os(int os_errno, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "prefix: " before the message; returns `error` (or NULL for NULL). */
struct wsdbg_error *wsdbg_error_prefix(struct wsdbg_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Frees; NULL and the static error are fine. */
void wsdbg_error_destroy(struct wsdbg_error *error);

/* The message lives as long as the error. */
const char *wsdbg_error_message(const struct wsdbg_error *error);
enum wsdbg_error_code wsdbg_error_code(const struct wsdbg_error *error);

#endif
