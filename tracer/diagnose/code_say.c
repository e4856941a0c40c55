/* code_say.c - words for places, barriers and waits.  See code_say.h.
 *
 * Reads: sites, barriers, accesses.  Writes: phrases, evidence rows.
 */
#include "diagnose/code_say.h"

#include <string.h>

#define WARP_ROWS_MAX 16u
#define INLINED_MAX 32u /* a chain that is no longer than that, or is none */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Where inlined code was called from: the first caller in another file. */
static const struct wsdbg_site *caller_of(const struct wsdbg_case *c, const struct wsdbg_site *site)
{
    const struct wsdbg_site *caller = wsdbg_snapshot_site(c->snapshot, site->inlined_at);
    for (unsigned depth = 0; caller && depth < INLINED_MAX; depth++) {
        if (caller->line.known && strcmp(caller->file, site->file) != 0)
            return caller;
        caller = wsdbg_snapshot_site(c->snapshot, caller->inlined_at);
    }
    return NULL;
}

struct wsdbg_phrase wsdbg_say_place(const struct wsdbg_case *c, uint32_t site)
{
    struct wsdbg_phrase phrase = {""};
    const struct wsdbg_site *row = wsdbg_snapshot_site(c->snapshot, site);
    if (!row)
        return phrase;
    const struct wsdbg_site *caller = caller_of(c, row);
    if (row->file[0] && row->line.known && caller)
        wsdbg_print(phrase.text, sizeof phrase.text, "%.48s:%u (from %.48s:%u)", base_name(row->file), row->line.value,
                    base_name(caller->file), caller->line.value);
    else if (row->file[0] && row->line.known)
        wsdbg_print(phrase.text, sizeof phrase.text, "%.80s:%u", base_name(row->file), row->line.value);
    else if (row->offset_bytes.known && row->function < c->snapshot->function_count)
        wsdbg_print(phrase.text, sizeof phrase.text, "%.80s+0x%x", c->snapshot->functions[row->function].name,
                    row->offset_bytes.value);
    else
        wsdbg_print(phrase.text, sizeof phrase.text, "0x%llx", (unsigned long long)row->pc);
    return phrase;
}

struct wsdbg_phrase wsdbg_say_at_site(const struct wsdbg_case *c, uint32_t site)
{
    struct wsdbg_phrase phrase = {""};
    const struct wsdbg_phrase place = wsdbg_say_place(c, site);
    if (place.text[0])
        wsdbg_print(phrase.text, sizeof phrase.text, " at %.120s", place.text);
    return phrase;
}

struct wsdbg_phrase wsdbg_say_at(const struct wsdbg_case *c, uint32_t warp)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    return c->of_machine ? wsdbg_say_at_site(c, row->site) : wsdbg_say_line(&row->last);
}

static void print_family(const struct wsdbg_barrier *row, struct wsdbg_phrase *phrase)
{
    if (row->name && row->name->name[0])
        wsdbg_print(phrase->text, sizeof phrase->text, "\"%.47s\"", row->name->name);
    else if (row->kind == WSDBG_BARRIER_MBARRIER && row->shared_offset.known)
        wsdbg_print(phrase->text, sizeof phrase->text, "the mbarrier at 0x%x", row->shared_offset.value);
    else if (row->kind == WSDBG_BARRIER_NAMED)
        wsdbg_print(phrase->text, sizeof phrase->text, "named barrier %u", row->id);
    else
        wsdbg_print(phrase->text, sizeof phrase->text, "the %s", wsdbg_barrier_kind_name(row->kind));
}

struct wsdbg_phrase wsdbg_say_family(const struct wsdbg_case *c, uint32_t barrier)
{
    struct wsdbg_phrase phrase = {"a barrier that is not known"};
    if (barrier < c->snapshot->barrier_count)
        print_family(&c->snapshot->barriers[barrier], &phrase);
    return phrase;
}

struct wsdbg_phrase wsdbg_say_object(const struct wsdbg_case *c, uint32_t barrier)
{
    struct wsdbg_phrase phrase = wsdbg_say_family(c, barrier);
    const struct wsdbg_barrier *row = barrier < c->snapshot->barrier_count ? &c->snapshot->barriers[barrier] : NULL;
    if (row && row->kind == WSDBG_BARRIER_MBARRIER && row->name && row->name->stages > 1) {
        const size_t used = strlen(phrase.text);
        wsdbg_print(phrase.text + used, sizeof phrase.text - used, " stage %u", row->stage);
    }
    return phrase;
}

void wsdbg_tell_wait(struct wsdbg_case *c, struct wsdbg_finding *finding, uint32_t warp)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    if (row->state == WSDBG_WARP_WAIT_MBARRIER && row->parity.known)
        wsdbg_evidence_warp(c, finding, warp, "%s waits for parity %u of %s%s", wsdbg_say_warp(c, warp).text,
                            row->parity.value, wsdbg_say_object(c, row->barrier).text, wsdbg_say_at(c, warp).text);
    else
        wsdbg_evidence_warp(c, finding, warp, "%s: %s%s", wsdbg_say_warp(c, warp).text,
                            wsdbg_warp_state_name(row->state), wsdbg_say_at(c, warp).text);
}

void wsdbg_tell_waits(struct wsdbg_case *c, struct wsdbg_finding *finding, const struct wsdbg_warp_set *warps)
{
    uint32_t told = 0;
    for (uint32_t w = 0; w < c->warp_count && told < WARP_ROWS_MAX; w++)
        if (wsdbg_set_has(warps, w)) {
            wsdbg_tell_wait(c, finding, w);
            told++;
        }
}

void wsdbg_tell_word(struct wsdbg_case *c, struct wsdbg_finding *finding, uint32_t barrier)
{
    struct wsdbg_word word;
    if (!wsdbg_word_of(c, barrier, &word))
        return;
    char bytes[48] = "";
    if (word.bytes)
        wsdbg_print(bytes, sizeof bytes, ", %lld bytes %s", (long long)(word.bytes < 0 ? -word.bytes : word.bytes),
                    word.bytes < 0 ? "came early" : "missing");
    wsdbg_evidence_barrier(c, finding, barrier, "%s: in phase %u, %u of %u arrivals missing%s",
                           wsdbg_say_object(c, barrier).text, word.phase, word.pending, word.expected, bytes);
}

void wsdbg_tell_access(struct wsdbg_case *c, struct wsdbg_finding *finding, uint32_t access, const char *what)
{
    if (access >= c->snapshot->access_count)
        return;
    const struct wsdbg_access_row *row = &c->snapshot->accesses[access];
    const struct wsdbg_site *site = wsdbg_snapshot_site(c->snapshot, row->site);
    const struct wsdbg_phrase place = wsdbg_say_place(c, row->site);
    const bool text = site && site->instruction[0];
    wsdbg_evidence_text(c, finding, "%s%s%s%s%s%s %s", wsdbg_access_kind_name(row->kind), place.text[0] ? " at " : "",
                        place.text, text ? " (" : "", text ? site->instruction : "", text ? ")" : "", what);
}
