/* inlined.c - see inlined.h.  Pure: reads rows, writes a mark for each. */
#include "base/inlined.h"

#include <stdlib.h>
#include <string.h>

#include "base/wrapper_name.h"

/* A loop around a function around mbarrier.try_wait, with the address's conversion, is 5 lines.  A step of a pipeline
 * waits, computes and arrives: that is more. */
enum { WRAPPER_LINES_MOST = 8, LEVELS_MOST = 64 };

/* A function that was inlined. */
struct shape {
    const struct wsdbg_inlined_row *call; /* one of those to it */
    const struct wsdbg_inlined_row *lines[WRAPPER_LINES_MOST];
    size_t line_count;
    const struct wsdbg_inlined_row *wait, *waits_in; /* a function that waits, and the line that calls it */
    uint32_t call_kernel;
    bool many_lines, several_calls, several_waits, named;
};

struct marking {
    const struct wsdbg_inlined_row *rows;
    size_t count;
    uint32_t *order; /* rows by function */
    uint32_t *shape_of;
    struct shape *shapes;
};

/* .../targets/x86_64-linux/include/... */
static bool is_of_toolkit(const char *file)
{
    static const char folder[] = "/targets/";
    for (const char *at = strstr(file, folder); at; at = strstr(at + 1, folder)) {
        const char *platform = at + strlen(folder), *end = strchr(platform, '/');
        const size_t length = end ? (size_t)(end - platform) : 0;
        if (length > 6 && strncmp(end, "/include/", 9) == 0 && strncmp(end - 6, "-linux", 6) == 0)
            return true;
    }
    return false;
}

/* Folders that a user's tree may have as well, "/cute/" or "/cuda/include/", are not enough. */
static bool is_of_library_file(const char *file)
{
    static const char *const folders[] = {
        "/include/cute/",     "/include/cutlass/arch/", "/include/cutlass/pipeline/",
        "/include/cuda/std/", "/include/cuda/__",       "/include/cccl/cuda/" /* of CUDA 13 */};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strstr(file, folders[i]))
            return true;
    return is_of_toolkit(file);
}

static bool is_lambda(const char *function)
{
    return strstr(function, "NKUl") || strstr(function, "NUl") || strstr(function, "{lambda");
}

static bool is_inlined(const struct marking *marking, uint32_t row)
{
    return marking->rows[row].caller < row && marking->rows[row].function[0];
}

static bool same_line(const struct wsdbg_inlined_row *a, const struct wsdbg_inlined_row *b)
{
    return a->line == b->line && (a->file == b->file || strcmp(a->file, b->file) == 0);
}

static int by_function(const void *left, const void *right, void *context)
{
    const struct wsdbg_inlined_row *rows = context;
    const char *a = rows[*(const uint32_t *)left].function, *b = rows[*(const uint32_t *)right].function;
    return a == b ? 0 : strcmp(a, b);
}

static void number_functions(struct marking *marking)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < marking->count; i++)
        marking->order[i] = i;
    qsort_r(marking->order, marking->count, sizeof *marking->order, by_function, (void *)(uintptr_t)marking->rows);
    for (size_t i = 0; i < marking->count; i++) {
        if (i && by_function(&marking->order[i - 1], &marking->order[i], (void *)(uintptr_t)marking->rows) != 0)
            number++;
        marking->shape_of[marking->order[i]] = number;
    }
}

static void add_line(struct shape *shape, const struct wsdbg_inlined_row *line)
{
    for (size_t i = 0; i < shape->line_count; i++)
        if (same_line(shape->lines[i], line))
            return;
    if (shape->line_count < WRAPPER_LINES_MOST)
        shape->lines[shape->line_count++] = line;
    else
        shape->many_lines = true;
}

/* Calls count within one kernel.  A library that calls a user's lambda here and there makes it no wrapper. */
static void add_call(struct shape *shape, const struct wsdbg_inlined_row *call)
{
    if (is_of_library_file(call->file))
        return;
    if (!shape->call || shape->call_kernel != call->kernel) {
        shape->call = call;
        shape->call_kernel = call->kernel;
    }
    shape->several_calls = shape->several_calls || !same_line(shape->call, call);
}

/* A function with two waits is a step of a pipeline: which of them it is has to be told. */
static void add_wait(struct shape *shape, const struct wsdbg_inlined_row *call, const struct wsdbg_inlined_row *wait)
{
    if (!shape->wait) {
        shape->wait = wait;
        shape->waits_in = call;
    }
    shape->several_waits =
        shape->several_waits || !same_line(shape->waits_in, call) || strcmp(shape->wait->function, wait->function) != 0;
}

/* A row's line belongs to its own function, and to all into which that was inlined. */
static void add_row(struct marking *marking, uint32_t row)
{
    const struct wsdbg_inlined_row *line = &marking->rows[row];
    for (size_t level = 0; level < LEVELS_MOST && is_inlined(marking, row); level++) {
        struct shape *shape = &marking->shapes[marking->shape_of[row]];
        add_line(shape, line);
        add_call(shape, &marking->rows[marking->rows[row].caller]);
        row = marking->rows[row].caller;
    }
}

/* What lies in a small wrapper's own file, or in a library, is a part of it. */
static bool is_part_of_wrapper(const struct marking *marking, uint32_t row, const bool *is_wrapper)
{
    const uint32_t caller = marking->rows[row].caller;
    const char *file = marking->rows[row].file;
    return is_wrapper[caller] && !marking->shapes[marking->shape_of[caller]].many_lines &&
           !is_lambda(marking->rows[row].function) &&
           (is_of_library_file(file) || strcmp(file, marking->rows[caller].file) == 0);
}

static bool is_wrapper_by_shape(const struct shape *shape)
{
    return shape->several_calls && !shape->many_lines && !shape->several_waits;
}

static bool is_wrapper_itself(const struct marking *marking, uint32_t row)
{
    const struct shape *shape = &marking->shapes[marking->shape_of[row]];
    return (shape->named && !shape->many_lines) || is_wrapper_by_shape(shape) ||
           is_of_library_file(marking->rows[row].file) || wsdbg_is_own_name(marking->rows[row].function);
}

static void name_functions(struct marking *marking)
{
    for (size_t i = 0; i < marking->count; i++)
        if (i == 0 || marking->shape_of[marking->order[i]] != marking->shape_of[marking->order[i - 1]])
            marking->shapes[marking->shape_of[marking->order[i]]].named =
                wsdbg_is_wrapper_name(marking->rows[marking->order[i]].function);
}

/* Functions that are wrappers by their shape count as waits too, unless a name or a library says what they are. */
static bool is_wait(const struct marking *marking, uint32_t row)
{
    const struct shape *shape = &marking->shapes[marking->shape_of[row]];
    const bool is_known = shape->named || is_of_library_file(marking->rows[row].file);
    return wsdbg_is_waiting_name(marking->rows[row].function) ||
           (!is_known && shape->several_calls && !shape->many_lines);
}

static void count_waits(struct marking *marking)
{
    for (uint32_t i = 0; i < marking->count; i++) {
        const uint32_t caller = marking->rows[i].caller;
        if (is_inlined(marking, i) && is_inlined(marking, caller) && is_wait(marking, i))
            add_wait(&marking->shapes[marking->shape_of[caller]], &marking->rows[caller], &marking->rows[i]);
    }
}

static void find_wrappers(struct marking *marking, bool *is_wrapper)
{
    number_functions(marking);
    for (uint32_t i = 0; i < marking->count; i++)
        add_row(marking, i);
    name_functions(marking);
    count_waits(marking);
    for (uint32_t i = 0; i < marking->count; i++)
        is_wrapper[i] =
            is_inlined(marking, i) && (is_wrapper_itself(marking, i) || is_part_of_wrapper(marking, i, is_wrapper));
}

struct wsdbg_error *wsdbg_inlined_wrappers(const struct wsdbg_inlined_row *rows, size_t count, bool *is_wrapper)
{
    struct marking marking = {.rows = rows, .count = count};
    marking.order = calloc(count + 1, sizeof *marking.order);
    marking.shape_of = calloc(count + 1, sizeof *marking.shape_of);
    marking.shapes = calloc(count + 1, sizeof *marking.shapes);
    struct wsdbg_error *error = marking.order && marking.shape_of && marking.shapes ? NULL : &wsdbg_error_no_memory;
    if (!error)
        find_wrappers(&marking, is_wrapper);
    free(marking.order);
    free(marking.shape_of);
    free(marking.shapes);
    return error;
}

bool wsdbg_is_launcher_file(const char *file)
{
    return strstr(file, "/cutlass/device_kernel.h") != NULL;
}

/* __nanosleep and the like wrap no barrier. */
static bool is_intrinsic(const char *file)
{
    return is_of_toolkit(file) && (strstr(file, "/include/crt/") || strstr(file, "_intrinsics."));
}

size_t wsdbg_inlined_place(const struct wsdbg_inlined_level *levels, size_t count)
{
    const char *own = levels[count - 1].file;
    size_t first = 0, level;
    while (first + 1 < count && levels[first].is_wrapper && is_intrinsic(levels[first].file))
        first++;
    level = first;
    if (!levels[first].is_wrapper && wsdbg_is_launcher_file(own))
        return level;
    if (levels[first].is_wrapper)
        while (level + 1 < count && levels[level].is_wrapper)
            level++;
    else
        while (strcmp(levels[level].file, own) != 0)
            level++;
    return level;
}
