/* preload.c - a library that hands the driver other PTX than the program has.
 *
 * It must come first in LD_PRELOAD, before what observes the program, so that the observer sees the module that runs:
 * the program `mutated` starts another one so.
 *
 *   WSDBG_MUTATE_OF, WSDBG_MUTATE_PTX   files: a module whose PTX is that of the first gets that of the second
 *   WSDBG_MUTATE_PICK, _KERNEL, _THREADS  the first module of which a kernel with this part in its name has this mutant
 * gets it: number, part of a name, "X,Y,Z" as `mutate` takes them WSDBG_MUTATE_DUMP                   folder that gets
 * the PTX of each module, NUMBER.ptx WSDBG_MUTATE_LOG                    file that gets a line a module: what was done,
 * or why nothing
 *
 * Reads: the images that modules and libraries are loaded from.  Writes: those files; nothing else.  A module that it
 * cannot read is loaded as it is.
 */
#include <dlfcn.h>
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

/* All of a file with a zero behind it; NULL. */
static char *read_file(const char *path)
{
    FILE *file = path ? fopen(path, "rbe") : NULL;
    char *text = NULL;
    size_t byte_count = 0;
    FILE *copy = file ? open_memstream(&text, &byte_count) : NULL;
    char chunk[1 << 14];
    for (size_t count; copy && (count = fread(chunk, 1, sizeof chunk, file)) > 0;)
        fwrite(chunk, 1, count, copy);
    if (copy)
        fclose(copy);
    if (file)
        fclose(file);
    return text;
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

/* The mutant that the environment picks, of this module; its row goes to the log. */
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

/* What is to be loaded in the place of a module with this PTX; NULL = the module itself. */
static char *replacement_of(unsigned number, const char *ptx)
{
    static _Atomic bool is_picked;
    if (getenv("WSDBG_MUTATE_PICK")) {
        char *picked = is_picked ? NULL : picked_of(number, ptx);
        is_picked = is_picked || picked;
        return picked;
    }
    char *of = read_file(getenv("WSDBG_MUTATE_OF"));
    char *out = of && strcmp(of, ptx) == 0 ? read_file(getenv("WSDBG_MUTATE_PTX")) : NULL;
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

/* The image that the driver gets; what was made is kept, because the driver may keep pointers into it. */
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
    const void *made = other ? image_with(image, other, preload_is_simulated()) : NULL;
    if (other)
        say(number, made ? "replaced" : "left as it is: its image cannot be made anew");
    else
        say(number, "left as it is: another PTX than %s",
            getenv("WSDBG_MUTATE_OF") ? getenv("WSDBG_MUTATE_OF") : "none");
    free(other);
    free(ptx);
    return made ? made : image;
}

const void *preload_file(const char *path)
{
    char *bytes = read_file(path);
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
