/* wgmma_test.c - what PTX and machine code say of wgmma in flight: kernels of a few instructions, and how many of their
 * wgmma may overlap, which instructions use accumulators meanwhile, whose scale-d is no constant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lint/wgmma_machine.h"
#include "lint/wgmma_source.h"
#include "ptx/parse.h"

#define FENCE "wgmma.fence.sync.aligned;\n"
#define COMMIT "wgmma.commit_group.sync.aligned;\n"
#define WAIT(groups) "wgmma.wait_group.sync.aligned " #groups ";\n"
/* Into accumulators a, b: four registers each. */
#define MULTIPLY(d, scale)                                                                                     \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%" d "0, %" d "1, %" d "2, %" d "3}, %x, %x, " scale \
    ", 1, 1, 0, 0;\n"
#define STAGE FENCE MULTIPLY("a", "one") MULTIPLY("a", "one") COMMIT
/* The body of a loop that ends when %n rounds are over. */
#define LOOP(body) "again:\n" body "add.s32 %i, %i, 1;\nsetp.lt.s32 more, %i, %n;\n@more bra again;\n"
#define WRITE "st.global.f32 [%out], %a1;\n"

/* The callee's name is a static string: the program is gone then. */
static struct wsdbg_wgmma_source read_ptx(const char *body)
{
    static const char before[] = ".version 8.3\n.target sm_90a\n.address_size 64\n"
                                 ".extern .func other();\n.extern .func note(.param .b32 value);\n"
                                 ".visible .entry kernel(.param .u64 p, .param .u32 q) {\n"
                                 ".local .align 16 .b8 kept[64];\n"
                                 ".reg .f32 %a<4>, %b<4>, %f;\n.reg .b64 %x, %out;\n.reg .b32 %i, %n, %r<4>;\n"
                                 ".reg .pred one, more, some, scale;\n"
                                 "ld.param.u64 %out, [p];\nld.param.u32 %n, [q];\nmov.u64 %x, 0;\nmov.u32 %i, 0;\n"
                                 "mov.u32 %r0, 1;\nsetp.ne.b32 one, %r0, 0;\nsetp.eq.s32 some, %n, 7;\n";
    char text[4096];
    snprintf(text, sizeof text, "%s%sret;\n}\n", before, body);
    struct wsdbg_ptx_program *program;
    struct wsdbg_error *error = wsdbg_ptx_parse_to_read(text, strlen(text), "PTX", &program);
    if (error)
        fail_msg("%s", wsdbg_error_message(error));
    struct wsdbg_wgmma_source source;
    assert_null(wsdbg_wgmma_source_read(program, wsdbg_ptx_find_function(program, "kernel"), &source));
    source.callee = source.callee && strcmp(source.callee, "note") == 0 ? "note" : source.callee ? "?" : NULL;
    wsdbg_ptx_program_destroy(program);
    return source;
}

static size_t touches(const struct wsdbg_wgmma_source *source)
{
    size_t count = 0;
    for (unsigned i = 0; i < WSDBG_WGMMA_TOUCH_KINDS; i++)
        count += source->touches[i].count;
    return count;
}

static void groups_that_a_wait_leaves_stay_in_flight(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        unsigned in_flight;
    } rows[] = {
        {STAGE WAIT(0), 2},
        {LOOP(STAGE WAIT(0)) WRITE, 2},
        {LOOP(STAGE WAIT(1)) WAIT(0) WRITE, 4},
        {LOOP(FENCE MULTIPLY("a", "one") COMMIT WAIT(0)) WRITE, 1},
        {LOOP(FENCE MULTIPLY("a", "one") COMMIT WAIT(1)) WAIT(0), 2},
        /* Who never commits is never waited for. */
        {LOOP(FENCE MULTIPLY("a", "one") WAIT(0)), 64},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(read_ptx(rows[i].body).in_flight, rows[i].in_flight);
}

static void accumulators_may_be_used_once_they_were_waited_for(void **state)
{
    (void)state;
    static const char *const clean[] = {
        STAGE WAIT(0) WRITE,
        LOOP(STAGE WAIT(1)) WAIT(0) WRITE,
        LOOP(STAGE WAIT(0) WRITE),
        /* The older group is complete, the younger one has the other accumulators. */
        STAGE FENCE MULTIPLY("b", "one") COMMIT WAIT(1) WRITE WAIT(0),
        /* Before the first wgmma. */
        "mov.f32 %a0, 0f00000000;\n" STAGE WAIT(0) WRITE,
    };
    for (size_t i = 0; i < sizeof clean / sizeof *clean; i++) {
        const struct wsdbg_wgmma_source source = read_ptx(clean[i]);
        if (touches(&source))
            fail_msg("row %zu has %zu uses of accumulators in flight", i, touches(&source));
    }
}

static void a_use_of_accumulators_in_flight_has_its_kind(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        enum wsdbg_wgmma_touch_kind kind;
        size_t count, of_branch;
    } rows[] = {
        {STAGE WRITE WAIT(0), WSDBG_WGMMA_READ, 1, 0},
        {STAGE "mov.f32 %f, %a2;\n" WAIT(0), WSDBG_WGMMA_READ, 1, 0},
        {FENCE MULTIPLY("a", "one") "mov.f32 %a0, %f;\n" MULTIPLY("a", "one") COMMIT WAIT(0), WSDBG_WGMMA_WRITTEN, 1,
         0},
        {STAGE "st.local.f32 [kept], %a0;\nst.local.v2.f32 [kept+8], {%a2, %a3};\n" WAIT(0), WSDBG_WGMMA_SPILLED, 3, 0},
        {LOOP(STAGE WAIT(1)) WRITE, WSDBG_WGMMA_READ, 1, 0},
        /* On one path all groups are waited for, on the other none. */
        {STAGE "@some bra past;\n" WAIT(0) "past:\n" WRITE, WSDBG_WGMMA_READ, 1, 1},
        /* The group is of the round before, or of before the loop. */
        {STAGE LOOP(FENCE MULTIPLY("b", "one") COMMIT WAIT(1) WRITE STAGE WAIT(1)) WAIT(0), WSDBG_WGMMA_LATE, 1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct wsdbg_wgmma_source source = read_ptx(rows[i].body);
        if (source.touches[rows[i].kind].count != rows[i].count || touches(&source) != rows[i].count ||
            source.touches[rows[i].kind].of_branch != rows[i].of_branch)
            fail_msg("row %zu: %zu of this kind, %zu of a branch, %zu in all", i, source.touches[rows[i].kind].count,
                     source.touches[rows[i].kind].of_branch, touches(&source));
    }
}

static void a_scale_is_constant_where_its_predicate_compares_constants(void **state)
{
    (void)state;
    assert_int_equal(read_ptx(STAGE WAIT(0)).scales, 0);
    const struct wsdbg_wgmma_source source =
        read_ptx(LOOP(FENCE "setp.ne.s32 scale, %i, 0;\n" MULTIPLY("a", "scale") MULTIPLY("a", "one") COMMIT WAIT(0)));
    assert_int_equal(source.issues, 2);
    assert_int_equal(source.scales, 1);
    assert_int_equal(source.scale_source + 1, source.scale);
}

/* ptxas of CUDA 12 serializes these; peeled with a scale-d of 0, nothing sets them. */
static void accumulators_that_are_set_before_a_loop_are_seen(void **state)
{
    (void)state;
    assert_int_equal(read_ptx("mov.f32 %a0, 0f00000000;\n" LOOP(STAGE WAIT(1)) WAIT(0) WRITE).first_values, 1);
    assert_int_equal(read_ptx("mov.f32 %a0, 0f00000000;\n" LOOP(STAGE WAIT(0)) WRITE).first_values, 0);
    assert_int_equal(read_ptx(LOOP(STAGE WAIT(1)) WAIT(0) WRITE).first_values, 0);
}

static void a_call_of_what_is_elsewhere_is_seen(void **state)
{
    (void)state;
    const struct wsdbg_wgmma_source source =
        read_ptx(LOOP(STAGE WAIT(0)) "{ .param .b32 value;\nst.param.b32 [value], %i;\ncall.uni note, (value);\n}\n");
    assert_int_equal(source.opaque_calls, 1);
    assert_string_equal(source.callee, "note");
    assert_int_equal(touches(&source), 0);
}

static void a_call_through_a_pointer_is_seen(void **state)
{
    (void)state;
    const struct wsdbg_wgmma_source source =
        read_ptx(LOOP(STAGE WAIT(0)) "mov.u64 %x, note;\n{ .param .b32 value;\nst.param.b32 [value], %i;\n"
                                     "shape: .callprototype _ (.param .b32 _);\ncall %x, (value), shape;\n}\n");
    assert_int_equal(source.opaque_calls, 1);
    assert_null(source.callee);
    assert_int_equal(touches(&source), 0);
}

/* ---- machine code: as ptxas makes it of such kernels, without their marks for scheduling ---- */

struct word {
    uint64_t low, high;
};
#define ARRIVE                                                     \
    {                                                              \
        UINT64_C(0x00000000000079c5), UINT64_C(0x000fe20000000000) \
    }
/* HGMMA.64x64x16.F32.BF16 R24, gdesc[UR4], R24; with UP0 as scale-d */
#define HGMMA                                                      \
    {                                                              \
        UINT64_C(0x00e00000041879f0), UINT64_C(0x000fe20008701818) \
    }
#define HGMMA_GROUP                                                \
    {                                                              \
        UINT64_C(0x00e00000041879f0), UINT64_C(0x000fe20008001818) \
    }
#define HGMMA_SCALE                                                \
    {                                                              \
        UINT64_C(0x00e00000041879f0), UINT64_C(0x000fe2000b801818) \
    }
#define DEPBAR                                                     \
    {                                                              \
        UINT64_C(0x00008000000079c5), UINT64_C(0x000fe40000010000) \
    }
#define DEPBAR_ONE                                                 \
    {                                                              \
        UINT64_C(0x00008000000079c5), UINT64_C(0x000fe40000010100) \
    }
/* UIADD3 UR4, UR4, 0x2, URZ; FMUL R24, R24, R18; STL [R1], R24; LDL R24, [R1] */
#define UIADD3                                                     \
    {                                                              \
        UINT64_C(0x0000000204047890), UINT64_C(0x000fe2000fffe03f) \
    }
#define FMUL                                                       \
    {                                                              \
        UINT64_C(0x0000001218187220), UINT64_C(0x000fe20000400000) \
    }
#define STL                                                        \
    {                                                              \
        UINT64_C(0x0000001801007387), UINT64_C(0x0001e20000100800) \
    }
#define LDL                                                        \
    {                                                              \
        UINT64_C(0x0000000001187983), UINT64_C(0x0001620000100800) \
    }
#define EXIT                                                       \
    {                                                              \
        UINT64_C(0x000000000000794d), UINT64_C(0x000fea0003800000) \
    }

static struct wsdbg_wgmma_machine read_code(const struct word *words, size_t count)
{
    const struct wsdbg_image code = {(const unsigned char *)words, count * sizeof *words};
    struct wsdbg_graph *graph;
    struct wsdbg_wgmma_machine machine;
    assert_null(wsdbg_graph_create(&code, &graph));
    assert_null(wsdbg_wgmma_machine_read(graph, NULL, NULL, &machine));
    wsdbg_graph_destroy(graph);
    return machine;
}
#define READ(...) read_code((const struct word[]){__VA_ARGS__}, sizeof((const struct word[]){__VA_ARGS__}) / 16)

static void a_pipelined_stage_overlaps(void **state)
{
    (void)state;
    struct wsdbg_wgmma_machine machine =
        READ(ARRIVE, HGMMA, UIADD3, HGMMA_GROUP, DEPBAR_ONE, ARRIVE, HGMMA, HGMMA_GROUP, DEPBAR, EXIT);
    assert_int_equal(machine.issues, 4);
    assert_int_equal(machine.in_flight, 4);
    assert_int_equal(machine.waits.count, 1);
    assert_int_equal(machine.idle_waits.count, 0);
    assert_int_equal(machine.scales.count, 0);
}

static void a_serialized_stage_waits_for_nobodys_sake(void **state)
{
    (void)state;
    const struct wsdbg_wgmma_machine machine =
        READ(ARRIVE, HGMMA_GROUP, DEPBAR, UIADD3, ARRIVE, HGMMA_GROUP, DEPBAR, EXIT);
    assert_int_equal(machine.in_flight, 1);
    assert_int_equal(machine.waits.count, 2);
    assert_int_equal(machine.idle_waits.count, 1);
    assert_int_equal(machine.idle_waits.at[0], 2);
    assert_int_equal(machine.written.count, 0);
}

static void what_stands_between_wgmma_is_counted(void **state)
{
    (void)state;
    struct wsdbg_wgmma_machine machine =
        READ(LDL, ARRIVE, HGMMA_GROUP, DEPBAR, STL, FMUL, LDL, ARRIVE, HGMMA_SCALE, HGMMA_GROUP, DEPBAR, EXIT);
    /* The first load is before any wgmma. */
    assert_int_equal(machine.spill_loads.count, 1);
    assert_int_equal(machine.spill_loads.at[0], 6);
    assert_int_equal(machine.spill_stores.count, 1);
    assert_int_equal(machine.written.count, 1);
    assert_int_equal(machine.idle_waits.count, 0);
    assert_int_equal(machine.scales.count, 1);
    assert_int_equal(machine.scales.at[0], 8);
    assert_int_equal(machine.in_flight, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_that_a_wait_leaves_stay_in_flight),
        cmocka_unit_test(accumulators_may_be_used_once_they_were_waited_for),
        cmocka_unit_test(a_use_of_accumulators_in_flight_has_its_kind),
        cmocka_unit_test(a_scale_is_constant_where_its_predicate_compares_constants),
        cmocka_unit_test(accumulators_that_are_set_before_a_loop_are_seen),
        cmocka_unit_test(a_call_of_what_is_elsewhere_is_seen),
        cmocka_unit_test(a_call_through_a_pointer_is_seen),
        cmocka_unit_test(a_pipelined_stage_overlaps),
        cmocka_unit_test(a_serialized_stage_waits_for_nobodys_sake),
        cmocka_unit_test(what_stands_between_wgmma_is_counted),
    };
    return cmocka_run_group_tests_name("wgmma", tests, NULL, NULL);
}
