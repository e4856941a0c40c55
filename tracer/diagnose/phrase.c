/* phrase.c - names of warps, barriers and rounds for sentences.  See phrase.h.
 *
 * Reads: rows and names of the snapshot, and its modules' files.
 */
#include "diagnose/phrase.h"

#include <stdio.h>
#include <string.h>

#include "model/place.h"

static void append(struct wsdbg_phrase *phrase, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(struct wsdbg_phrase *phrase, const char *format, ...)
{
    const size_t used = strlen(phrase->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(phrase->text + used, sizeof phrase->text - used, format, arguments);
    va_end(arguments);
}

size_t wsdbg_print(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return strlen(text);
}

uint32_t wsdbg_first_of(const struct wsdbg_warp_set *set)
{
    for (uint32_t w = 0; w < WSDBG_CASE_WARPS_MAX; w++)
        if (wsdbg_set_has(set, w))
            return w;
    return WSDBG_NONE;
}

struct wsdbg_optional_u32 wsdbg_common_role(const struct wsdbg_case *c, const struct wsdbg_warp_set *set)
{
    const uint32_t first = wsdbg_first_of(set);
    if (first == WSDBG_NONE)
        return (struct wsdbg_optional_u32){0};
    const struct wsdbg_optional_u32 role = wsdbg_case_warp(c, first)->role;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_optional_u32 other = wsdbg_case_warp(c, w)->role;
        if (wsdbg_set_has(set, w) && (!other.known || other.value != role.value))
            return (struct wsdbg_optional_u32){0};
    }
    return role;
}

struct wsdbg_phrase wsdbg_say_role(const struct wsdbg_case *c, uint32_t warp)
{
    struct wsdbg_phrase phrase = {""};
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    const char *name = wsdbg_snapshot_role_name(c->snapshot, row);
    if (name)
        append(&phrase, "%.47s", name);
    else if (row->role.known)
        append(&phrase, "role %u", row->role.value);
    else
        append(&phrase, "warp %u", row->warp);
    return phrase;
}

/* A role that nobody knows more of than its warps is called "warps 4-7". */
static bool role_says_more(const struct wsdbg_case *c, uint32_t warp)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    const char *name = wsdbg_snapshot_role_name(c->snapshot, row);
    return row->role.known && !(c->snapshot->names_inferred && name && strncmp(name, "warp", 4) == 0);
}

struct wsdbg_phrase wsdbg_say_both(const struct wsdbg_case *c, uint32_t one, uint32_t other)
{
    const struct wsdbg_phrase a = wsdbg_say_role(c, one), b = wsdbg_say_role(c, other);
    struct wsdbg_phrase phrase = {""};
    if (strcmp(a.text, b.text) != 0)
        append(&phrase, "%s and %s", a.text, b.text);
    else
        append(&phrase, "warp %u and warp %u", wsdbg_case_warp(c, one)->warp, wsdbg_case_warp(c, other)->warp);
    return phrase;
}

struct wsdbg_phrase wsdbg_say_warp(const struct wsdbg_case *c, uint32_t warp)
{
    struct wsdbg_phrase phrase = {""};
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    append(&phrase, "warp %u", row->warp);
    if (c->cta_count > 1)
        append(&phrase, " of cluster rank %u", c->snapshot->ctas[row->cta].cluster_rank);
    if (role_says_more(c, warp))
        append(&phrase, " (%s)", wsdbg_say_role(c, warp).text);
    return phrase;
}

/* The warps of one CTA that are in the set: a bit for each index. */
static uint64_t warps_in(const struct wsdbg_case *c, const struct wsdbg_warp_set *set, uint32_t cta)
{
    uint64_t warps = 0;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(set, w) && wsdbg_case_warp(c, w)->cta == c->ctas[cta] && wsdbg_case_warp(c, w)->warp < 64)
            warps |= (uint64_t)1 << wsdbg_case_warp(c, w)->warp;
    return warps;
}

/* "0-3, 7": the bits that are set. */
static void append_numbers(struct wsdbg_phrase *phrase, uint64_t numbers)
{
    for (uint32_t first = 0, end, said = 0; first < 64; first = end) {
        end = first + 1;
        if (!(numbers >> first & 1))
            continue;
        while (end < 64 && numbers >> end & 1)
            end++;
        append(phrase, "%s%u", said++ ? ", " : "", first);
        if (end - first > 1)
            append(phrase, "-%u", end - 1);
    }
}

/* The ranks of the CTAs of which the same warps are in the set, this one being the first of them; else 0. */
static uint64_t ranks_like(const struct wsdbg_case *c, const struct wsdbg_warp_set *set, uint32_t cta)
{
    const uint64_t warps = warps_in(c, set, cta);
    uint64_t ranks = 0;
    for (uint32_t i = 0; i < c->cta_count; i++) {
        if (warps_in(c, set, i) != warps)
            continue;
        if (i < cta)
            return 0;
        ranks |= (uint64_t)1 << (c->snapshot->ctas[c->ctas[i]].cluster_rank & 63);
    }
    return ranks;
}

static void append_roles(struct wsdbg_phrase *phrase, const struct wsdbg_case *c, const struct wsdbg_warp_set *set)
{
    uint32_t said = 0;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (!wsdbg_set_has(set, w) || !role_says_more(c, w) || row->role.value >= 32 || (said >> row->role.value & 1))
            continue;
        append(phrase, "%s%s", said ? ", " : " (", wsdbg_say_role(c, w).text);
        said |= 1u << row->role.value;
    }
    append(phrase, "%s", said ? ")" : "");
}

/* "ranks 0-1 warps 4-7", or "warp 5 of ranks 0-1".  ranks: 0 = they are not said. */
static void append_warps(struct wsdbg_phrase *phrase, uint64_t warps, uint64_t ranks)
{
    const char *several = ranks & (ranks - 1) ? "ranks " : "rank ";
    const bool is_one = !(warps & (warps - 1));
    if (ranks && !is_one) {
        append(phrase, "%s", several);
        append_numbers(phrase, ranks);
        append(phrase, " ");
    }
    append(phrase, is_one ? "warp " : "warps ");
    append_numbers(phrase, warps);
    if (ranks && is_one) {
        append(phrase, " of %s", several);
        append_numbers(phrase, ranks);
    }
}

struct wsdbg_phrase wsdbg_say_warps(const struct wsdbg_case *c, const struct wsdbg_warp_set *set)
{
    struct wsdbg_phrase phrase = {""};
    if (wsdbg_set_count(set) == 1)
        return wsdbg_say_warp(c, wsdbg_first_of(set));
    for (uint32_t i = 0; i < c->cta_count; i++) {
        const uint64_t warps = warps_in(c, set, i), ranks = warps ? ranks_like(c, set, i) : 0;
        if (!ranks)
            continue;
        append(&phrase, "%s", phrase.text[0] ? "; " : "");
        append_warps(&phrase, warps, c->cta_count > 1 ? ranks : 0);
    }
    append_roles(&phrase, c, set);
    return phrase;
}

struct wsdbg_phrase wsdbg_say_lanes(uint32_t lanes)
{
    struct wsdbg_phrase phrase = {""};
    append(&phrase, lanes & (lanes - 1) ? "lanes " : "lane ");
    append_numbers(&phrase, lanes);
    return phrase;
}

struct wsdbg_phrase wsdbg_say_barrier(const struct wsdbg_stage *stage)
{
    struct wsdbg_phrase phrase = {""};
    if (stage->name && stage->name->name[0])
        append(&phrase, "\"%.47s\"", stage->name->name);
    else
        append(&phrase, "mbarrier %u", stage->id);
    return phrase;
}

struct wsdbg_phrase wsdbg_say_stage(const struct wsdbg_stage *stage)
{
    struct wsdbg_phrase phrase = wsdbg_say_barrier(stage);
    append(&phrase, " stage %u", stage->stage);
    return phrase;
}

struct wsdbg_phrase wsdbg_say_iteration(uint32_t iteration, uint32_t round)
{
    struct wsdbg_phrase phrase = {""};
    if (iteration != WSDBG_NO_ITERATION)
        append(&phrase, "iteration %u", iteration);
    else if (round != WSDBG_NONE)
        append(&phrase, "round %u of the stage", round);
    else
        append(&phrase, "an unknown iteration");
    return phrase;
}

/* 20971520 as "20,971,520". */
static void append_grouped(struct wsdbg_phrase *phrase, uint64_t number)
{
    if (number >= 1000)
        append_grouped(phrase, number / 1000);
    append(phrase, number >= 1000 ? ",%03u" : "%u", (unsigned)(number % 1000));
}

/* What a kind is called, and whether one says "a 4,096 B ..." or "4,096 B of ..." of it. */
static const char *memory_words(unsigned kind, bool *one)
{
    *one = false;
    switch (kind) {
    case WSDBG_ALLOCATION_DEVICE:
        *one = true;
        return "cudaMalloc allocation";
    case WSDBG_ALLOCATION_PITCHED:
        *one = true;
        return "cudaMallocPitch allocation";
    case WSDBG_ALLOCATION_POOL:
        *one = true;
        return "cudaMallocAsync allocation";
    case WSDBG_ALLOCATION_HOST:
        return "host-mapped memory";
    case WSDBG_ALLOCATION_REGISTERED:
        return "registered host memory";
    case WSDBG_ALLOCATION_MANAGED:
        return "managed memory";
    case WSDBG_ALLOCATION_VMM:
        return "mapped memory of this process";
    case WSDBG_ALLOCATION_VMM_IMPORTED:
    case WSDBG_ALLOCATION_IMPORTED:
        return "memory imported from another process";
    default:
        return "mapped memory of unknown origin";
    }
}

static void append_devices(struct wsdbg_phrase *phrase, uint32_t devices)
{
    const char *between = (devices & (devices - 1)) ? ", which devices " : ", which device ";
    for (uint32_t device = 0; device < 32; device++)
        if (devices >> device & 1) {
            append(phrase, "%s%u", between, device);
            between = ", ";
        }
    append(phrase, "%s", devices ? " may write (peer access)" : "");
}

struct wsdbg_phrase wsdbg_say_memory(const struct wsdbg_allocation *memory, uint64_t address)
{
    struct wsdbg_phrase phrase = {""};
    const struct wsdbg_allocation_row *row = &memory->row;
    bool one;
    const char *words = memory_words(row->kind, &one);
    if (row->bytes) {
        append(&phrase, "at byte ");
        append_grouped(&phrase, address - row->address);
        append(&phrase, one ? " of a " : " of ");
        append_grouped(&phrase, row->bytes);
        append(&phrase, one ? " B %s" : " B of %s", words);
    } else {
        append(&phrase, one ? "in a %s" : "in %s", words);
    }
    append(&phrase, " (%.31s #%u)", row->call, row->call_number);
    append_devices(&phrase, row->peer_devices);
    append(&phrase, "%s",
           row->flags & WSDBG_ALLOCATION_EXPORTED ? ", which was exported to another process or device" : "");
    return phrase;
}

/* The name of the file in which lines of the grid's events count; "" = not known. */
static const char *file_of(const struct wsdbg_case *c)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    const uint32_t module = c->grid < s->grid_count ? s->grids[c->grid].module : WSDBG_NONE;
    return module < s->module_count ? wsdbg_place_file(s->modules[module].source_path) : "";
}

/* 0 = not known. */
static uint32_t line_of(const struct wsdbg_history_event *event)
{
    switch (event->kind) {
    case WSDBG_EVENT_MBARRIER_WAIT_BEGIN:
    case WSDBG_EVENT_MBARRIER_WAIT_END:
    case WSDBG_EVENT_MBARRIER_ARRIVE:
    case WSDBG_EVENT_CLUSTER_ARRIVE:
    case WSDBG_EVENT_CLUSTER_WAIT_BEGIN:
    case WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN:
    case WSDBG_EVENT_POLL_BEGIN:
        return WSDBG_SITE_LINE(event->value);
    default:
        return 0;
    }
}

/* Where the machine's own state shows the wait that began with the event: the probe is at a line beside it.  "" = the
 * warp does not wait there any more, or no source line is known. */
static void place_of_wait(const struct wsdbg_case *c, const struct wsdbg_history_event *event,
                          char out[WSDBG_PLACE_BYTES])
{
    const struct wsdbg_snapshot *s = c->shown ? c->shown : c->snapshot;
    out[0] = '\0';
    for (uint32_t w = 0; w < c->warp_count; w++) {
        uint32_t count;
        const struct wsdbg_history_event *events = wsdbg_case_events(c, w, &count);
        const bool is_newest = count > 0 && event == &events[count - 1];
        const uint32_t row = c->shown ? c->shown_warps[c->warps[w]] : c->warps[w];
        if ((!is_newest && event != &wsdbg_case_warp(c, w)->last) || row >= s->warp_count)
            continue;
        if (wsdbg_case_warp(c, w)->state == s->warps[row].state && wsdbg_warp_state_waits(s->warps[row].state) &&
            wsdbg_place_has_lines(s, s->warps[row].site))
            wsdbg_place_text(s, s->warps[row].site, out);
    }
}

struct wsdbg_phrase wsdbg_say_line(const struct wsdbg_case *c, const struct wsdbg_history_event *event)
{
    struct wsdbg_phrase phrase = {""};
    char place[WSDBG_PLACE_BYTES];
    const uint32_t line = line_of(event);
    const char *file = file_of(c);
    place_of_wait(c, event, place);
    if (place[0])
        append(&phrase, " (%s)", place);
    else if (line && file[0])
        append(&phrase, " (%.100s:%u)", file, line);
    else if (line)
        append(&phrase, " (line %u)", line);
    return phrase;
}
