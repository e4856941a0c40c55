/* walk_code.h - code for tests of walks, written as instructions, their operands in nvdisasm's order; and a small world
 * in which it is walked: a parameter of the kernel, a word of shared memory, and global memory that counts its reads.
 */
#ifndef TEST_SASS_WALK_CODE_H
#define TEST_SASS_WALK_CODE_H

#include "instructions.h"

#include <stdlib.h>
#include <string.h>

#include "sass/flow.h"
#include "sass/thread_load.h"
#include "sass/walk.h"

/* clang-format off */
#define IF(n) .guard = (n)
#define JUMP(rows) .has_target = true, .target_offset_bytes = (rows) * WSDBG_INSTRUCTION_BYTES
#define SET(reg, n) OP(MOV), UNGUARDED, TO(R(reg)), FROM(NUMBER(n))
#define LOAD_GLOBAL(reg, pair) OP(LDG), UNGUARDED, TO(R(reg)), FROM(PAIR_AT(pair)), .width_bytes = 4, .words = {1, 0}
#define SEND(op, pair, reg) OP(op), UNGUARDED, FROM(PAIR_AT(pair), R(reg)), .width_bytes = 4, .words = {1, 0}
#define IS(to, reg, mode_, n) \
    {OP(ISETP), UNGUARDED, TO(P(to)), FROM(R(reg), NUMBER(n), ALWAYS), .mode = WSDBG_COMPARE_##mode_}
/* clang-format on */

enum { LANE = 0, TID_X = 33, ROUNDS = 7, LONG = 1 << 20 };
#define SHFL_UP UINT64_C(1)
#define VOTE_ANY UINT64_C(1)

static inline bool constant(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    *value = *(const uint32_t *)context;
    return bank == 0 && offset_bytes == 0x210;
}

/* Of a warp each lane has its number as context. */
static inline bool lane_of(void *context, uint32_t number, uint32_t *value)
{
    *value = *(const uint32_t *)context;
    return number == LANE;
}

static inline bool special(void *context, uint32_t number, uint32_t *value)
{
    (void)context;
    *value = 0;
    return number == TID_X;
}

static inline bool shared(void *context, uint32_t address, uint32_t *value)
{
    (void)context;
    *value = 3;
    return address == 0x800;
}

enum { TABLE = 0x5000, DATA = 0x8000, GLOBAL_WORD = 2 };

/* How often words of global memory were read: those from DATA on, and those below. */
struct reads {
    uint32_t of_data, of_table;
};

static inline bool global(void *context, uint64_t address, bool is_generic, uint32_t *value)
{
    struct reads *reads = context;
    *(address < DATA ? &reads->of_table : &reads->of_data) += 1;
    *value = GLOBAL_WORD;
    return !is_generic;
}

static inline struct wsdbg_walk walk_in(const struct wsdbg_instruction *code, size_t count,
                                        const struct wsdbg_thread_world *world, struct wsdbg_walk_limits limits)
{
    uint32_t together;
    struct wsdbg_graph *graph;
    struct wsdbg_walk_plan *plan;
    struct wsdbg_walk walk;
    assert_null(wsdbg_graph_create_decoded(code, count, &graph));
    assert_null(wsdbg_walk_plan_create(graph, &plan));
    assert_null(wsdbg_walk_lanes(plan, world, 1, limits, &walk, &together));
    wsdbg_walk_plan_destroy(plan);
    wsdbg_graph_destroy(graph);
    return walk;
}

static inline struct wsdbg_walk walk_of(const struct wsdbg_instruction *code, size_t count, uint32_t parameter,
                                        struct wsdbg_walk_limits limits)
{
    const struct wsdbg_thread_world world = {&parameter, constant, special, shared, NULL, NULL, 0, 0};
    return walk_in(code, count, &world, limits);
}

#define WITHOUT_LIMITS ((struct wsdbg_walk_limits){LONG, LONG, LONG, NULL, NULL})
#define WALK(code, parameter) walk_of(code, sizeof(code) / sizeof *(code), parameter, WITHOUT_LIMITS)

/* Of the group with lane 0; *together: its lanes. */
static inline struct wsdbg_walk walk_of_warp(const struct wsdbg_instruction *code, size_t count, uint32_t *together)
{
    uint32_t lanes[WSDBG_WALK_LANES];
    struct wsdbg_thread_world worlds[WSDBG_WALK_LANES];
    struct wsdbg_graph *graph;
    struct wsdbg_walk_plan *plan;
    struct wsdbg_walk walk;
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++) {
        lanes[lane] = lane;
        worlds[lane] = (struct wsdbg_thread_world){&lanes[lane], constant, lane_of, NULL, NULL, NULL, 0, 0};
    }
    assert_null(wsdbg_graph_create_decoded(code, count, &graph));
    assert_null(wsdbg_walk_plan_create(graph, &plan));
    assert_null(wsdbg_walk_lanes(plan, worlds, UINT32_MAX, (struct wsdbg_walk_limits){LONG, LONG, LONG, NULL, NULL},
                                 &walk, together));
    wsdbg_walk_plan_destroy(plan);
    wsdbg_graph_destroy(graph);
    return walk;
}

#endif
