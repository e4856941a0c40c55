/* fuzz_lint_input.c - any bytes as a file that `wsdbg lint` is given, to the images that are found in it. */
#include "fuzz/fuzz_targets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lint/input.h"

/* No two parts share a byte: together they are no longer than the file. */
struct seen {
    uint64_t bytes;
};

static struct wsdbg_error *read_span(void *context, uint64_t offset, void *out, size_t byte_count)
{
    return wsdbg_file_span_read(context, offset, out, byte_count);
}

static void read_entries(struct wsdbg_file_span *span)
{
    const struct wsdbg_fatbin_source source = {span, span->byte_count, read_span};
    struct wsdbg_fatbin_entry entry;
    uint64_t offset = 0, stored_at = 0;
    bool found = true;
    struct wsdbg_error *error = NULL;
    while (!(error = wsdbg_fatbin_next_of(&source, &offset, &entry, &stored_at, &found)) && found)
        if (stored_at > span->byte_count || entry.stored.byte_count > span->byte_count - stored_at)
            abort();
    wsdbg_error_destroy(error);
}

static struct wsdbg_error *see_part(void *context, const struct wsdbg_lint_part *part, uint64_t file_bytes)
{
    struct seen *seen = context;
    volatile unsigned char last = 0;
    struct wsdbg_file_span span = part->span;
    seen->bytes += span.byte_count;
    if (span.first > file_bytes || span.byte_count > file_bytes - span.first || seen->bytes > file_bytes)
        abort();
    for (size_t i = 0; i < part->bytes.byte_count; i++)
        last = part->bytes.bytes[i];
    (void)last;
    if (part->form == WSDBG_LINT_FATBIN)
        read_entries(&span);
    return NULL;
}

static void see_left_out(void *context, const char *name, struct wsdbg_error *error)
{
    (void)context;
    (void)name;
    wsdbg_error_destroy(error);
}

int fuzz_one_input(const uint8_t *bytes, size_t count)
{
    char path[64];
    struct seen seen = {0};
    size_t parts = 0;
    const struct wsdbg_lint_input_visitor visitor = {&seen, NULL, see_part, see_left_out};
    const int file = memfd_create("input", MFD_CLOEXEC);
    if (file < 0)
        return 0;
    if (write(file, bytes, count) == (ssize_t)count) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        wsdbg_error_destroy(wsdbg_lint_input_walk(path, &visitor, &parts));
    }
    close(file);
    return 0;
}
