/* launch_site.c - see launch_site.h.  Reads: a snapshot.  Writes: text. */
#include "model/launch_site.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/host_stack.h"
#include "model/place.h"
#include "model/symbol.h"

enum { FRAME_BYTES = 256, PLACES_SHOWN = 3, NAME_COLUMNS = 60 };

/* ---- text ---- */

/* A full text that was cut ends so, between two characters. */
static void end_cut(char *out, size_t bytes)
{
    size_t at = bytes - sizeof "…";
    while (at > 0 && ((unsigned char)out[at] & 0xc0) == 0x80)
        at--;
    memcpy(out + at, "…", sizeof "…");
}

static void append(char *out, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void append(char *out, size_t bytes, const char *format, ...)
{
    const size_t used = strlen(out);
    va_list arguments;
    va_start(arguments, format);
    const int wanted = vsnprintf(out + used, bytes - used, format, arguments);
    va_end(arguments);
    if (wanted >= 0 && (size_t)wanted >= bytes - used)
        end_cut(out, bytes);
}

/* ---- launches of a grid ---- */

static bool is_of_context(const struct wsdbg_launch *launch, const struct wsdbg_context *row, uint32_t context)
{
    return launch->process_id == row->process_id && (launch->context == context || launch->context == WSDBG_NONE);
}

bool wsdbg_launch_may_run(const struct wsdbg_snapshot *snapshot, uint32_t launch, uint32_t context)
{
    const struct wsdbg_launch *l = &snapshot->launches[launch];
    const struct wsdbg_context *row = &snapshot->contexts[context];
    const bool made = l->result == 0 || l->result == WSDBG_RESULT_PENDING;
    const bool done = row->done_launches.known && l->sequence < row->done_launches.value;
    return made && !done && !(l->flags & (WSDBG_LAUNCH_CAPTURED | WSDBG_LAUNCH_REFUSED)) &&
           is_of_context(l, row, context);
}

/* Of a graph about which not all is known it may be any kernel. */
static bool graph_may_hold(const struct wsdbg_snapshot *s, const struct wsdbg_launch *launch, uint32_t function)
{
    if (!launch->graph || (launch->flags & WSDBG_LAUNCH_GRAPH_PARTLY))
        return true;
    for (size_t i = 0; i < s->graph_kernel_count; i++) {
        const struct wsdbg_graph_kernel *kernel = &s->graph_kernels[i];
        if (kernel->process_id == launch->process_id && kernel->graph == launch->graph &&
            (kernel->function == function || kernel->function == WSDBG_NONE))
            return true;
    }
    return false;
}

/* The size of a cooperative grid is not always told (machine/launch_match.c): 1 says nothing. */
static bool shape_may_fit(const struct wsdbg_grid *grid, const struct wsdbg_launch *launch)
{
    const uint64_t ctas = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    if (grid->cta_total > 1 && ctas != grid->cta_total)
        return false;
    return grid->block[0] == 0 || memcmp(grid->block, launch->block, sizeof grid->block) == 0;
}

static bool may_have_made(const struct wsdbg_snapshot *s, const struct wsdbg_grid *grid, uint32_t launch)
{
    const struct wsdbg_launch *l = &s->launches[launch];
    if (!wsdbg_launch_may_run(s, launch, grid->context))
        return false;
    if (l->flags & WSDBG_LAUNCH_GRAPH)
        return graph_may_hold(s, l, grid->function);
    return l->function == WSDBG_NONE || (l->function == grid->function && shape_may_fit(grid, l));
}

bool wsdbg_has_all_launches(const struct wsdbg_snapshot *snapshot, uint32_t context)
{
    const struct wsdbg_context *row = &snapshot->contexts[context];
    for (size_t i = 0; i < snapshot->launch_count; i++)
        if (snapshot->launches[i].process_id == row->process_id)
            return snapshot->launches[i].sequence == 0 ||
                   (row->done_launches.known && snapshot->launches[i].sequence <= row->done_launches.value);
    return true;
}

size_t wsdbg_grid_launches(const struct wsdbg_snapshot *snapshot, uint32_t grid, uint32_t *out, size_t most, bool *all)
{
    const struct wsdbg_grid *row = &snapshot->grids[grid];
    size_t count = 0;
    *all = true;
    if (row->launch < snapshot->launch_count) {
        if (most > 0)
            out[0] = row->launch;
        return 1;
    }
    if (row->function == WSDBG_NONE || row->context >= snapshot->context_count)
        return 0;
    *all = wsdbg_has_all_launches(snapshot, row->context);
    for (uint32_t i = 0; i < snapshot->launch_count; i++)
        if (may_have_made(snapshot, row, i)) {
            if (count < most)
                out[count] = i;
            count++;
        }
    return count;
}

/* ---- a frame of the program ---- */

static bool begins_with_one_of(const char *text, const char *const *beginnings)
{
    for (; *beginnings; beginnings++)
        if (strncmp(text, *beginnings, strlen(*beginnings)) == 0)
            return true;
    return false;
}

static bool is_library_of_python(const struct wsdbg_host_frame *frame)
{
    return strstr(frame->file, "/site-packages/") || strstr(frame->file, "/dist-packages/") ||
           strstr(frame->file, "/lib/python3") || strncmp(frame->file, "<frozen", strlen("<frozen")) == 0;
}

/* ncclAllReduce, pncclAllReduce; not a program's own nccl_step. */
static bool is_of_nccl(const char *function)
{
    const char *name = function[0] == 'p' ? function + 1 : function;
    return strncmp(name, "nccl", 4) == 0 && isupper((unsigned char)name[4]);
}

/* What stands between the program and the driver: the CUDA runtime, also as part of the program, and libraries that
 * launch kernels for it.  nvcc makes a function of the kernel's own name that launches it. */
static bool is_library(const struct wsdbg_host_frame *frame, const char *kernel)
{
    static const char *const modules[] = {"libcuda.",   "libcudart", "libcudadebugger", "libcublas",     "libcudnn",
                                          "libcufft",   "libcurand", "libcusparse",     "libcusolver",   "libcutensor",
                                          "libcupti",   "libnvrtc",  "libnvJitLink",    "libnvToolsExt", "libnvshmem",
                                          "libnccl",    "libtorch",  "libc10",          "libc.so",       "libc-",
                                          "libpthread", "libstdc++", "libgcc_s",        "ld-linux",      "libffi",
                                          "libpython",  NULL};
    static const char *const functions[] = {"cudaLaunch",      "cudaGraphLaunch",
                                            "cuLaunch",        "cuGraph",
                                            "cudart::",        "__cudaLaunch",
                                            "__device_stub__", "libcudart_static_",
                                            "__cudart",        NULL};
    if (frame->kind == WSDBG_HOST_FRAME_PYTHON)
        return is_library_of_python(frame);
    return frame->kind != WSDBG_HOST_FRAME_NATIVE || strstr(frame->module, "/lib-dynload/") ||
           wsdbg_host_frame_is_ours(frame) || wsdbg_host_frame_is_start(frame) || is_of_nccl(frame->function) ||
           begins_with_one_of(wsdbg_place_file(frame->module), modules) ||
           begins_with_one_of(frame->function, functions) || (kernel[0] && strcmp(frame->function, kernel) == 0);
}

/* Among Python frames a native one says more only if it has a line.  A Python frame whose code is gone is one as well:
 * its caller must not take its place. */
static bool tells(const struct wsdbg_host_frame *frame, bool has_python)
{
    if (frame->kind == WSDBG_HOST_FRAME_PYTHON)
        return true;
    return frame->kind == WSDBG_HOST_FRAME_NATIVE && (frame->line.known || !has_python) &&
           (frame->function[0] || frame->module[0]);
}

static const struct wsdbg_host_frame *frame_at(const struct wsdbg_snapshot *s, const struct wsdbg_launch_site *site,
                                               uint32_t index)
{
    return index < site->frame_count && site->frame_first + index < s->site_frame_count
               ? &s->site_frames[site->frame_first + index]
               : NULL;
}

/* The first frame of the program from `from` on; site->frame_count = there is none. */
static uint32_t next_of_program(const struct wsdbg_snapshot *s, const struct wsdbg_launch_site *site, uint32_t from,
                                bool has_python, const char *kernel)
{
    const struct wsdbg_host_frame *frame;
    for (; (frame = frame_at(s, site, from)); from++)
        if (tells(frame, has_python) && !is_library(frame, kernel))
            return from;
    return site->frame_count;
}

/* Where no frame is the program's: the innermost one that is neither the observer's nor the simulator's. */
static uint32_t first_that_tells(const struct wsdbg_snapshot *s, const struct wsdbg_launch_site *site, bool has_python)
{
    const struct wsdbg_host_frame *frame;
    for (uint32_t i = 0; (frame = frame_at(s, site, i)); i++)
        if (tells(frame, has_python) && !wsdbg_host_frame_is_ours(frame) && !wsdbg_host_frame_is_simulators(frame))
            return i;
    return site->frame_count;
}

static bool has_python_frames(const struct wsdbg_snapshot *s, const struct wsdbg_launch_site *site)
{
    const struct wsdbg_host_frame *frame;
    for (uint32_t i = 0; (frame = frame_at(s, site, i)); i++)
        if (frame->kind == WSDBG_HOST_FRAME_PYTHON)
            return true;
    return false;
}

static void kernel_name(const struct wsdbg_snapshot *s, uint32_t function, char *out, size_t bytes)
{
    out[0] = '\0';
    if (function < s->function_count)
        wsdbg_symbol_name(s->functions[function].name, out, bytes);
}

/* The frames of the program that count; frame_count of the site = there is none. */
struct shown {
    uint32_t line, caller;
};

static struct shown find_shown(const struct wsdbg_snapshot *s, const struct wsdbg_launch_site *site)
{
    char kernel[WSDBG_HOST_FUNCTION_BYTES];
    const bool has_python = has_python_frames(s, site);
    struct shown shown = {.caller = site->frame_count};
    kernel_name(s, site->function, kernel, sizeof kernel);
    shown.line = next_of_program(s, site, 0, has_python, kernel);
    if (shown.line == site->frame_count)
        shown.line = first_that_tells(s, site, has_python);
    if (shown.line < site->frame_count)
        shown.caller = next_of_program(s, site, shown.line + 1, has_python, kernel);
    return shown;
}

void wsdbg_launch_site_line(const struct wsdbg_snapshot *snapshot, const struct wsdbg_launch_site *site, char *out,
                            size_t bytes)
{
    const struct wsdbg_host_frame *frame = frame_at(snapshot, site, find_shown(snapshot, site).line);
    snprintf(out, bytes, "?");
    if (frame)
        wsdbg_host_frame_text(frame, out, bytes);
}

void wsdbg_launch_site_place(const struct wsdbg_snapshot *snapshot, const struct wsdbg_launch_site *site, char *out,
                             size_t bytes)
{
    char caller[FRAME_BYTES];
    const struct wsdbg_host_frame *frame = frame_at(snapshot, site, find_shown(snapshot, site).caller);
    wsdbg_launch_site_line(snapshot, site, out, bytes);
    if (!frame)
        return;
    wsdbg_host_frame_text(frame, caller, sizeof caller);
    append(out, bytes, ", called from %s", caller);
}

/* ---- a grid ---- */

/* The different places of a grid's sites of one kind. */
struct places {
    char texts[PLACES_SHOWN][WSDBG_SITE_PLACE_BYTES];
    const struct wsdbg_launch_site *sites[PLACES_SHOWN];
    bool mixed[PLACES_SHOWN]; /* sites there have different kernels before or after them */
    uint32_t count;
    bool has_others;                      /* beyond those that are shown */
    const struct wsdbg_launch_site *lost; /* one without a stack */
};

/* What a launch site is the place of. */
enum said_of { OF_LAUNCH, OF_GRAPH_LAUNCH, OF_NODE };

static enum said_of said_of(const struct wsdbg_snapshot *s, const struct wsdbg_launch_site *site)
{
    if (site->kind == WSDBG_SITE_OF_NODE)
        return OF_NODE;
    return site->launch < s->launch_count && (s->launches[site->launch].flags & WSDBG_LAUNCH_GRAPH) ? OF_GRAPH_LAUNCH
                                                                                                    : OF_LAUNCH;
}

static void add_place(const struct wsdbg_snapshot *s, const struct wsdbg_launch_site *site, struct places *places)
{
    char text[WSDBG_SITE_PLACE_BYTES];
    wsdbg_launch_site_place(s, site, text, sizeof text);
    if (strcmp(text, "?") == 0) {
        places->lost = site;
        return;
    }
    for (uint32_t i = 0; i < places->count; i++)
        if (strcmp(places->texts[i], text) == 0) {
            places->mixed[i] |= site->before != places->sites[i]->before || site->after != places->sites[i]->after;
            return;
        }
    if (places->count == PLACES_SHOWN) {
        places->has_others = true;
        return;
    }
    places->sites[places->count] = site;
    memcpy(places->texts[places->count++], text, sizeof text);
}

static void find_places(const struct wsdbg_snapshot *s, uint32_t grid, enum said_of of, struct places *out)
{
    *out = (struct places){.count = 0};
    for (size_t i = 0; i < s->launch_site_count; i++) {
        const struct wsdbg_launch_site *site = &s->launch_sites[i];
        if (site->grid == grid && site->kind != WSDBG_SITE_OF_CALL && said_of(s, site) == of)
            add_place(s, site, out);
    }
}

/* ", after copy, before store" */
static void append_neighbours(const struct wsdbg_snapshot *s, const struct wsdbg_launch_site *site, char *out,
                              size_t bytes)
{
    char name[WSDBG_HOST_FUNCTION_BYTES];
    kernel_name(s, site->before, name, sizeof name);
    wsdbg_text_cut(name, NAME_COLUMNS);
    if (name[0])
        append(out, bytes, ", after %s", name);
    kernel_name(s, site->after, name, sizeof name);
    wsdbg_text_cut(name, NAME_COLUMNS);
    if (name[0])
        append(out, bytes, ", before %s", name);
}

static void append_places(const struct wsdbg_snapshot *s, uint32_t grid, enum said_of of, char *out, size_t bytes)
{
    static const char *const verbs[] = {"launched", "graph launched", "put into a graph"};
    struct places places;
    find_places(s, grid, of, &places);
    if (places.count == 0 && !places.lost)
        return;
    append(out, bytes, "%s%s at ", !out[0] ? "" : of == OF_NODE ? "; " : ", or ", verbs[of]);
    for (uint32_t i = 0; i < places.count; i++) {
        append(out, bytes, "%s%s", i ? ", or at " : "", places.texts[i]);
        if (!places.mixed[i])
            append_neighbours(s, places.sites[i], out, bytes);
    }
    if (places.has_others)
        append(out, bytes, ", or at other places");
    if (places.lost)
        append(out, bytes, "%s (%s)", places.count ? ", or at ?" : "?",
               places.lost->end[0] ? places.lost->end : "its stack could not be read");
}

void wsdbg_grid_site_text(const struct wsdbg_snapshot *snapshot, uint32_t grid, char *out, size_t bytes)
{
    out[0] = '\0';
    append_places(snapshot, grid, OF_LAUNCH, out, bytes);
    append_places(snapshot, grid, OF_GRAPH_LAUNCH, out, bytes);
    append_places(snapshot, grid, OF_NODE, out, bytes);
}

const struct wsdbg_launch_site *wsdbg_collective_site(const struct wsdbg_snapshot *snapshot, uint32_t collective)
{
    for (size_t i = 0; i < snapshot->launch_site_count; i++)
        if (snapshot->launch_sites[i].kind == WSDBG_SITE_OF_CALL && snapshot->launch_sites[i].collective == collective)
            return &snapshot->launch_sites[i];
    return NULL;
}
