/* look_debug_test.c - a look at many CTAs of a build without optimisation, all of which poll: the kernel poll_word of
 * debug_waits.cu.
 *
 * Reads the cubin that nvcc makes of debug_waits.cu.  A lane executes it from its start up to some instruction of its
 * loop; then all lanes stand there, with what that lane has in registers and local memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/look.h"
#include "machine/spin_run.h"
#include "placed_cubin.h"

#define WORDS_AT UINT64_C(0x700000000)
#define WINDOW UINT64_C(0x7f20ff000000)
enum { CTAS = 24, STEPS = 200, PARAMETERS = 0x210, STACK = 0x28, WINDOW_AT = 0x20, STACK_AT = 0xfffc00, INDEX = 5 };

/* The machine, and the lane that all lanes are like. */
struct scene {
    struct wsdbg_machine machine;
    struct wsdbg_machine_context context;
    struct wsdbg_machine_module module;
    struct wsdbg_machine_grid grid;
    struct wsdbg_machine_device device;
    struct wsdbg_machine_cta ctas[CTAS];
    struct wsdbg_machine_warp warps[CTAS];
    struct wsdbg_code *code;
    struct spin_run *run;
};

static struct spin_run *run_of(const struct wsdbg_machine *machine)
{
    return ((const struct scene *)machine)->run;
}

/* ---- what the machine tells ---- */

static struct wsdbg_error *registers_of(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t first,
                                        uint32_t count, uint32_t *out, uint32_t *known_count)
{
    (void)warp, (void)lane;
    for (*known_count = 0; *known_count < count && first + *known_count < WSDBG_RZ; ++*known_count)
        out[*known_count] = run_of(machine)->state.value[first + *known_count];
    return NULL;
}

static struct wsdbg_error *uniform_of(struct wsdbg_machine *machine, uint32_t warp, uint32_t first, uint32_t count,
                                      uint32_t *out, uint32_t *known_count)
{
    (void)warp;
    for (*known_count = 0; *known_count < count; ++*known_count)
        out[*known_count] = run_of(machine)->state.value[WSDBG_REGISTER_UNIFORM + first + *known_count];
    return NULL;
}

static struct wsdbg_error *predicates_of(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t *mask,
                                         bool *known)
{
    (void)warp, (void)lane;
    *mask = 0;
    *known = true;
    for (unsigned i = 0; i < WSDBG_PT; i++)
        *mask |= run_of(machine)->state.value[WSDBG_REGISTER_PREDICATE + i] << i;
    return NULL;
}

static struct wsdbg_error *local_of(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t address,
                                    void *out, uint32_t byte_count, bool *known)
{
    const struct spin_memory *memory = &run_of(machine)->memory;
    (void)warp, (void)lane;
    *known = false;
    for (uint32_t i = 0; i < memory->count && byte_count == sizeof memory->words[i].value; i++)
        if (memory->words[i].address == address && memory->words[i].bits == UINT32_MAX) {
            memcpy(out, &memory->words[i].value, sizeof memory->words[i].value);
            *known = true;
        }
    return NULL;
}

static struct wsdbg_error *shared_of(struct wsdbg_machine *machine, uint32_t cta, uint32_t address, void *out,
                                     uint32_t byte_count, bool *known)
{
    (void)machine, (void)cta, (void)address, (void)out, (void)byte_count;
    *known = false;
    return NULL;
}

/* All words are 0. */
static struct wsdbg_error *global_of(struct wsdbg_machine *machine, uint32_t context, uint64_t address, void *out,
                                     uint32_t byte_count, bool *known)
{
    (void)machine, (void)context;
    *known = address - WORDS_AT < 4096;
    if (*known)
        memset(out, 0, byte_count);
    return NULL;
}

static struct wsdbg_error *constant_of(struct wsdbg_machine *machine, uint32_t grid, unsigned bank, uint32_t offset,
                                       void *out, uint32_t byte_count, bool *known)
{
    static const uint64_t parameters[] = {WORDS_AT, INDEX};
    uint32_t value = offset == STACK           ? STACK_AT
                     : offset == WINDOW_AT     ? (uint32_t)WINDOW
                     : offset == WINDOW_AT + 4 ? (uint32_t)(WINDOW >> 32)
                                               : 0;
    (void)machine, (void)grid;
    if (offset - PARAMETERS < sizeof parameters)
        memcpy(&value, (const char *)parameters + (offset - PARAMETERS), sizeof value);
    *known = bank == 0 && byte_count == sizeof value;
    if (*known)
        memcpy(out, &value, sizeof value);
    return NULL;
}

/* ---- the lane that comes so far ---- */

static bool lane_constant(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    bool known;
    constant_of(context, 0, bank, offset_bytes, value, sizeof *value, &known);
    return known;
}

static bool lane_special(void *context, uint32_t number, uint32_t *value)
{
    (void)context, (void)number;
    *value = 0;
    return true;
}

static bool lane_global(void *context, uint64_t address, bool is_generic, uint32_t *value)
{
    bool known;
    (void)is_generic;
    global_of(context, 0, address, value, sizeof *value, &known);
    return known;
}

static const struct wsdbg_cubin_function *kernel_of(const struct wsdbg_cubin *cubin)
{
    for (size_t i = 0; i < wsdbg_cubin_function_count(cubin); i++)
        if (strcmp(wsdbg_cubin_function(cubin, i)->name, "poll_word") == 0)
            return wsdbg_cubin_function(cubin, i);
    fail_msg("no kernel");
    return NULL;
}

/* The counter of the lane after so many steps. */
static uint64_t walk(struct scene *scene, const struct wsdbg_code_function *kernel)
{
    struct wsdbg_thread_world world = {
        .context = scene, .constant = lane_constant, .special = lane_special, .global = lane_global};
    struct wsdbg_spin_code code = {.graph = kernel->graph, .joined = kernel->joined};
    uint32_t left = UINT32_MAX;
    uint64_t why;
    scene->run->code = &code;
    scene->run->world = &world;
    scene->run->steps_left = &left;
    for (unsigned i = 0; i < STEPS; i++)
        assert_int_equal(spin_run_step(scene->run, &why), SPIN_STEP_GOES);
    const uint64_t address = kernel->joined->copies[scene->run->at.copy].function->address;
    wsdbg_spin_code_deinit(&code);
    return address + (uint64_t)scene->run->at.number * WSDBG_INSTRUCTION_BYTES;
}

static void start(struct scene *scene)
{
    static const struct wsdbg_machine_ops ops = {.registers = registers_of,
                                                 .uniform_registers = uniform_of,
                                                 .predicates = predicates_of,
                                                 .local = local_of,
                                                 .shared = shared_of,
                                                 .global = global_of,
                                                 .constant = constant_of};
    struct wsdbg_cubin *cubin;
    struct wsdbg_code_kernel *kernel;
    *scene = (struct scene){.grid = {.grid_id = 1, .grid = {CTAS, 1, 1}, .block = {32, 1, 1}},
                            .device = {.compute_capability = wsdbg_known_u32(90)},
                            .module = {.handle = 1, .image = placed_cubin_read(WSDBG_DEBUG_WAITS)},
                            .run = calloc(1, sizeof *scene->run)};
    assert_non_null(scene->run);
    assert_null(wsdbg_cubin_open(&scene->module.image, &cubin));
    scene->grid.function_entry = kernel_of(cubin)->address;
    wsdbg_cubin_close(cubin);
    scene->machine = (struct wsdbg_machine){.ops = &ops,
                                            .source = "live",
                                            .devices = &scene->device,
                                            .device_count = 1,
                                            .ctas = scene->ctas,
                                            .cta_count = CTAS,
                                            .warps = scene->warps,
                                            .warp_count = CTAS,
                                            .contexts = &scene->context,
                                            .context_count = 1,
                                            .modules = &scene->module,
                                            .module_count = 1,
                                            .grids = &scene->grid,
                                            .grid_count = 1};
    assert_null(wsdbg_code_create(&scene->code));
    wsdbg_code_begin(scene->code);
    assert_null(wsdbg_code_kernel(scene->code, &scene->machine, 0, &kernel));
    const uint64_t pc = walk(scene, kernel->function);
    for (uint32_t i = 0; i < CTAS; i++) {
        scene->ctas[i] = (struct wsdbg_machine_cta){.x = i, .warp_first = i, .warp_count = 1};
        scene->warps[i] = (struct wsdbg_machine_warp){.cta = i, .valid_lanes = UINT32_MAX, .active_lanes = UINT32_MAX};
        for (uint32_t lane = 0; lane < WSDBG_MACHINE_LANES; lane++)
            scene->warps[i].lanes[lane] = (struct wsdbg_machine_lane){.pc = pc, .thread = {lane, 0, 0}};
    }
}

/* More lanes than are followed round their loops: the others are in the same loop, and come to the same load. */
static void all_poll_the_word(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    struct wsdbg_snapshot snapshot = {0};
    struct wsdbg_look *look;
    (void)state;
    assert_non_null(scene);
    start(scene);
    assert_null(wsdbg_look_take(&scene->machine, scene->code, &look));
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    assert_int_equal(snapshot.part_count, CTAS);
    for (uint32_t i = 0; i < CTAS; i++) {
        assert_int_equal(snapshot.parts[i].state, WSDBG_WARP_SPIN_GLOBAL);
        assert_true(snapshot.parts[i].address.known);
        assert_int_equal(snapshot.parts[i].address.value, WORDS_AT + INDEX * sizeof(uint32_t));
    }
    wsdbg_snapshot_deinit(&snapshot);
    wsdbg_look_destroy(look);
    wsdbg_code_destroy(scene->code);
    free((void *)scene->module.image.bytes);
    free(scene->run);
    free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_poll_the_word)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
