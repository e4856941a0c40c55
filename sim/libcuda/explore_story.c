/* explore_story.c - a reduced schedule as a sentence of source lines: who is stopped where, who then runs how far.
 *
 * Reads: the few switches that are left, and all turns of a run under them, which say how far a warp ran.
 * Writes: one line of the log.
 */
#include <stdio.h>
#include <string.h>

#include "libcuda/explore.h"

/* Steps that are told; the log's line has room for them. */
enum { STEPS_TOLD = 4, STORY_BYTES = 900, WARP_BYTES = 64 };

struct story {
    const struct explore_launch *launch;
    const struct explore_turns *run;
    char text[STORY_BYTES];
    size_t length;
};

static void add(struct story *story, const char *text)
{
    const size_t left = sizeof story->text - story->length;
    const int length = snprintf(story->text + story->length, left, "%s", text);
    story->length += length < 0 ? 0 : (size_t)length < left ? (size_t)length : left - 1;
}

/* A CTA is named where there are several. */
static void name_warp(const struct explore_launch *launch, uint32_t number, char out[WARP_BYTES])
{
    const uint32_t *grid = launch->launch->grid, *block = launch->launch->block;
    const uint32_t warps = (uint32_t)(((uint64_t)block[0] * block[1] * block[2] + 31) / 32), cta = number / warps;
    if ((uint64_t)grid[0] * grid[1] * grid[2] == 1)
        snprintf(out, WARP_BYTES, "warp %u", number);
    else
        snprintf(out, WARP_BYTES, "warp %u of CTA (%u,%u,%u)", number % warps, cta % grid[0], cta / grid[0] % grid[1],
                 cta / grid[0] / grid[1]);
}

static bool is_same(const struct wsdbg_schedule_switch *a, const struct wsdbg_schedule_switch *b)
{
    return a->from == b->from && a->to == b->to && a->at == b->at;
}

/* The turn with which the warp of the switch at [*next, ...) of the run gave way again; NULL = it never did. */
static const struct wsdbg_schedule_switch *end_of(const struct explore_turns *run,
                                                  const struct wsdbg_schedule_switch *given)
{
    size_t at = 0;
    while (at < run->count && !is_same(&run->rows[at], given))
        at++;
    for (at++; at < run->count; at++)
        if (run->rows[at].from == given->to && run->rows[at].to != given->to)
            return &run->rows[at];
    return NULL;
}

static void tell_stop(struct story *story, const struct wsdbg_schedule_switch *given)
{
    char warp[WARP_BYTES], place[EXPLORE_PLACE_BYTES], step[512];
    if (given->from == WSDBG_SCHEDULE_NOBODY)
        return;
    name_warp(story->launch, given->from, warp);
    explore_short_place(story->launch, given->instruction, place);
    if (given->waits)
        snprintf(step, sizeof step, "when %s %s %s, ", warp, strcmp(place, "its end") == 0 ? "is at" : "waits at",
                 place);
    else
        snprintf(step, sizeof step, "stop %s at %s, ", warp, place);
    add(story, step);
}

static void tell_run(struct story *story, const struct wsdbg_schedule_switch *given)
{
    char warp[WARP_BYTES], place[EXPLORE_PLACE_BYTES], step[512];
    const struct wsdbg_schedule_switch *end = end_of(story->run, given);
    const char *first = given->from == WSDBG_SCHEDULE_NOBODY ? " first" : "";
    name_warp(story->launch, given->to, warp);
    if (!end) {
        snprintf(step, sizeof step, "let %s run%s", warp, first);
    } else {
        explore_short_place(story->launch, end->instruction, place);
        snprintf(step, sizeof step, "let %s run%s to %s%s", warp, first, place,
                 end->waits && strcmp(place, "its end") != 0 ? ", where it waits" : "");
    }
    add(story, step);
}

void explore_say_story(const struct explore_launch *launch, const struct explore_turns *turns,
                       const struct explore_turns *run)
{
    struct story story = {.launch = launch, .run = run};
    char text[128];
    bool engines = false;
    for (size_t i = 0; i < turns->engine_count; i++)
        engines |= turns->engine[i] != 0;
    if (turns->count) {
        snprintf(text, sizeof text, "It takes %zu switch%s: ", turns->count, turns->count == 1 ? "" : "es");
        add(&story, text);
    }
    for (size_t i = 0; i < turns->count && i < STEPS_TOLD; i++) {
        if (i)
            add(&story, "; ");
        tell_stop(&story, &turns->rows[i]);
        tell_run(&story, &turns->rows[i]);
    }
    if (turns->count > STEPS_TOLD) {
        snprintf(text, sizeof text, "; and %zu more", turns->count - STEPS_TOLD);
        add(&story, text);
    }
    add(&story, turns->count ? "; else every warp runs until it waits"
                             : "It takes no context switch: every warp runs until it waits");
    add(&story, engines ? ", and some copies or matrix operations come early or late." : ".");
    explore_say(launch->log, "story %s\n", story.text);
}
