/* state_file_test.c - the file of a simulated device's state: what a look at it shows, and files that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "machine/interpret.h"
#include "wsdbg/device_state.h"

/* Instruction 2 waits on the mbarrier at 0x408 for parity 0, 4 is the named barrier, 5 polls; 7 ends it. */
static const char text[] = ".version 8.6\n.target sm_90a\n.address_size 64\n"
                           ".visible .entry kernel(.param .u64 flag)\n{\n"
                           ".shared .align 8 .b64 bars[2];\n"
                           ".reg .pred %p<4>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<2>;\n"
                           "ld.param.u64 %rd1, [flag];\n"
                           "mov.u32 %r1, bars;\n"
                           "wait:\n"
                           "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1+8], 0;\n"
                           "@!%p1 bra wait;\n"
                           "bar.sync 1, 96;\n"
                           "poll:\n"
                           "ld.acquire.gpu.global.u32 %r2, [%rd1];\n"
                           "setp.eq.s32 %p2, %r2, 0;\n"
                           "@%p2 bra poll;\n"
                           "ret;\n}\n";
enum { AT_WAIT = 2, AT_BAR = 4, AT_POLL = 5, BARS = 0x400, PIECE_BYTES = 16 };

/* A device with one CTA of three warps. */
struct file {
    struct wsdbg_state_header header;
    struct wsdbg_state_module module;
    struct wsdbg_state_grid grid;
    struct wsdbg_state_cta cta;
    struct wsdbg_state_piece piece;
    struct wsdbg_state_warp warps[3];
    struct wsdbg_state_part parts[4];
    struct wsdbg_state_found found[4];
    struct wsdbg_state_array array;
    uint64_t parameter;
    uint64_t words[2];
    char text[sizeof text + 8];
    char fault_words[8];
};

/* mbarrier.init for 3; one has arrived. */
static uint64_t word_of(uint32_t expected, uint32_t pending)
{
    return (uint64_t)(-(int64_t)pending & 0xfffff) << 43 | (uint64_t)(-(int64_t)expected & 0xfffff) << 1;
}

static struct file *make_file(void)
{
    struct file *file = calloc(1, sizeof *file);
    assert_non_null(file);
    *file = (struct file){
        .header = {.magic = WSDBG_STATE_MAGIC,
                   .version = WSDBG_STATE_VERSION,
                   .process_id = 7,
                   .byte_count = sizeof *file,
                   .context = 0xc0,
                   .time_ns = 1000,
                   .sm_count = 132,
                   .warps_per_sm = 64,
                   .module_count = 1,
                   .grid_count = 1,
                   .cta_count = 1,
                   .piece_count = 1,
                   .warp_count = 3,
                   .part_count = 4,
                   .found_count = 4,
                   .array_count = 1,
                   .shared_first = BARS,
                   .shared_window = 0x7e0000000000},
        .module = {.handle = 0x40, .text_offset = offsetof(struct file, text), .text_bytes = sizeof text - 1},
        .grid = {.grid_id = 5,
                 .grid = {1, 1, 1},
                 .block = {96, 1, 1},
                 .cluster = {1, 1, 1},
                 .registers = 16,
                 .parameter_offset = offsetof(struct file, parameter),
                 .parameter_bytes = sizeof file->parameter},
        .cta = {.sm = 3, .shared_bytes = PIECE_BYTES},
        .piece = {.first = BARS, .offset = offsetof(struct file, words), .byte_count = PIECE_BYTES},
        .warps = {{.index = 0, .live = UINT32_MAX, .registers = 16},
                  {.index = 1, .live = UINT32_MAX, .registers = 16},
                  {.index = 2, .live = UINT32_MAX, .registers = 16}},
        .parts = {{.warp = 0, .lanes = 1, .instruction = AT_WAIT, .wait = WSDBG_STATE_MBARRIER, .barrier = BARS + 8},
                  {.warp = 0, .lanes = 0xfffffffe, .instruction = AT_BAR, .wait = WSDBG_STATE_LANES},
                  {.warp = 1,
                   .lanes = UINT32_MAX,
                   .instruction = AT_BAR,
                   .wait = WSDBG_STATE_NAMED,
                   .barrier = 1,
                   .count = 96},
                  {.warp = 2,
                   .lanes = UINT32_MAX,
                   .instruction = AT_POLL,
                   .wait = WSDBG_STATE_SPINS,
                   .width_bytes = 4,
                   .address = 0xf1a9,
                   .value = 17}},
        .found = {{.warp = 1, .lane = 5, .instruction = AT_POLL, .value = 11},
                  {.warp = 1, .lane = 6, .instruction = AT_POLL, .value = 12},
                  {.warp = 1, .lane = 5, .instruction = AT_BAR, .value = 13},
                  {.warp = 1, .lane = 5, .instruction = AT_POLL, .value = 14}},
        .array = {.id = 3, .first = BARS, .stride = 8, .stages = 2},
        .words = {0, word_of(3, 2)},
    };
    memcpy(file->text, text, sizeof text);
    return file;
}

static struct wsdbg_error *open_with(const struct file *file, size_t byte_count, enum wsdbg_state_choice choice,
                                     enum wsdbg_state_memory memory, struct wsdbg_machine **out)
{
    char path[] = "/tmp/wsdbg-state-XXXXXX";
    const int fd = mkstemp(path);
    assert_int_equal(write(fd, file, byte_count), (ssize_t)byte_count);
    close(fd);
    struct wsdbg_error *error = wsdbg_machine_open_state(path, choice, memory, out);
    unlink(path);
    return error;
}

static struct wsdbg_error *open_file(const struct file *file, size_t byte_count, enum wsdbg_state_choice choice,
                                     struct wsdbg_machine **out)
{
    return open_with(file, byte_count, choice, WSDBG_STATE_MEMORY_GONE, out);
}

static void look_at(struct wsdbg_machine *machine, struct wsdbg_snapshot *out)
{
    struct wsdbg_code *code;
    struct wsdbg_look *look;
    assert_null(wsdbg_code_create(&code));
    assert_null(wsdbg_code_prepare(code, machine));
    assert_null(wsdbg_look_take(machine, code, &look));
    assert_null(wsdbg_look_snapshot(&look, 1, out));
    wsdbg_look_destroy(look);
    wsdbg_code_destroy(code);
    machine->ops->close(machine);
}

static void a_lane_has_the_results_of_its_atomics_in_their_order(void **state)
{
    static const struct {
        struct wsdbg_machine_atomic atomic;
        uint32_t times;
        enum wsdbg_machine_found found;
        uint32_t value;
    } rows[] = {
        {{0, 1, 5, AT_POLL}, 0, WSDBG_MACHINE_FOUND, 11},
        {{0, 1, 5, AT_POLL}, 1, WSDBG_MACHINE_FOUND, 14},
        {{0, 1, 5, AT_POLL}, 2, WSDBG_MACHINE_FOUND_NOT_YET, 0},
        {{0, 1, 5, AT_POLL}, 3, WSDBG_MACHINE_FOUND_UNKNOWN, 0},
        {{0, 1, 6, AT_POLL}, 0, WSDBG_MACHINE_FOUND, 12},
        {{0, 1, 5, AT_BAR}, 0, WSDBG_MACHINE_FOUND, 13},
        {{0, 2, 5, AT_POLL}, 0, WSDBG_MACHINE_FOUND_UNKNOWN, 0},
    };
    struct file *file = make_file();
    struct wsdbg_machine *machine;
    (void)state;
    assert_null(open_file(file, sizeof *file, WSDBG_STATE_ALL_GRIDS, &machine));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t value = 0;
        assert_int_equal(machine->ops->found(machine, &rows[i].atomic, rows[i].times, &value), rows[i].found);
        assert_int_equal(value, rows[i].value);
    }
    machine->ops->close(machine);
    free(file);
}

/* Recordings of older wsdbgs have it. */
/* The file as an older version has it: `header_bytes` of the header, and no rows from `rows` on. */
static size_t make_older(struct file *file, uint32_t version, size_t header_bytes, size_t rows)
{
    const size_t cut = sizeof file->header - header_bytes, row_bytes = offsetof(struct file, parameter) - rows;
    unsigned char *bytes = (unsigned char *)file;
    file->header.version = version;
    file->header.byte_count = sizeof *file - cut - row_bytes;
    file->module.text_offset -= cut + row_bytes;
    file->grid.parameter_offset -= cut + row_bytes;
    file->piece.offset -= cut + row_bytes;
    memmove(bytes + rows, bytes + offsetof(struct file, parameter), sizeof *file - offsetof(struct file, parameter));
    memmove(bytes + header_bytes, bytes + sizeof file->header, sizeof *file - sizeof file->header - row_bytes);
    return sizeof *file - cut - row_bytes;
}

static void version_1_has_no_results_of_atomics(void **state)
{
    static const struct wsdbg_machine_atomic atomic = {0, 1, 5, AT_POLL};
    struct file *file = make_file();
    struct wsdbg_machine *machine;
    uint32_t value;
    (void)state;
    const size_t byte_count =
        make_older(file, 1, offsetof(struct wsdbg_state_header, found_count), offsetof(struct file, found));
    assert_null(open_file(file, byte_count, WSDBG_STATE_ALL_GRIDS, &machine));
    assert_int_equal(machine->warp_count, 3);
    assert_int_equal(machine->ops->found(machine, &atomic, 0, &value), WSDBG_MACHINE_FOUND_UNKNOWN);
    machine->ops->close(machine);
    free(file);
}

static void version_2_has_no_arrays_and_no_fault(void **state)
{
    struct file *file = make_file();
    struct wsdbg_machine *machine;
    (void)state;
    file->header.fault_warp = 1;
    const size_t byte_count =
        make_older(file, 2, offsetof(struct wsdbg_state_header, array_count), offsetof(struct file, array));
    assert_null(open_file(file, byte_count, WSDBG_STATE_ALL_GRIDS, &machine));
    assert_int_equal(machine->warp_count, 3);
    assert_int_equal(machine->array_count, 0);
    assert_false(wsdbg_machine_has_exception(machine));
    machine->ops->close(machine);
    free(file);
}

static void a_look_shows_what_each_lane_waits_for(void **state)
{
    struct file *file = make_file();
    struct wsdbg_machine *machine;
    struct wsdbg_snapshot snapshot = {0};
    (void)state;
    assert_null(open_file(file, sizeof *file, WSDBG_STATE_ALL_GRIDS, &machine));
    look_at(machine, &snapshot);
    assert_string_equal(snapshot.source, "simulator");
    assert_string_equal(snapshot.functions[0].name, "kernel");
    assert_int_equal(snapshot.warp_count, 3);

    const struct wsdbg_warp_row *waits = &snapshot.warps[0], *gathers = &snapshot.warps[1], *polls = &snapshot.warps[2];
    assert_int_equal(waits->state, WSDBG_WARP_WAIT_MBARRIER);
    assert_int_equal(waits->part_count, 2);
    assert_int_equal(snapshot.parts[waits->part_first + 1].state, WSDBG_WARP_RECONVERGE);
    assert_int_equal(waits->parity.value, 0);
    const struct wsdbg_barrier *mbarrier = &snapshot.barriers[waits->barrier];
    assert_int_equal(mbarrier->shared_offset.value, BARS + 8);
    assert_int_equal(mbarrier->expected_arrivals.value, 3);
    assert_int_equal(mbarrier->pending_arrivals.value, 2);
    assert_int_equal(mbarrier->device_id.value, 3);
    assert_int_equal(mbarrier->device_stage, 1);
    assert_int_equal(mbarrier->device_stages, 2);
    assert_non_null(strstr(snapshot.sites[waits->site].instruction, "mbarrier.try_wait"));

    assert_int_equal(gathers->state, WSDBG_WARP_WAIT_NAMED);
    assert_int_equal(snapshot.barriers[gathers->barrier].id, 1);
    assert_non_null(strstr(snapshot.sites[gathers->site].instruction, "bar.sync"));

    assert_int_equal(polls->state, WSDBG_WARP_SPIN_GLOBAL);
    assert_int_equal(snapshot.parts[polls->part_first].address.value, 0xf1a9);
    assert_int_equal(snapshot.parts[polls->part_first].value.value, 17);
    assert_non_null(strstr(snapshot.sites[polls->site].instruction, "ld.acquire.gpu"));
    wsdbg_snapshot_deinit(&snapshot);
    free(file);
}

/* A device that lane 5 of warp 1 stopped, at the poll; nothing in the text of the driver's error tells of the cause. */
static void a_look_shows_who_caused_a_fault(void **state)
{
    struct file *file = make_file();
    struct wsdbg_machine *machine;
    struct wsdbg_snapshot snapshot = {0};
    enum { ILLEGAL_ADDRESS = 14, CTA_NOT_PRESENT = 18 };
    (void)state;
    for (uint32_t absent = 0; absent < 2; absent++) {
        memcpy(file->fault_words, "why", 4);
        file->header.fault_offset = offsetof(struct file, fault_words);
        file->header.fault_bytes = 3;
        file->header.fault_grid = file->grid.grid_id;
        file->header.fault_error = 700;
        file->header.has_fault_address = 1;
        file->header.fault_address = 0x10;
        file->header.fault_of_absent_cta = absent;
        file->header.fault_warp = 2;
        file->header.fault_lanes = 1u << 5;
        file->header.fault_instruction = AT_POLL;
        assert_null(open_file(file, sizeof *file, WSDBG_STATE_ALL_GRIDS, &machine));
        look_at(machine, &snapshot);
        assert_int_equal(snapshot.exception_count, 1);
        const struct wsdbg_exception *row = &snapshot.exceptions[0];
        assert_int_equal(row->warp, 1);
        assert_int_equal(row->code, absent ? CTA_NOT_PRESENT : ILLEGAL_ADDRESS);
        assert_int_equal(row->lanes, 1u << 5);
        assert_true(row->exact && row->thread_known);
        assert_int_equal(row->thread[0], 37);
        assert_int_equal(row->address.value, 0x10);
        assert_non_null(strstr(snapshot.sites[row->site].instruction, "ld.acquire.gpu"));
        assert_string_equal(snapshot.contexts[0].error_words, "why");
        assert_int_equal(snapshot.contexts[0].error_grid, file->grid.grid_id);
        wsdbg_snapshot_deinit(&snapshot);
        snapshot = (struct wsdbg_snapshot){0};
    }
    file->header.fault_offset = sizeof *file - 2;
    struct wsdbg_error *error = open_file(file, sizeof *file, WSDBG_STATE_ALL_GRIDS, &machine);
    assert_int_equal(wsdbg_error_code(error), WSDBG_ERROR_BAD_INPUT);
    wsdbg_error_destroy(error);
    free(file);
}

/* What its author's probes tell of is asked for on request only. */
static void kernels_with_probes_can_be_left_out(void **state)
{
    struct file *file = make_file();
    struct wsdbg_machine *machine = NULL;
    (void)state;
    file->grid.has_probes = 1;
    struct wsdbg_error *error = open_file(file, sizeof *file, WSDBG_STATE_WITHOUT_PROBES, &machine);
    assert_int_equal(wsdbg_error_code(error), WSDBG_ERROR_NOT_FOUND);
    wsdbg_error_destroy(error);
    assert_null(open_file(file, sizeof *file, WSDBG_STATE_ALL_GRIDS, &machine));
    machine->ops->close(machine);
    free(file);
}

static void what_is_no_state_is_refused(void **state)
{
    static const struct {
        size_t at;
        uint32_t value;
        const char *words;
    } cases[] = {
        {offsetof(struct file, header.magic), 0, "not the state of a device"},
        {offsetof(struct file, header.version), 99, "version 99"},
        {offsetof(struct file, header.part_count), 1u << 30, "cut short"},
        {offsetof(struct file, module.text_bytes), 1u << 30, "a module that cannot be"},
        {offsetof(struct file, grid.module), 1, "a grid that cannot be"},
        {offsetof(struct file, grid.block), 0, "a grid that cannot be"},
        {offsetof(struct file, cta.grid), 1, "a CTA that cannot be"},
        {offsetof(struct file, piece.cta), 1, "a piece of shared memory that cannot be"},
        {offsetof(struct file, warps[1].cta), 5, "a warp that cannot be"},
        {offsetof(struct file, parts[1].warp), 3, "a part of a warp that cannot be"},
        {offsetof(struct file, parts[1].wait), WSDBG_STATE_WAIT_COUNT, "a part of a warp that cannot be"},
        {offsetof(struct file, header.version), 0, "version 0"},
        {offsetof(struct file, header.found_count), 1u << 30, "cut short"},
        {offsetof(struct file, found[1].cta), 1, "a result of an atomic that cannot be"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct file *file = make_file();
        struct wsdbg_machine *machine;
        memcpy((char *)file + cases[i].at, &cases[i].value, sizeof cases[i].value);
        struct wsdbg_error *error = open_file(file, sizeof *file, WSDBG_STATE_ALL_GRIDS, &machine);
        assert_non_null(error);
        if (!strstr(wsdbg_error_message(error), cases[i].words))
            fail_msg("case %zu: %s", i, wsdbg_error_message(error));
        wsdbg_error_destroy(error);
        free(file);
    }
}

static void ask_for_results(struct wsdbg_machine *machine)
{
    uint32_t value;
    for (uint32_t cta = 0; cta < machine->cta_count; cta++)
        for (uint32_t times = 0; times < 3; times++) {
            const struct wsdbg_machine_atomic atomic = {cta, 1, 5, AT_POLL};
            machine->ops->found(machine, &atomic, times, &value);
        }
}

/* Nothing in it is believed: whatever a word is changed to, there is an error or a look. */
static void any_word_may_be_anything(void **state)
{
    static const uint32_t values[] = {0, 1, 31, 1u << 20, INT32_MAX, UINT32_MAX};
    (void)state;
    for (size_t at = 0; at < offsetof(struct file, text); at += sizeof *values)
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            struct file *file = make_file();
            struct wsdbg_machine *machine;
            struct wsdbg_snapshot snapshot = {0};
            memcpy((char *)file + at, &values[i], sizeof values[i]);
            struct wsdbg_error *error = open_file(file, sizeof *file, WSDBG_STATE_ALL_GRIDS, &machine);
            if (!error) {
                ask_for_results(machine);
                look_at(machine, &snapshot);
            }
            wsdbg_error_destroy(error);
            wsdbg_snapshot_deinit(&snapshot);
            free(file);
        }
}

static void a_file_that_is_cut_is_refused(void **state)
{
    struct file *file = make_file();
    (void)state;
    for (size_t bytes = 0; bytes < offsetof(struct file, text); bytes += 8) {
        struct wsdbg_machine *machine;
        struct wsdbg_error *error = open_file(file, bytes, WSDBG_STATE_ALL_GRIDS, &machine);
        assert_non_null(error);
        wsdbg_error_destroy(error);
    }
    free(file);
}

/* The simulated process is this one: its memory is the device's global memory as long as it is there. */
static void global_memory_is_that_of_the_process(void **state)
{
    const uint32_t word = 0x1234567;
    struct file *file = make_file();
    file->header.process_id = (uint32_t)getpid();
    for (int there = 0; there < 2; there++) {
        struct wsdbg_machine *machine;
        uint32_t value = 0;
        bool known;
        assert_null(open_with(file, sizeof *file, WSDBG_STATE_ALL_GRIDS,
                              there ? WSDBG_STATE_MEMORY_THERE : WSDBG_STATE_MEMORY_GONE, &machine));
        assert_null(machine->ops->global(machine, 0, (uintptr_t)&word, &value, sizeof value, &known));
        assert_int_equal(known, there);
        assert_int_equal(value, there ? word : 0);
        assert_null(machine->ops->global(machine, 0, 8, &value, sizeof value, &known)); /* nothing is there */
        assert_false(known);
        machine->ops->close(machine);
    }
    free(file);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_look_shows_who_caused_a_fault),
        cmocka_unit_test(a_lane_has_the_results_of_its_atomics_in_their_order),
        cmocka_unit_test(version_1_has_no_results_of_atomics),
        cmocka_unit_test(version_2_has_no_arrays_and_no_fault),
        cmocka_unit_test(a_look_shows_what_each_lane_waits_for),
        cmocka_unit_test(kernels_with_probes_can_be_left_out),
        cmocka_unit_test(what_is_no_state_is_refused),
        cmocka_unit_test(any_word_may_be_anything),
        cmocka_unit_test(a_file_that_is_cut_is_refused),
        cmocka_unit_test(global_memory_is_that_of_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
