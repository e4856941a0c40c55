/* ptx_walks.c - see ptx_walks.h. */
#include "ptx_walks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "translate/ptx_code.h"
#include "translate/ptx_translate.h"

static const uint32_t parameters[] = {7, 0, 2, 1, 3, 4, 5, 6, 0xfffd02fe, 0, 0, 0};

static bool constant(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    const uint32_t first = offset_bytes - WSDBG_PTX_PARAMETERS;
    (void)context;
    if (bank || first % 4 || first >= sizeof parameters)
        return false;
    *value = parameters[first / 4];
    return true;
}

enum { LANE = 0, TID_X = 33 };

static bool special(void *context, uint32_t number, uint32_t *value)
{
    const uint32_t thread = *(const uint32_t *)context;
    const struct {
        uint32_t number, value;
    } rows[] = {{LANE, thread % WSDBG_WALK_LANES},
                {TID_X, thread},
                {WSDBG_SPECIAL_CLUSTER_X, 2},
                {WSDBG_SPECIAL_CTA_OF_CLUSTER_X, 1},
                {WSDBG_SPECIAL_CLUSTER_CTAS, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].number == number) {
            *value = rows[i].value;
            return true;
        }
    return false;
}

static bool global(void *context, uint64_t address, bool is_generic, uint32_t *value)
{
    (void)context;
    *value = (uint32_t)(address - PTX_WALKS_GLOBAL) / 4 + 1;
    return !is_generic && address >= PTX_WALKS_GLOBAL && address < PTX_WALKS_GLOBAL + 256;
}

struct wsdbg_thread_world ptx_walks_world(const uint32_t *thread)
{
    return (struct wsdbg_thread_world){(void *)(uintptr_t)thread, constant, special, NULL, global, NULL, 0, 0};
}

static void say_step(const struct wsdbg_walk_step *step, char *out, size_t room)
{
    const uint32_t rank = step->address >> 24;
    char place[40];
    if (rank >= WSDBG_WALK_RANKED)
        snprintf(place, sizeof place, "0x%x of rank %u", step->address & 0xffffff, rank - WSDBG_WALK_RANKED);
    else
        snprintf(place, sizeof place, "0x%x", step->address);
    switch (step->kind) {
    case WSDBG_ACCESS_WAIT:
        snprintf(out, room, " wait %s parity %u", place, step->number & 1);
        break;
    case WSDBG_ACCESS_ARRIVE:
        snprintf(out, room, " arrive %s", place);
        break;
    case WSDBG_ACCESS_INIT:
        snprintf(out, room, step->is_number_known ? " init %s %u" : " init %s ?", place, step->number);
        break;
    case WSDBG_WALK_POLL:
        snprintf(out, room, " poll");
        break;
    case WSDBG_ACCESS_NAMED_SYNC:
        snprintf(out, room, " sync %u", step->address);
        break;
    default:
        snprintf(out, room, " step %u", step->kind);
    }
}

static void say(const struct wsdbg_walk *walk, uint32_t together, char *out, size_t room)
{
    size_t at = (size_t)snprintf(out, room, "lanes %08x:", together);
    for (size_t i = 0; i < walk->count && at + 100 < room; i++) {
        char step[80];
        say_step(&walk->steps[i], step, sizeof step);
        at += (size_t)snprintf(out + at, room - at, "%s%s", i ? "," : "", step);
    }
    snprintf(out + at, room - at, "%s%s\n", walk->is_guessed ? " guessed" : "", walk->is_whole ? "" : " lost");
}

struct ptx_walks ptx_walks_begin(const char *text)
{
    struct ptx_walks walks;
    const struct wsdbg_image image = {(const unsigned char *)text, strlen(text)};
    struct wsdbg_error *error = wsdbg_ptx_code_create(&image, &walks.code);
    if (error)
        fail_msg("%s", wsdbg_error_message(error));
    assert_null(wsdbg_ptx_code_graph(walks.code, wsdbg_ptx_code_function(walks.code, 0), &walks.graph));
    assert_null(wsdbg_walk_plan_create(walks.graph, &walks.plan));
    return walks;
}

void ptx_walks_end(struct ptx_walks *walks)
{
    wsdbg_walk_plan_destroy(walks->plan);
    wsdbg_graph_destroy(walks->graph);
    wsdbg_ptx_code_destroy(walks->code);
}

static void say_warp(struct ptx_walks *walks, uint32_t warp, const char *name,
                     bool (*shared)(void *context, uint32_t address, uint32_t *value), char *out, size_t room)
{
    uint32_t threads[WSDBG_WALK_LANES], left = UINT32_MAX, together;
    struct wsdbg_thread_world worlds[WSDBG_WALK_LANES];
    for (uint32_t i = 0; i < WSDBG_WALK_LANES; i++) {
        threads[i] = warp * WSDBG_WALK_LANES + i;
        worlds[i] = ptx_walks_world(&threads[i]);
        worlds[i].shared = shared;
    }
    for (; left; left &= ~together) {
        struct wsdbg_walk walk;
        assert_null(wsdbg_walk_lanes(walks->plan, worlds, left,
                                     (struct wsdbg_walk_limits){1 << 20, 1 << 20, 1 << 10, NULL, NULL}, &walk,
                                     &together));
        assert_true(together & left & -left);
        snprintf(out + strlen(out), room - strlen(out), "%s", name);
        say(&walk, together, out + strlen(out), room - strlen(out));
        free(walk.steps);
    }
}

void ptx_walks_expect(const char *text, const char *expected)
{
    struct ptx_walks walks = ptx_walks_begin(text);
    char said[4096] = "";
    say_warp(&walks, 1, "", NULL, said, sizeof said);
    assert_string_equal(said, expected);
    ptx_walks_end(&walks);
}

void ptx_walks_expect_of_two(const char *text, bool (*shared)(void *context, uint32_t address, uint32_t *value),
                             const char *expected)
{
    struct ptx_walks walks = ptx_walks_begin(text);
    enum wsdbg_walks_end end;
    char said[4096];
    wsdbg_walk_plan_begin_cta(walks.plan, WSDBG_BELIEVE_BOTH);
    do {
        said[0] = '\0';
        wsdbg_walk_plan_begin_warp(walks.plan, 0);
        say_warp(&walks, 0, "warp 0 ", shared, said, sizeof said);
        wsdbg_walk_plan_begin_warp(walks.plan, 1);
        say_warp(&walks, 1, "warp 1 ", shared, said, sizeof said);
        end = wsdbg_walk_plan_end_pass(walks.plan);
        if (end == WSDBG_WALKS_DOUBTFUL)
            wsdbg_walk_plan_begin_cta(walks.plan, WSDBG_BELIEVE_PRESENT);
    } while (end != WSDBG_WALKS_HOLD);
    assert_string_equal(said, expected);
    ptx_walks_end(&walks);
}

bool ptx_walks_were_wrong(const char *text)
{
    struct ptx_walks walks = ptx_walks_begin(text);
    char said[4096] = "";
    wsdbg_walk_plan_begin_cta(walks.plan, WSDBG_BELIEVE_BOTH);
    for (uint32_t warp = 0; warp < 2; warp++) {
        wsdbg_walk_plan_begin_warp(walks.plan, warp);
        say_warp(&walks, warp, "", NULL, said, sizeof said);
    }
    const bool were_wrong = wsdbg_walk_plan_end_pass(walks.plan) != WSDBG_WALKS_HOLD;
    ptx_walks_end(&walks);
    return were_wrong;
}
