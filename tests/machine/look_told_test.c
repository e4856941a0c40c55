/* look_told_test.c - mbarriers whose addresses only walks tell: their rows, the arrays that they are, and which of them
 * accesses take.
 *
 * A test writes what the code tells of two CTAs of a kernel, and the walks of their one warp.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/look.h"

enum { CTAS = 2, FULL = 0x1000, EMPTY = 0x1018, STAGES = 3, FULL_ID = 0, NAMED_ID = 5, ACCESSES = 4, STEPS_MOST = 40 };
enum { INIT_FULL, INIT_EMPTY, WAIT_EMPTY, ARRIVE_FULL };

struct scene {
    struct wsdbg_machine machine;
    uint32_t reads;
    struct wsdbg_machine_cta machine_ctas[CTAS];
    struct wsdbg_look_cta seen_ctas[CTAS];
    struct wsdbg_words words[CTAS];
    struct wsdbg_grid grid;
    struct wsdbg_module module;
    struct wsdbg_cta ctas[CTAS];
    struct wsdbg_warp_row warps[CTAS];
    struct wsdbg_part parts[CTAS];
    struct wsdbg_name name;
    struct wsdbg_access_row accesses[ACCESSES];
    struct wsdbg_step_row steps[STEPS_MOST];
    struct wsdbg_walk_row walks[CTAS];
    struct wsdbg_snapshot out;
};

/* Each mbarrier expects one arrival and has none. */
static struct wsdbg_error *shared_of(struct wsdbg_machine *machine, uint32_t cta, uint32_t address, void *out,
                                     uint32_t byte_count, bool *known)
{
    static const uint64_t word = 0x7ffff800001ffffe;
    (void)cta, (void)address;
    ((struct scene *)machine)->reads++;
    *known = true;
    for (uint32_t i = 0; i < byte_count / sizeof word; i++)
        memcpy((char *)out + i * sizeof word, &word, sizeof word);
    return NULL;
}

static void add_step(struct scene *scene, uint32_t access, uint32_t address, uint32_t number)
{
    scene->steps[scene->out.step_count++] = (struct wsdbg_step_row){.access = access,
                                                                    .address = address,
                                                                    .number = number,
                                                                    .kind = (uint8_t)scene->accesses[access].kind,
                                                                    .rank = WSDBG_STEP_OWN_RANK,
                                                                    .number_known = true};
}

/* The code names nothing but the last stage of `empty`, where a warp of each CTA waits, and a named barrier. */
static void start(struct scene *scene)
{
    static const struct wsdbg_machine_ops ops = {.shared = shared_of};
    static const uint32_t kinds[ACCESSES] = {WSDBG_ACCESS_INIT, WSDBG_ACCESS_INIT, WSDBG_ACCESS_WAIT,
                                             WSDBG_ACCESS_ARRIVE_EXPECT};
    struct wsdbg_barrier *barriers = calloc(2 * CTAS, sizeof *barriers);
    assert_non_null(barriers);
    *scene = (struct scene){.grid = {.cta_count = CTAS}, .module = {.names_count = 1}, .name = {.id = FULL_ID}};
    scene->machine = (struct wsdbg_machine){.ops = &ops, .ctas = scene->machine_ctas, .cta_count = CTAS};
    scene->name.kind = WSDBG_NAME_MBARRIER;
    strcpy(scene->name.name, "mbarrier 0x1028");
    for (uint32_t i = 0; i < CTAS; i++) {
        scene->seen_ctas[i] = (struct wsdbg_look_cta){.machine = i, .sibling = i};
        scene->ctas[i] = (struct wsdbg_cta){.warp_first = i, .warp_count = 1, .cluster_size = 1};
        scene->warps[i] = (struct wsdbg_warp_row){
            .cta = i, .state = WSDBG_WARP_WAIT_MBARRIER, .barrier = 2 * i, .part_first = i, .part_count = 1};
        scene->parts[i] = (struct wsdbg_part){.warp = i, .lanes = 1, .barrier = 2 * i + 1};
        scene->walks[i] = (struct wsdbg_walk_row){.warp = i, .lanes = UINT32_MAX, .is_whole = true};
        barriers[2 * i] = (struct wsdbg_barrier){.cta = i,
                                                 .kind = WSDBG_BARRIER_MBARRIER,
                                                 .id = FULL_ID,
                                                 .name = &scene->name,
                                                 .expected_arrivals = wsdbg_known_u32(1),
                                                 .shared_offset = wsdbg_known_u32(EMPTY + 16)};
        barriers[2 * i + 1] = (struct wsdbg_barrier){.cta = i, .kind = WSDBG_BARRIER_NAMED, .id = NAMED_ID};
    }
    for (uint32_t i = 0; i < ACCESSES; i++)
        scene->accesses[i] = (struct wsdbg_access_row){.kind = kinds[i]};
    scene->out = (struct wsdbg_snapshot){.grids = &scene->grid,
                                         .grid_count = 1,
                                         .modules = &scene->module,
                                         .module_count = 1,
                                         .names = &scene->name,
                                         .name_count = 1,
                                         .ctas = scene->ctas,
                                         .cta_count = CTAS,
                                         .warps = scene->warps,
                                         .warp_count = CTAS,
                                         .parts = scene->parts,
                                         .part_count = CTAS,
                                         .barriers = barriers,
                                         .barrier_count = 2 * CTAS,
                                         .accesses = scene->accesses,
                                         .access_count = ACCESSES,
                                         .steps = scene->steps,
                                         .walks = scene->walks,
                                         .walk_count = CTAS};
    for (uint32_t i = 0; i < STAGES; i++) {
        add_step(scene, INIT_FULL, FULL + 8 * i, 1);
        add_step(scene, INIT_EMPTY, EMPTY + 8 * i, 1);
    }
    for (uint32_t i = 0; i < STAGES; i++) {
        add_step(scene, WAIT_EMPTY, EMPTY + 8 * i, 1);
        add_step(scene, ARRIVE_FULL, FULL + 8 * i, 4096);
    }
    for (uint32_t i = 0; i < CTAS; i++)
        scene->walks[i].step_count = (uint32_t)scene->out.step_count;
}

static void look(struct scene *scene)
{
    const struct wsdbg_look_source source = {.machine = &scene->machine};
    const struct wsdbg_look_seen seen = {.machine = &scene->machine, .ctas = scene->seen_ctas};
    assert_null(wsdbg_look_places(&source, &seen, scene->words, &scene->out));
    wsdbg_look_rings(&scene->out);
    assert_null(wsdbg_look_told(&scene->out));
}

static void end(struct scene *scene)
{
    for (uint32_t i = 0; i < CTAS; i++)
        free(scene->words[i].rows);
    free(scene->out.barriers);
}

static const struct wsdbg_barrier *row_at(const struct scene *scene, uint32_t cta, uint32_t offset)
{
    for (size_t i = 0; i < scene->out.barrier_count; i++)
        if (scene->out.barriers[i].cta == cta && scene->out.barriers[i].shared_offset.known &&
            scene->out.barriers[i].shared_offset.value == offset)
            return &scene->out.barriers[i];
    return NULL;
}

static void what_a_walk_initialises_has_a_row(void **state)
{
    struct scene scene;
    (void)state;
    start(&scene);
    look(&scene);
    assert_int_equal(scene.out.barrier_count, CTAS * (2 * STAGES + 1));
    for (uint32_t i = 0; i < scene.out.barrier_count; i++)
        assert_int_equal(scene.out.barriers[i].cta, i / (2 * STAGES + 1));
    for (uint32_t cta = 0; cta < CTAS; cta++)
        for (uint32_t i = 0; i < STAGES; i++) {
            const struct wsdbg_barrier *full = row_at(&scene, cta, FULL + 8 * i);
            assert_non_null(full);
            assert_true(full->phase.known); /* from its word */
            assert_int_equal(full->pending_arrivals.value, 1);
        }
    assert_int_equal(scene.reads, CTAS); /* neighbours are read at once */
    end(&scene);
}

/* Rows in front of them are new. */
static void references_to_rows_stay(void **state)
{
    struct scene scene;
    (void)state;
    start(&scene);
    look(&scene);
    for (uint32_t i = 0; i < CTAS; i++) {
        assert_int_equal(scene.out.barriers[scene.warps[i].barrier].shared_offset.value, EMPTY + 16);
        assert_int_equal(scene.out.barriers[scene.warps[i].barrier].cta, i);
        assert_int_equal(scene.out.barriers[scene.parts[i].barrier].kind, WSDBG_BARRIER_NAMED);
        assert_int_equal(scene.out.barriers[scene.parts[i].barrier].cta, i);
    }
    end(&scene);
}

/* The array takes the name of its only stage that has one, which is that of the first stage from now on. */
static void rows_become_arrays(void **state)
{
    struct scene scene;
    (void)state;
    start(&scene);
    look(&scene);
    for (uint32_t i = 0; i < STAGES; i++) {
        assert_int_equal(row_at(&scene, 1, EMPTY + 8 * i)->id, FULL_ID);
        assert_int_equal(row_at(&scene, 1, EMPTY + 8 * i)->stage, i);
        assert_int_equal(row_at(&scene, 1, FULL + 8 * i)->id, row_at(&scene, 1, FULL)->id);
        assert_int_equal(row_at(&scene, 1, FULL + 8 * i)->stage, i);
    }
    assert_int_not_equal(row_at(&scene, 1, FULL)->id, FULL_ID);
    assert_string_equal(scene.name.name, "mbarrier 0x1018");
    assert_int_equal(scene.name.stages, STAGES);
    end(&scene);
}

static void an_access_takes_any_stage_of_its_array(void **state)
{
    struct scene scene;
    (void)state;
    start(&scene);
    scene.accesses[INIT_EMPTY].address = wsdbg_known_u32(0x400); /* the code tells it */
    scene.accesses[INIT_FULL] = (struct wsdbg_access_row){       /* ... but for how many there are */
                                                          .kind = WSDBG_ACCESS_INIT,
                                                          .address = wsdbg_known_u32(FULL),
                                                          .stride = 8,
                                                          .certain = true};
    look(&scene);
    assert_int_equal(scene.accesses[WAIT_EMPTY].address.value, EMPTY);
    assert_int_equal(scene.accesses[ARRIVE_FULL].address.value, FULL);
    assert_int_equal(scene.accesses[ARRIVE_FULL].stride, 8);
    assert_int_equal(scene.accesses[ARRIVE_FULL].places, STAGES);
    assert_true(scene.accesses[ARRIVE_FULL].certain);
    assert_int_equal(scene.accesses[INIT_EMPTY].address.value, 0x400);
    assert_int_equal(scene.accesses[INIT_FULL].address.value, FULL);
    assert_int_equal(scene.accesses[INIT_FULL].places, STAGES);
    end(&scene);
}

/* Nobody knows what the rest of a walk does, or what other threads do; an access may take both arrays. */
static void other_walks_tell_nothing(void **state)
{
    struct scene scene;
    (void)state;
    start(&scene);
    scene.walks[1].is_whole = false;
    look(&scene);
    assert_false(scene.accesses[ARRIVE_FULL].address.known);
    end(&scene);
    start(&scene);
    scene.walks[0].is_guessed = true;
    look(&scene);
    assert_false(scene.accesses[ARRIVE_FULL].address.known);
    end(&scene);
    start(&scene);
    scene.out.walk_count = 1; /* the other CTA was not walked */
    look(&scene);
    assert_false(scene.accesses[ARRIVE_FULL].address.known);
    end(&scene);
    start(&scene);
    scene.steps[scene.out.step_count - 1].address = EMPTY;
    look(&scene);
    assert_false(scene.accesses[ARRIVE_FULL].address.known);
    end(&scene);
}

/* Its word cannot be read; what it was initialised with is known. */
static void a_row_without_a_word_has_its_count(void **state)
{
    struct scene scene;
    (void)state;
    start(&scene);
    scene.seen_ctas[0].machine = WSDBG_NONE; /* it has exited: there are no rows of it */
    look(&scene);
    assert_null(row_at(&scene, 0, FULL));
    assert_int_equal(row_at(&scene, 1, FULL)->expected_arrivals.value, 1);
    end(&scene);
}

/* Without the middle stage, nobody knows which mbarriers the loop takes. */
static void an_array_that_lacks_a_stage_tells_nothing(void **state)
{
    struct scene scene;
    uint32_t left = 0;
    (void)state;
    start(&scene);
    for (uint32_t k = 0; k < scene.out.step_count; k++)
        if (scene.steps[k].access == WAIT_EMPTY && scene.steps[k].address != EMPTY + 8)
            scene.steps[left++] = scene.steps[k];
    scene.out.step_count = left;
    scene.out.barrier_count = 0;
    for (uint32_t i = 0; i < CTAS; i++) {
        scene.walks[i].step_count = left;
        for (uint32_t stage = 0; stage < STAGES; stage += 2)
            scene.out.barriers[scene.out.barrier_count++] =
                (struct wsdbg_barrier){.cta = i,
                                       .kind = WSDBG_BARRIER_MBARRIER,
                                       .stage = stage,
                                       .shared_offset = wsdbg_known_u32(EMPTY + 8 * stage)};
    }
    assert_null(wsdbg_look_told(&scene.out));
    assert_false(scene.accesses[WAIT_EMPTY].address.known);
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_walk_initialises_has_a_row),
        cmocka_unit_test(references_to_rows_stay),
        cmocka_unit_test(rows_become_arrays),
        cmocka_unit_test(an_access_takes_any_stage_of_its_array),
        cmocka_unit_test(other_walks_tell_nothing),
        cmocka_unit_test(a_row_without_a_word_has_its_count),
        cmocka_unit_test(an_array_that_lacks_a_stage_tells_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
