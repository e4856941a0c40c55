/* look_words.c - see look_words.h. */
#include "machine/look_words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add(char *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(char *out, const char *format, ...)
{
    const size_t used = strlen(out);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out + used, LOOK_WORDS_BYTES - used, format, arguments);
    va_end(arguments);
}

static void add_barrier(const struct wsdbg_snapshot *snapshot, uint32_t number, char *out)
{
    if (number == WSDBG_NONE)
        return;
    const struct wsdbg_barrier *barrier = &snapshot->barriers[number];
    if (barrier->kind == WSDBG_BARRIER_MBARRIER && barrier->name)
        add(out, "%s[%u]", barrier->name->name, barrier->stage);
    else
        add(out, "%s %u", wsdbg_barrier_kind_name(barrier->kind), barrier->id);
}

static void add_part(const struct wsdbg_snapshot *snapshot, const struct wsdbg_part *part, char *out)
{
    add(out, "%s", wsdbg_warp_state_name(part->state));
    if (part->barrier != WSDBG_NONE)
        add(out, " ");
    add_barrier(snapshot, part->barrier, out);
    if (part->parity.known && part->state == WSDBG_WARP_WAIT_MBARRIER)
        add(out, " parity %u", part->parity.value);
    if (part->count.known)
        add(out, " count %u", part->count.value);
    if (part->address.known)
        add(out, " at 0x%" PRIx64, part->address.value);
    if (part->value.known)
        add(out, " value %" PRIu64, part->value.value);
}

static void add_warp(const struct wsdbg_snapshot *snapshot, const struct wsdbg_warp_row *warp, char *out)
{
    const char *role = wsdbg_snapshot_role_name(snapshot, warp);
    add(out, "%s", role ? role : "?");
    if (warp->part_count == 0 || warp->part_count > 1)
        add(out, " %s", wsdbg_warp_state_name(warp->state));
    for (uint32_t i = warp->part_first; i < warp->part_first + warp->part_count; i++) {
        add(out, "%s", warp->part_count > 1 ? ": " : " ");
        if (warp->part_count > 1)
            add(out, "%d lanes ", __builtin_popcount(snapshot->parts[i].lanes));
        add_part(snapshot, &snapshot->parts[i], out);
    }
    if (warp->registers_asked.known)
        add(out, " has %u", warp->registers_held.value);
}

static void add_count(const char *word, struct wsdbg_optional_u32 count, char *out)
{
    if (count.known)
        add(out, "%s%u", word, count.value);
    else
        add(out, "%s?", word);
}

static void add_missing(const struct wsdbg_snapshot *snapshot, uint32_t number, char *out)
{
    const struct wsdbg_barrier *barrier = &snapshot->barriers[number];
    add_barrier(snapshot, number, out);
    if (barrier->shared_offset.known)
        add(out, " at 0x%x", barrier->shared_offset.value);
    if (barrier->kind == WSDBG_BARRIER_MBARRIER)
        add_count(": phase ", barrier->phase, out);
    add_count(barrier->kind == WSDBG_BARRIER_MBARRIER ? ", " : ": ", barrier->pending_arrivals, out);
    add_count(" of ", barrier->expected_arrivals, out);
    add(out, " missing");
    if (barrier->pending_tx_bytes.known)
        add(out, ", %" PRId64 " bytes", (int64_t)barrier->pending_tx_bytes.value);
    add(out, "\n");
}

void look_words(const struct wsdbg_snapshot *snapshot, uint32_t cta, char out[LOOK_WORDS_BYTES])
{
    const struct wsdbg_cta *row = &snapshot->ctas[cta];
    char line[LOOK_WORDS_BYTES], next[LOOK_WORDS_BYTES];
    *out = '\0';
    for (uint32_t i = 0, first = 0; i < row->warp_count; i++) {
        *line = *next = '\0';
        add_warp(snapshot, &snapshot->warps[row->warp_first + i], line);
        if (i + 1 < row->warp_count)
            add_warp(snapshot, &snapshot->warps[row->warp_first + i + 1], next);
        if (strcmp(line, next) == 0)
            continue;
        add(out, first == i ? "%u" : "%u-%u", first, i);
        add(out, " %s\n", line);
        first = i + 1;
    }
    for (uint32_t i = 0; i < snapshot->barrier_count; i++)
        if (snapshot->barriers[i].cta == cta && snapshot->barriers[i].waiters &&
            snapshot->barriers[i].kind <= WSDBG_BARRIER_CLUSTER)
            add_missing(snapshot, i, out);
}
