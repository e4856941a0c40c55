/* poll_split.c - see poll_split.h.
 *
 * Reads: parts with the store that their lanes reach (machine/look_writers.c), who may write what is polled.  Adds:
 * LANE_SPLIT.
 *
 * Every lane of the warp polls one word or waits for those that do, and what waits writes the word next.  A grid's
 * barrier that counts CTAs is for all of these to change, whatever lanes of one warp do.
 */
#include "diagnose/poll_split.h"

#include "diagnose/code_case.h"
#include "diagnose/grid_barrier.h"
#include "diagnose/poll_say.h"

/* The lanes that wait and then write the word.  NULL if some lane of the warp neither polls that word nor waits. */
static const struct wsdbg_part *writers_of(const struct wsdbg_case *c, uint32_t warp, uint32_t *polling)
{
    const struct wsdbg_part *writers = NULL, *poll = wsdbg_polling_part(c, warp);
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    *polling = 0;
    for (uint32_t i = 0; poll && i < count; i++) {
        const bool polls = wsdbg_warp_state_polls(parts[i].state) && parts[i].site == poll->site;
        if (!polls && parts[i].state != WSDBG_WARP_RECONVERGE)
            return NULL;
        if (polls)
            *polling |= parts[i].lanes;
        else if (parts[i].writes_site.known && !writers)
            writers = &parts[i];
    }
    return writers;
}

static const char *plural_s(uint32_t lanes)
{
    return lanes & (lanes - 1) ? "" : "s";
}

static void tell_lanes(struct wsdbg_case *c, struct wsdbg_finding *finding, uint32_t warp,
                       const struct wsdbg_part *writers)
{
    const struct wsdbg_site *store = wsdbg_snapshot_site(c->snapshot, writers->writes_site.value);
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    for (uint32_t i = 0; i < count; i++)
        wsdbg_evidence_warp(c, finding, warp, "lanes 0x%08x of %s: %s at %s", parts[i].lanes,
                            wsdbg_say_warp(c, warp).text, wsdbg_warp_state_name(parts[i].state),
                            wsdbg_say_place(c, parts[i].site).text);
    if (store)
        wsdbg_evidence_warp(c, finding, warp, "lanes 0x%08x of %s reach \"%s\" at %s, which writes the polled word",
                            writers->lanes, wsdbg_say_warp(c, warp).text, store->instruction,
                            wsdbg_say_place(c, writers->writes_site.value).text);
}

static void say_split(struct wsdbg_case *c, uint32_t warp, const struct wsdbg_part *writers, uint32_t polling,
                      enum wsdbg_confidence confidence)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    const struct wsdbg_poll poll = wsdbg_poll_of(c, warp);
    struct wsdbg_finding *finding = wsdbg_case_find(c, WSDBG_CAUSE_LANE_SPLIT, confidence, row->cta, poll.barrier);
    struct wsdbg_warp_set warps = {{0}};
    if (!finding)
        return;
    wsdbg_set_add(&warps, warp);
    finding->role = row->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "The lanes of %s have diverged: %s wait%s%s for %s, which poll%s %s%s. The waiting lanes would write "
                "that word%s, but only after the polling lanes join them%s.",
                wsdbg_say_warp(c, warp).text, wsdbg_say_lanes(writers->lanes).text, plural_s(writers->lanes),
                wsdbg_say_at_site(c, writers->site).text, wsdbg_say_lanes(polling).text, plural_s(polling),
                wsdbg_say_polled(c, warp).text, wsdbg_say_at_poll(c, warp).text,
                wsdbg_say_at_site(c, writers->writes_site.value).text,
                poll.writer == WSDBG_WRITER_NOBODY ? "" : "; something outside the grid may write it too");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Move the write before the shuffle or __syncwarp, or let no lane poll a word that another lane of the "
                "same warp writes later.");
    wsdbg_tell_polled_memory(c, finding, warp);
    wsdbg_tell_waits(c, finding, &warps);
    tell_lanes(c, finding, warp, writers);
    wsdbg_tell_host(c, finding, wsdbg_host_waits(c));
}

bool wsdbg_find_poll_split(struct wsdbg_case *c, const struct wsdbg_warp_set *pollers, enum wsdbg_confidence confidence)
{
    const struct wsdbg_grid_barrier barrier = wsdbg_grid_barrier_of(c);
    if (barrier.counted || barrier.gone)
        return false;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        uint32_t polling;
        const struct wsdbg_part *writers = wsdbg_set_has(pollers, w) ? writers_of(c, w, &polling) : NULL;
        if (!writers || wsdbg_poll_of(c, w).writer == WSDBG_WRITER_WARP)
            continue;
        say_split(c, w, writers, polling, confidence);
        return true;
    }
    return false;
}
