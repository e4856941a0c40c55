/* preload.c - a library that replaces the PTX of a program's modules before the driver gets them.
 *
 * It must come first in LD_PRELOAD, before the observer, so that the observer sees the module that runs.  The program
 * `mutated` starts another program that way.
 *
 * - WSDBG_MUTATE_OF, WSDBG_MUTATE_PTX: two files.  A module with the PTX of the first gets the PTX of the second.  The
 *   second may be a cubin for a GPU.
 * - WSDBG_MUTATE_PICK, WSDBG_MUTATE_KERNEL, WSDBG_MUTATE_THREADS: what `mutate` takes as --pick, --kernel, --threads.
 *   The first module that has this mutant gets it.
 * - WSDBG_MUTATE_DUMP: a folder.  It gets the PTX of each module as NUMBER.ptx.
 * - WSDBG_MUTATE_LOG: a file.  It gets lines about each module: whether it was replaced, or why not.
 *
 * Reads: the images that modules and libraries are loaded from.  Writes: that folder and that file.  A module whose
 * PTX cannot be read is loaded unchanged.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image.h"
#include "mutants.h"
#include "preload.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned module_count;

static void say(unsigned number, const char *format, ...)
{
    const char *path = getenv("WSDBG_MUTATE_LOG");
    char line[512];
    const int head = snprintf(line, sizeof line, "%d module %u: ", (int)getpid(), number);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + head, sizeof line - (size_t)head - 1, format, arguments);
    va_end(arguments);
    strcat(line, "\n");
    const int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    if (file >= 0) {
        if (write(file, line, strlen(line)) < 0)
            errno = 0;
        close(file);
    }
}

static void dump(unsigned number, const char *ptx)
{
    const char *folder = getenv("WSDBG_MUTATE_DUMP");
    char path[4096];
    if (!folder || snprintf(path, sizeof path, "%s/%u.ptx", folder, number) >= (int)sizeof path)
        return;
    FILE *file = fopen(path, "wbe");
    if (file) {
        fputs(ptx, file);
        fclose(file);
    }
}

/* This module's PTX with the mutant that the environment picks; NULL: it has no such mutant.  The log gets the mutant's
 * row. */
static char *picked_of(unsigned number, const char *ptx)
{
    const char *pick = getenv("WSDBG_MUTATE_PICK"), *threads = getenv("WSDBG_MUTATE_THREADS");
    struct mutants_options options = {.kernel = getenv("WSDBG_MUTATE_KERNEL")};
    struct source source;
    char *row = NULL, *text = NULL;
    size_t row_bytes;
    long count = 0;
    if (!pick || sscanf(pick, "%ld", &options.pick) != 1 || options.pick < 0)
        return NULL;
    if (threads)
        sscanf(threads, "%" SCNu32 ",%" SCNu32 ",%" SCNu32, &options.threads[0], &options.threads[1],
               &options.threads[2]);
    FILE *rows = open_memstream(&row, &row_bytes);
    struct wsdbg_error *error = rows ? source_create(ptx, strlen(ptx), "the module", &source) : &wsdbg_error_no_memory;
    if (!error) {
        error = mutants_list(&source, &options, rows, &text, &count);
        source_destroy(&source);
    }
    if (rows)
        fclose(rows);
    if (error)
        say(number, "%s", wsdbg_error_message(error));
    else if (text)
        say(number, "mutant %.*s", (int)strcspn(row, "\n"), row);
    else
        say(number, "it has %ld mutants", count);
    wsdbg_error_destroy(error);
    free(row);
    return text;
}

/* The PTX that replaces a module's own; NULL = the module is loaded unchanged. */
static char *replacement_of(unsigned number, const char *ptx)
{
    static _Atomic bool is_picked;
    if (getenv("WSDBG_MUTATE_PICK")) {
        char *picked = is_picked ? NULL : picked_of(number, ptx);
        is_picked = is_picked || picked;
        return picked;
    }
    size_t bytes;
    char *of = source_read_file(getenv("WSDBG_MUTATE_OF"), &bytes);
    char *out = of && strcmp(of, ptx) == 0 ? source_read_file(getenv("WSDBG_MUTATE_PTX"), &bytes) : NULL;
    free(of);
    return out;
}

static unsigned next_number(void)
{
    pthread_mutex_lock(&lock);
    const unsigned number = module_count++;
    pthread_mutex_unlock(&lock);
    return number;
}

/* A new image is never freed: the driver may keep pointers into it. */
const void *preload_image(const void *image)
{
    char *ptx = NULL;
    const unsigned number = next_number();
    if (!image_ptx(image, &ptx)) {
        say(number, "left as it is: %s", ptx ? ptx : "out of memory");
        free(ptx);
        return image;
    }
    dump(number, ptx);
    char *other = replacement_of(number, ptx);
    const bool is_cubin = other && strncmp(other, ELFMAG, SELFMAG) == 0;
    const bool is_simulated = preload_is_simulated();
    const void *made = is_cubin ? (is_simulated ? NULL : other) : other ? image_with(image, other, is_simulated) : NULL;
    if (other)
        say(number, made ? "replaced" : "left as it is: an image with other code cannot be made of it");
    else
        say(number, "left as it is: %s",
            getenv("WSDBG_MUTATE_OF") ? "its PTX is not that of WSDBG_MUTATE_OF" : "no other PTX for it");
    if (made != other)
        free(other);
    free(ptx);
    return made ? made : image;
}

const void *preload_file(const char *path)
{
    size_t byte_count;
    char *bytes = source_read_file(path, &byte_count);
    if (!bytes)
        return NULL;
    const void *image = preload_image(bytes);
    if (image != bytes) {
        free(bytes);
        return image;
    }
    free(bytes);
    return NULL;
}
