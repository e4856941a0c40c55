/* code_say.c - words for places, barriers and waits.  See code_say.h.
 *
 * Reads: sites, barriers, accesses.  Writes: phrases, evidence rows.
 */
#include "diagnose/code_say.h"

#include <string.h>

#include "model/place.h"

#define WARP_ROWS_MAX 16u

struct wsdbg_phrase wsdbg_say_place(const struct wsdbg_case *c, uint32_t site)
{
    struct wsdbg_phrase phrase = {""};
    const struct wsdbg_site *row = wsdbg_snapshot_site(c->snapshot, site);
    char place[WSDBG_PLACE_BYTES];
    if (!row)
        return phrase;
    wsdbg_place_text(c->snapshot, site, place);
    if (place[0])
        wsdbg_print(phrase.text, sizeof phrase.text, "%s", place);
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
    return c->of_machine ? wsdbg_say_at_site(c, row->site) : wsdbg_say_line(c, &row->last);
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
    struct wsdbg_phrase phrase = {"an unknown barrier"};
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

static struct wsdbg_phrase say_mbarrier_wait(const struct wsdbg_case *c, const struct wsdbg_warp_row *row)
{
    struct wsdbg_phrase phrase = {""};
    const bool by_event = row->last.kind == WSDBG_EVENT_MBARRIER_WAIT_BEGIN;
    const struct wsdbg_phrase object = wsdbg_say_object(c, row->barrier);
    if (row->parity.known || by_event)
        wsdbg_print(phrase.text, sizeof phrase.text, "waits for parity %u of %.100s",
                    row->parity.known ? row->parity.value : row->last.parity, object.text);
    else
        wsdbg_print(phrase.text, sizeof phrase.text, "waits on %.100s", object.text);
    return phrase;
}

struct wsdbg_phrase wsdbg_say_wait(const struct wsdbg_case *c, uint32_t warp)
{
    static const char *const words[WSDBG_WARP_STATE_COUNT] = {
        [WSDBG_WARP_RUNNING] = "is running",
        [WSDBG_WARP_WAIT_CLUSTER] = "waits at the cluster barrier",
        [WSDBG_WARP_WAIT_REGISTERS] = "waits for registers (setmaxnreg)",
        [WSDBG_WARP_WAIT_WGMMA] = "waits for its wgmma",
        [WSDBG_WARP_WAIT_BULK] = "waits for its bulk stores",
        [WSDBG_WARP_WAIT_GRID_DEPENDENCY] = "waits for the previous grid (griddepcontrol.wait)",
        [WSDBG_WARP_SPIN_GLOBAL] = "polls memory",
        [WSDBG_WARP_SPIN_SHARED] = "polls shared memory",
        [WSDBG_WARP_RECONVERGE] = "waits for its own lanes",
        [WSDBG_WARP_EXITED] = "has exited",
    };
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    struct wsdbg_phrase phrase = {"is in an unknown state"};
    if (row->unmoved)
        return (struct wsdbg_phrase){"has not moved, and is in no known wait"};
    if (row->state == WSDBG_WARP_WAIT_MBARRIER)
        return say_mbarrier_wait(c, row);
    if (row->state == WSDBG_WARP_WAIT_NAMED)
        wsdbg_print(phrase.text, sizeof phrase.text, "waits on %.100s", wsdbg_say_object(c, row->barrier).text);
    else if (row->state == WSDBG_WARP_WAIT_REGISTERS && row->registers_asked.known)
        wsdbg_print(phrase.text, sizeof phrase.text, "asks for %u registers a thread", row->registers_asked.value);
    else if ((unsigned)row->state < WSDBG_WARP_STATE_COUNT && words[row->state])
        wsdbg_print(phrase.text, sizeof phrase.text, "%s", words[row->state]);
    return phrase;
}

void wsdbg_tell_wait(struct wsdbg_case *c, struct wsdbg_finding *finding, uint32_t warp)
{
    wsdbg_evidence_warp(c, finding, warp, "%s %s%s", wsdbg_say_warp(c, warp).text, wsdbg_say_wait(c, warp).text,
                        wsdbg_say_at(c, warp).text);
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
    struct wsdbg_barrier_word word;
    if (!wsdbg_word_of(c, barrier, &word))
        return;
    char bytes[48] = "";
    if (word.bytes)
        wsdbg_print(bytes, sizeof bytes, ", %lld bytes %s", (long long)(word.bytes < 0 ? -word.bytes : word.bytes),
                    word.bytes < 0 ? "in excess" : "missing");
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
