/* look_calls_test.c - a kernel that calls functions (calls.cu): in which copy of a function a lane stands, by what its
 * registers and its stack frames tell, and what it waits for there.
 *
 * Reads the cubin that nvcc makes of calls.cu.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/look_calls.h"
#include "placed_cubin.h"
#include "sass/call_frame.h"

enum { COPIES_MOST = 8, STACK_AT = 0xfff000, WORDS_MOST = 8, STACK_POINTER = 1 };

/* What is known of the first lane of a warp. */
struct standing {
    struct wsdbg_machine machine;
    const struct standing *second; /* of the machine's second warp; NULL = there is none */
    const struct standing *idle;   /* of lanes that are not active; NULL = the same as of the first one */
    uint32_t registers[32], known_registers;
    struct {
        uint32_t address, value;
    } words[WORDS_MOST]; /* of its stack frames */
    uint32_t word_count;
};

static const struct standing *of_lane(const struct wsdbg_machine *machine, uint32_t warp, uint32_t lane)
{
    const struct standing *first = (const struct standing *)machine;
    const bool is_idle = first->idle && !(machine->warps[warp].active_lanes >> lane & 1);
    return warp ? first->second : is_idle ? first->idle : first;
}

static struct wsdbg_error *registers_of(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t first,
                                        uint32_t count, uint32_t *out, uint32_t *known_count)
{
    const struct standing *standing = of_lane(machine, warp, lane);
    *known_count = 0;
    for (uint32_t i = first; i < first + count && i < standing->known_registers; i++)
        out[(*known_count)++] = standing->registers[i];
    return NULL;
}

static struct wsdbg_error *local_of(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t address,
                                    void *out, uint32_t byte_count, bool *known)
{
    const struct standing *standing = of_lane(machine, warp, lane);
    *known = false;
    for (uint32_t i = 0; i < standing->word_count && byte_count == sizeof(uint32_t); i++)
        if (standing->words[i].address == address) {
            memcpy(out, &standing->words[i].value, sizeof(uint32_t));
            *known = true;
        }
    return NULL;
}

static struct wsdbg_error *no_uniform_registers(struct wsdbg_machine *machine, uint32_t warp, uint32_t first,
                                                uint32_t count, uint32_t *out, uint32_t *known_count)
{
    (void)machine, (void)warp, (void)first, (void)count, (void)out;
    *known_count = 0;
    return NULL;
}

static struct wsdbg_error *no_predicates(struct wsdbg_machine *machine, uint32_t warp, uint32_t lane, uint32_t *mask,
                                         bool *known)
{
    (void)machine, (void)warp, (void)lane, (void)mask;
    *known = false;
    return NULL;
}

/* No CTA has shared memory, no grid constants. */
static struct wsdbg_error *no_shared(struct wsdbg_machine *machine, uint32_t cta, uint32_t address, void *out,
                                     uint32_t byte_count, bool *known)
{
    (void)machine, (void)cta, (void)address, (void)out, (void)byte_count;
    *known = false;
    return NULL;
}

static struct wsdbg_error *no_constant(struct wsdbg_machine *machine, uint32_t grid, unsigned bank, uint32_t offset,
                                       void *out, uint32_t byte_count, bool *known)
{
    (void)bank;
    return no_shared(machine, grid, offset, out, byte_count, known);
}

static struct wsdbg_error *no_global(struct wsdbg_machine *machine, uint32_t context, uint64_t address, void *out,
                                     uint32_t byte_count, bool *known)
{
    return no_shared(machine, context, (uint32_t)address, out, byte_count, known);
}

/* ---- the machine ---- */

struct scene {
    struct standing standing;
    struct wsdbg_machine_context context;
    struct wsdbg_machine_module module;
    struct wsdbg_machine_grid grid;
    struct wsdbg_machine_device device;
    struct wsdbg_machine_cta cta;
    struct wsdbg_machine_warp warp;
    struct wsdbg_code *code;
    struct wsdbg_cubin *cubin;
    struct wsdbg_code_kernel *kernel;
};

static const struct wsdbg_cubin_function *function_named(const struct scene *scene, const char *name)
{
    for (size_t i = 0; i < wsdbg_cubin_function_count(scene->cubin); i++)
        if (strstr(wsdbg_cubin_function(scene->cubin, i)->name, name))
            return wsdbg_cubin_function(scene->cubin, i);
    fail_msg("no function %s", name);
    return NULL;
}

static void start(struct scene *scene)
{
    static const struct wsdbg_machine_ops ops = {.registers = registers_of,
                                                 .local = local_of,
                                                 .uniform_registers = no_uniform_registers,
                                                 .predicates = no_predicates,
                                                 .shared = no_shared,
                                                 .constant = no_constant,
                                                 .global = no_global};
    *scene = (struct scene){.grid = {.grid_id = 1, .grid = {1, 1, 1}, .block = {32, 1, 1}},
                            .device = {.compute_capability = wsdbg_known_u32(90)},
                            .cta = {.warp_count = 1},
                            .warp = {.valid_lanes = UINT32_MAX, .active_lanes = UINT32_MAX}};
    scene->module = (struct wsdbg_machine_module){.handle = 1, .image = placed_cubin_read(WSDBG_CALLS)};
    assert_null(wsdbg_cubin_open(&scene->module.image, &scene->cubin));
    scene->grid.function_entry = function_named(scene, "caller")->address;
    scene->standing.machine = (struct wsdbg_machine){.ops = &ops,
                                                     .source = "live",
                                                     .devices = &scene->device,
                                                     .device_count = 1,
                                                     .ctas = &scene->cta,
                                                     .cta_count = 1,
                                                     .warps = &scene->warp,
                                                     .warp_count = 1,
                                                     .contexts = &scene->context,
                                                     .context_count = 1,
                                                     .modules = &scene->module,
                                                     .module_count = 1,
                                                     .grids = &scene->grid,
                                                     .grid_count = 1};
    assert_null(wsdbg_code_create(&scene->code));
    wsdbg_code_begin(scene->code);
    assert_null(wsdbg_code_kernel(scene->code, &scene->standing.machine, 0, &scene->kernel));
    assert_non_null(scene->kernel);
    assert_non_null(scene->kernel->function->joined);
}

static void finish(struct scene *scene)
{
    wsdbg_code_destroy(scene->code);
    wsdbg_cubin_close(scene->cubin);
    free((void *)scene->module.image.bytes);
}

/* The address behind the call of a function that is the nth one of it in another function. */
static uint64_t behind_call(const struct scene *scene, const char *caller, const char *callee, unsigned nth)
{
    const struct wsdbg_cubin_function *from = function_named(scene, caller), *to = function_named(scene, callee);
    for (uint32_t i = 0; i < from->code.byte_count / WSDBG_INSTRUCTION_BYTES; i++) {
        struct wsdbg_instruction call;
        wsdbg_decode(from->code.bytes + (size_t)i * WSDBG_INSTRUCTION_BYTES, &call);
        if (call.operation == WSDBG_OP_CALL && (uint64_t)call.target_offset_bytes == to->address && nth-- == 0)
            return from->address + (i + UINT64_C(1)) * WSDBG_INSTRUCTION_BYTES;
    }
    fail_msg("no such call of %s", callee);
    return 0;
}

static struct wsdbg_code_place place_at(struct scene *scene, uint64_t address)
{
    struct wsdbg_code_place place;
    assert_null(wsdbg_code_find(scene->code, &scene->standing.machine, 0, address, &place));
    assert_non_null(place.function);
    return place;
}

/* The lane's frame at hand has this return address; returns the stack pointer of its caller. */
static uint32_t put_return(struct scene *scene, const struct wsdbg_code_place *place, uint32_t pointer,
                           uint64_t address)
{
    struct standing *standing = &scene->standing;
    struct wsdbg_call_frame frame;
    assert_true(wsdbg_call_frame_at(place->function->graph, place->instruction, &frame));
    if (frame.is_in_registers) {
        standing->registers[frame.number] = (uint32_t)address;
        standing->registers[frame.number + 1] = (uint32_t)(address >> 32);
    } else {
        standing->words[standing->word_count].address = pointer + (uint32_t)frame.low_bytes;
        standing->words[standing->word_count++].value = (uint32_t)address;
        standing->words[standing->word_count].address = pointer + (uint32_t)frame.high_bytes;
        standing->words[standing->word_count++].value = (uint32_t)(address >> 32);
    }
    return pointer + frame.frame_bytes;
}

/* A lane that stands behind the first of the calls, which lead to one another, the innermost first. */
static struct wsdbg_look_part stand(struct scene *scene, uint64_t pc, const uint64_t *calls, unsigned call_count)
{
    const struct wsdbg_look_source source = {.machine = &scene->standing.machine, .code = scene->code};
    struct wsdbg_look_part part = {.place = place_at(scene, pc)};
    struct wsdbg_code_place place = part.place;
    uint32_t pointer = STACK_AT;
    scene->standing.word_count = 0;
    scene->standing.known_registers = call_count ? 32 : 0;
    scene->standing.registers[STACK_POINTER] = pointer;
    for (unsigned i = 0; i < call_count; i++) {
        pointer = put_return(scene, &place, pointer, calls[i]);
        place = place_at(scene, calls[i]);
    }
    assert_null(wsdbg_look_called_copy(&source, scene->kernel, 0, 0, UINT32_MAX, &part));
    assert_ptr_equal(part.place.function, scene->kernel->function);
    return part;
}

/* The instruction of the kernel itself that leads to the copy. */
static uint64_t call_in_kernel(const struct scene *scene, const struct wsdbg_look_part *part)
{
    const struct wsdbg_joined *joined = scene->kernel->function->joined;
    uint32_t copy = joined->origins[part->place.instruction].copy;
    while (joined->copies[copy].caller != 0)
        copy = joined->copies[copy].caller;
    return scene->kernel->function->cubin->address +
           (joined->copies[copy].call + UINT64_C(1)) * WSDBG_INSTRUCTION_BYTES;
}

/* ---- what is found ---- */

static void the_frames_tell_the_calls(void **state)
{
    struct scene scene;
    start(&scene);
    const uint64_t outer = behind_call(&scene, "caller", "wait_for_both", 0);
    const uint64_t cases[][3] = {
        {behind_call(&scene, "4wait", "is_over", 0), behind_call(&scene, "caller", "4wait", 0)},
        {behind_call(&scene, "4wait", "is_over", 0), behind_call(&scene, "caller", "4wait", 1)},
        {behind_call(&scene, "4wait", "is_over", 0), behind_call(&scene, "wait_for_both", "4wait", 0), outer},
        {behind_call(&scene, "4wait", "is_over", 0), behind_call(&scene, "wait_for_both", "4wait", 1), outer},
    };
    uint32_t places[4];
    for (size_t i = 0; i < 4; i++) {
        const unsigned count = cases[i][2] ? 3 : 2;
        const struct wsdbg_look_part part = stand(&scene, function_named(&scene, "is_over")->address, cases[i], count);
        assert_int_equal(part.copies, 1);
        assert_int_equal(call_in_kernel(&scene, &part), cases[i][count - 1]);
        places[i] = part.place.instruction;
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(places[k], places[i]);
    }
    finish(&scene);
    (void)state;
}

static void assert_is_called(const struct scene *scene, const struct wsdbg_look_part *part,
                             const struct wsdbg_cubin_function *function, uint64_t call)
{
    const struct wsdbg_code_function *kernel = scene->kernel->function;
    const struct wsdbg_joined_copy *copy = &kernel->joined->copies[part->copy];
    assert_int_equal(part->copies, 1);
    assert_int_equal(copy->function->address, function->address);
    assert_int_equal(kernel->cubin->address + (copy->call + UINT64_C(1)) * WSDBG_INSTRUCTION_BYTES, call);
}

/* A lane in a BAR stands at an instruction behind it, of which the graph keeps none of the function's own. */
static void a_lane_behind_all_that_is_kept_of_a_copy_is_in_it(void **state)
{
    struct scene scene;
    struct wsdbg_instruction at = {.operation = WSDBG_OP_OTHER};
    start(&scene);
    const struct wsdbg_cubin_function *function = function_named(&scene, "meet");
    for (uint32_t n = 0; at.operation != WSDBG_OP_RET; n++) {
        wsdbg_decode(function->code.bytes + (size_t)n * WSDBG_INSTRUCTION_BYTES, &at);
        for (unsigned nth = 0; nth < 2; nth++) {
            const uint64_t call = behind_call(&scene, "caller", "meet", nth);
            const struct wsdbg_look_part part =
                stand(&scene, function->address + (uint64_t)n * WSDBG_INSTRUCTION_BYTES, &call, 1);
            assert_is_called(&scene, &part, function, call);
        }
    }
    finish(&scene);
    (void)state;
}

static void without_frames_there_are_several_copies(void **state)
{
    struct scene scene;
    start(&scene);
    const uint64_t innermost = behind_call(&scene, "wait_for_both", "4wait", 1);
    const uint64_t pc = function_named(&scene, "4wait")->address;
    assert_int_equal(stand(&scene, pc, NULL, 0).copies, 4);
    /* The frame of the function in the middle is not there; its call is the only one. */
    assert_int_equal(stand(&scene, pc, &innermost, 1).copies, 1);
    assert_int_equal(stand(&scene, function_named(&scene, "poll")->address, NULL, 0).copies, 1);
    finish(&scene);
    (void)state;
}

/* The line of the kernel at which the function of a site was called. */
static uint32_t line_of(const struct wsdbg_snapshot *snapshot, uint32_t site)
{
    uint32_t line = 0;
    for (; site < snapshot->site_count; site = snapshot->sites[site].inlined_at)
        line = snapshot->sites[site].line.value;
    return line;
}

/* The first warps of two CTAs stand at one counter: each is asked who called.  So is known where each of them was when
 * the GPU stopped it. */
static void warps_of_two_ctas_were_called_from_two_places(void **state)
{
    struct scene scene, other;
    struct wsdbg_look *look;
    struct wsdbg_snapshot snapshot = {0};
    start(&scene);
    start(&other);
    const uint64_t pc = function_named(&scene, "4wait")->address + 5 * WSDBG_INSTRUCTION_BYTES;
    const uint64_t calls[] = {behind_call(&scene, "caller", "4wait", 0), behind_call(&scene, "caller", "4wait", 1)};
    stand(&scene, pc, &calls[0], 1);
    stand(&other, pc, &calls[1], 1);
    struct wsdbg_machine_cta ctas[] = {scene.cta, scene.cta};
    struct wsdbg_machine_warp warps[] = {scene.warp, scene.warp};
    ctas[1].x = ctas[1].warp_first = warps[1].cta = 1;
    for (unsigned w = 0; w < 2; w++) {
        warps[w].error_pc = wsdbg_known_u64(pc);
        for (uint32_t lane = 0; lane < WSDBG_MACHINE_LANES; lane++)
            warps[w].lanes[lane] = (struct wsdbg_machine_lane){.pc = pc, .thread = {lane, 0, 0}, .exception = 4};
    }
    scene.grid.grid[0] = 2;
    scene.standing.second = &other.standing;
    scene.standing.machine.ctas = ctas;
    scene.standing.machine.warps = warps;
    scene.standing.machine.cta_count = scene.standing.machine.warp_count = 2;
    assert_null(wsdbg_look_take(&scene.standing.machine, scene.code, &look));
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    assert_int_equal(snapshot.part_count, 2);
    assert_int_not_equal(line_of(&snapshot, snapshot.parts[0].site), line_of(&snapshot, snapshot.parts[1].site));
    assert_int_equal(snapshot.exception_count, 2);
    for (unsigned w = 0; w < 2; w++)
        assert_int_equal(line_of(&snapshot, snapshot.exceptions[w].site), line_of(&snapshot, snapshot.parts[w].site));
    wsdbg_snapshot_deinit(&snapshot);
    wsdbg_look_destroy(look);
    finish(&scene);
    finish(&other);
    (void)state;
}

/* A loop may begin in the kernel and call a function: wherever a lane stands in it, that is one place. */
static void a_loop_that_calls_is_one_place(void **state)
{
    struct scene scene;
    struct wsdbg_look *looks[2];
    start(&scene);
    const struct wsdbg_code_place own = place_at(&scene, behind_call(&scene, "caller", "is_set", 0));
    const uint64_t pcs[] = {wsdbg_code_address(&own), function_named(&scene, "is_set")->address};
    const uint64_t call = pcs[0];
    for (unsigned i = 0; i < 2; i++) {
        stand(&scene, pcs[1], &call, 1);
        for (uint32_t lane = 0; lane < WSDBG_MACHINE_LANES; lane++)
            scene.warp.lanes[lane] = (struct wsdbg_machine_lane){.pc = pcs[i], .thread = {lane, 0, 0}};
        assert_null(wsdbg_look_take(&scene.standing.machine, scene.code, &looks[i]));
    }
    assert_int_equal(looks[0]->warps[0].stands, looks[1]->warps[0].stands);
    for (unsigned i = 0; i < 2; i++)
        wsdbg_look_destroy(looks[i]);
    finish(&scene);
    (void)state;
}

static uint32_t moved_between(struct wsdbg_look *const looks[2])
{
    struct wsdbg_snapshot snapshot = {0};
    assert_null(wsdbg_look_snapshot(looks, 2, &snapshot));
    const uint32_t moved = snapshot.looks[1].moved;
    wsdbg_snapshot_deinit(&snapshot);
    return moved;
}

/* A look may have no time to read return addresses: the warp then stands where it stood, as far as is known. */
static void a_call_that_is_not_known_is_no_movement(void **state)
{
    struct scene scene;
    struct wsdbg_look *looks[3];
    start(&scene);
    const uint64_t pc = function_named(&scene, "4wait")->address + 5 * WSDBG_INSTRUCTION_BYTES;
    const uint64_t calls[] = {behind_call(&scene, "caller", "4wait", 0), behind_call(&scene, "caller", "4wait", 1)};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(stand(&scene, pc, i ? &calls[i - 1] : NULL, i > 0).copies > 1, i == 0);
        for (uint32_t lane = 0; lane < WSDBG_MACHINE_LANES; lane++)
            scene.warp.lanes[lane] = (struct wsdbg_machine_lane){.pc = pc, .thread = {lane, 0, 0}};
        assert_null(wsdbg_look_take(&scene.standing.machine, scene.code, &looks[i]));
    }
    for (unsigned copy = 1; copy < 3; copy++)
        assert_int_equal(moved_between((struct wsdbg_look *[]){looks[0], looks[copy]}), 0);
    assert_int_equal(moved_between((struct wsdbg_look *[]){looks[1], looks[2]}), 1); /* it is in the other call */
    for (unsigned i = 0; i < 3; i++)
        wsdbg_look_destroy(looks[i]);
    finish(&scene);
    (void)state;
}

/* A loop that waits may call a function, and code that does not wait may call it, too. */
static void who_may_be_called_from_a_loop_is_not_known_to_have_left_it(void **state)
{
    struct scene scene;
    struct wsdbg_look *looks[3];
    start(&scene);
    const uint64_t call = behind_call(&scene, "caller", "4wait", 0);
    const struct {
        uint64_t pc;
        unsigned call_count;
    } places[] = {{function_named(&scene, "offset_of")->address + WSDBG_INSTRUCTION_BYTES, 0},
                  {behind_call(&scene, "4wait", "is_over", 0), 1}, /* in its loop */
                  {function_named(&scene, "4poll")->address, 0}};
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t pc = places[i].pc;
        assert_int_equal(stand(&scene, pc, &call, places[i].call_count).copies > 1, i == 0);
        for (uint32_t lane = 0; lane < WSDBG_MACHINE_LANES; lane++)
            scene.warp.lanes[lane] = (struct wsdbg_machine_lane){.pc = pc, .thread = {lane, 0, 0}};
        assert_null(wsdbg_look_take(&scene.standing.machine, scene.code, &looks[i]));
    }
    assert_int_equal(moved_between((struct wsdbg_look *[]){looks[0], looks[1]}), 0);
    assert_int_equal(moved_between((struct wsdbg_look *[]){looks[1], looks[0]}), 0);
    assert_int_equal(moved_between((struct wsdbg_look *[]){looks[0], looks[2]}), 1); /* no copy is called from there */
    for (unsigned i = 0; i < 3; i++)
        wsdbg_look_destroy(looks[i]);
    finish(&scene);
    (void)state;
}

/* Lanes that do not execute now may have been called from elsewhere. */
static void lanes_of_two_copies_are_not_one_wait(void **state)
{
    struct scene scene, other;
    struct wsdbg_snapshot snapshot;
    struct wsdbg_look *look;
    start(&scene);
    start(&other);
    const uint64_t pc = function_named(&scene, "is_over")->address;
    const uint64_t calls[][2] = {
        {behind_call(&scene, "4wait", "is_over", 0), behind_call(&scene, "caller", "4wait", 0)},
        {behind_call(&scene, "4wait", "is_over", 0), behind_call(&scene, "caller", "4wait", 1)}};
    stand(&other, pc, calls[1], 2);
    for (unsigned apart = 0; apart < 2; apart++) {
        snapshot = (struct wsdbg_snapshot){0};
        scene.warp.active_lanes = UINT32_MAX;
        stand(&scene, pc, calls[0], 2);
        for (uint32_t lane = 0; lane < WSDBG_MACHINE_LANES; lane++)
            scene.warp.lanes[lane] = (struct wsdbg_machine_lane){.pc = pc, .thread = {lane, 0, 0}};
        scene.warp.active_lanes = 1;
        scene.standing.idle = apart ? &other.standing : NULL;
        assert_null(wsdbg_look_take(&scene.standing.machine, scene.code, &look));
        assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
        assert_int_equal(snapshot.part_count, 1);
        assert_int_equal(snapshot.parts[0].state == WSDBG_WARP_UNKNOWN && !snapshot.parts[0].parity.known, apart);
        wsdbg_snapshot_deinit(&snapshot);
        wsdbg_look_destroy(look);
    }
    finish(&scene);
    finish(&other);
    (void)state;
}

/* Wherever in a copy a lane stands. */
static void each_copy_is_a_wait(void **state)
{
    static const struct {
        const char *function;
        enum wsdbg_warp_state state;
        uint32_t copies;
    } cases[] = {{"4wait", WSDBG_WARP_WAIT_MBARRIER, 4}, {"poll", WSDBG_WARP_SPIN_GLOBAL, 1}};
    struct scene scene;
    start(&scene);
    const struct wsdbg_joined *joined = scene.kernel->function->joined;
    for (size_t i = 0; i < 2; i++) {
        const uint64_t address = function_named(&scene, cases[i].function)->address;
        const struct wsdbg_cubin_function *function = place_at(&scene, address).function->cubin;
        struct wsdbg_joined_place places[COPIES_MOST];
        uint32_t found = 0;
        for (uint32_t n = 0; n < function->code.byte_count / WSDBG_INSTRUCTION_BYTES; n++) {
            const size_t count = wsdbg_joined_places(joined, function, n, places, COPIES_MOST);
            for (size_t k = 0; k < count; k++) {
                struct wsdbg_wait_site site;
                assert_null(wsdbg_wait_site_find(joined->graph, places[k].instruction, &site));
                found += site.state == cases[i].state;
            }
        }
        assert_true(found >= 4 * cases[i].copies);
    }
    finish(&scene);
    (void)state;
}

/* The number of the test's instruction in is_over; the parity is shifted right before it. */
static uint32_t find_test(const struct wsdbg_cubin_function *function, struct wsdbg_instruction *test,
                          struct wsdbg_instruction *shift)
{
    for (uint32_t i = 1; i < function->code.byte_count / WSDBG_INSTRUCTION_BYTES; i++) {
        wsdbg_decode(function->code.bytes + (size_t)(i - 1) * WSDBG_INSTRUCTION_BYTES, shift);
        wsdbg_decode(function->code.bytes + (size_t)i * WSDBG_INSTRUCTION_BYTES, test);
        if (test->operation == WSDBG_OP_SYNCS_PHASECHK && shift->operation == WSDBG_OP_SHF)
            return i;
    }
    fail_msg("no test");
    return 0;
}

/* The warp stands before the instruction that makes the test's parity. */
static void what_a_lane_will_test_is_calculated(void **state)
{
    enum { BARRIER = 0x408 };
    struct scene scene;
    struct wsdbg_instruction test, shift;
    struct wsdbg_snapshot snapshot = {0};
    struct wsdbg_look *look;
    start(&scene);
    const struct wsdbg_cubin_function *function = function_named(&scene, "is_over");
    const uint32_t number = find_test(function, &test, &shift);
    for (uint32_t lane = 0; lane < WSDBG_MACHINE_LANES; lane++)
        scene.warp.lanes[lane] = (struct wsdbg_machine_lane){
            .pc = function->address + (number - UINT64_C(1)) * WSDBG_INSTRUCTION_BYTES, .thread = {lane, 0, 0}};
    scene.standing.known_registers = 32;
    scene.standing.registers[test.sources[0].number] = BARRIER;
    scene.standing.registers[shift.sources[0].number] = 1;
    assert_null(wsdbg_look_take(&scene.standing.machine, scene.code, &look));
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    assert_int_equal(snapshot.part_count, 1);
    const struct wsdbg_part *part = &snapshot.parts[0];
    assert_int_equal(part->state, WSDBG_WARP_WAIT_MBARRIER);
    assert_true(part->parity.known);
    assert_int_equal(part->parity.value, 1);
    assert_in_range(part->barrier, 0, snapshot.barrier_count - 1);
    assert_int_equal(snapshot.barriers[part->barrier].shared_offset.value, BARRIER);
    wsdbg_look_destroy(look);
    wsdbg_snapshot_deinit(&snapshot);
    finish(&scene);
    (void)state;
}

/* The id and the count are put together for the BAR, and taken apart behind it.  The id came from memory: it is still
 * in its register. */
static void what_was_made_for_a_barrier_is_still_there(void **state)
{
    enum { ID = 5, THREADS = 128 };
    struct scene scene;
    struct wsdbg_instruction bar, merge;
    struct wsdbg_snapshot snapshot = {0};
    struct wsdbg_look *look;
    start(&scene);
    const struct wsdbg_cubin_function *gather = function_named(&scene, "6gather");
    uint32_t number = 0;
    do
        wsdbg_decode(gather->code.bytes + (size_t)++number * WSDBG_INSTRUCTION_BYTES, &bar);
    while (bar.operation != WSDBG_OP_BAR);
    wsdbg_decode(gather->code.bytes + (number - (size_t)1) * WSDBG_INSTRUCTION_BYTES, &merge);
    assert_int_equal(merge.operation, WSDBG_OP_LOP3);
    const uint64_t call = behind_call(&scene, "caller", "6gather", 0),
                   pc = gather->address + (number + UINT64_C(2)) * WSDBG_INSTRUCTION_BYTES;
    stand(&scene, pc, &call, 1);
    scene.standing.registers[merge.sources[2].number] = ID;
    scene.standing.registers[bar.sources[0].number] = THREADS;
    scene.grid.block[0] = THREADS;
    for (uint32_t lane = 0; lane < WSDBG_MACHINE_LANES; lane++)
        scene.warp.lanes[lane] = (struct wsdbg_machine_lane){.pc = pc, .thread = {lane, 0, 0}};
    assert_null(wsdbg_look_take(&scene.standing.machine, scene.code, &look));
    assert_null(wsdbg_look_snapshot(&look, 1, &snapshot));
    const struct wsdbg_part *part = &snapshot.parts[0];
    assert_int_equal(part->state, WSDBG_WARP_WAIT_NAMED);
    assert_int_equal(part->count.value, THREADS);
    assert_in_range(part->barrier, 0, snapshot.barrier_count - 1);
    assert_int_equal(snapshot.barriers[part->barrier].id, ID);
    wsdbg_look_destroy(look);
    wsdbg_snapshot_deinit(&snapshot);
    finish(&scene);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_frames_tell_the_calls),
        cmocka_unit_test(a_lane_behind_all_that_is_kept_of_a_copy_is_in_it),
        cmocka_unit_test(without_frames_there_are_several_copies),
        cmocka_unit_test(warps_of_two_ctas_were_called_from_two_places),
        cmocka_unit_test(a_loop_that_calls_is_one_place),
        cmocka_unit_test(a_call_that_is_not_known_is_no_movement),
        cmocka_unit_test(who_may_be_called_from_a_loop_is_not_known_to_have_left_it),
        cmocka_unit_test(lanes_of_two_copies_are_not_one_wait),
        cmocka_unit_test(each_copy_is_a_wait),
        cmocka_unit_test(what_a_lane_will_test_is_calculated),
        cmocka_unit_test(what_was_made_for_a_barrier_is_still_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
