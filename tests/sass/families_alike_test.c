/* families_alike_test.c - which parts of a variable, and which mbarriers behind each other, are one ring: who uses them
 * tells.  And which places are no mbarriers at all.
 *
 * Accesses are written as they are found in a kernel.  Warps 0-3 are producers, warps 4-7 consumers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sass/families.h"

enum { PRODUCERS = 0x0f, CONSUMERS = 0xf0, ALL = 0xff, ACCESSES_MOST = 24, FAMILIES_MOST = 4 };

/* An access of `places` mbarriers from `first` on, 0 = nobody knows how many, by the warps `by`. */
struct use {
    uint8_t kind;
    uint32_t first, stride, places;
    uint64_t by;
};

struct row {
    uint32_t first, stride, places;
};

struct kernel {
    const char *name;
    struct use uses[ACCESSES_MOST];
    struct row families[FAMILIES_MOST];
    bool has_no_variable, is_counted_apart; /* ... every second mbarrier expects another number of arrivals */
};

#define WAIT(...)                      \
    {                                  \
        WSDBG_ACCESS_WAIT, __VA_ARGS__ \
    }
#define ARRIVE(...)                      \
    {                                    \
        WSDBG_ACCESS_ARRIVE, __VA_ARGS__ \
    }

static const struct kernel kernels[] = {
    {.name = "one ring of six, of which each access takes every second stage",
     .uses = {WAIT(0x400, 16, 3, CONSUMERS), WAIT(0x408, 16, 3, CONSUMERS), ARRIVE(0x400, 16, 3, PRODUCERS),
              ARRIVE(0x408, 16, 3, PRODUCERS)},
     .families = {{0x400, 8, 6}}},
    {.name = "full and empty mbarriers side by side",
     .uses = {WAIT(0x400, 16, 3, CONSUMERS), WAIT(0x408, 16, 3, PRODUCERS), ARRIVE(0x400, 16, 3, PRODUCERS),
              ARRIVE(0x408, 16, 3, CONSUMERS)},
     .families = {{0x400, 16, 3}, {0x408, 16, 3}}},
    {.name = "... whose users are not known",
     .uses = {WAIT(0x400, 16, 3, ALL), WAIT(0x408, 16, 3, ALL), ARRIVE(0x400, 16, 3, ALL), ARRIVE(0x408, 16, 3, ALL)},
     .families = {{0x400, 16, 3}, {0x408, 16, 3}}},
    {.name = "no variable says that they are one ring",
     .uses = {WAIT(0x400, 16, 3, CONSUMERS), WAIT(0x408, 16, 3, CONSUMERS), ARRIVE(0x400, 16, 3, PRODUCERS),
              ARRIVE(0x408, 16, 3, PRODUCERS)},
     .families = {{0x400, 16, 3}, {0x408, 16, 3}},
     .has_no_variable = true},
    {.name = "every second one expects another number of arrivals",
     .uses = {WAIT(0x400, 16, 3, CONSUMERS), WAIT(0x408, 16, 3, CONSUMERS), ARRIVE(0x400, 16, 3, PRODUCERS),
              ARRIVE(0x408, 16, 3, PRODUCERS)},
     .families = {{0x400, 16, 3}, {0x408, 16, 3}},
     .is_counted_apart = true},
    {.name = "parts of a ring behind each other",
     .uses = {WAIT(0x400, 8, 0, CONSUMERS), WAIT(0x410, 8, 0, CONSUMERS), ARRIVE(0x400, 8, 0, PRODUCERS),
              ARRIVE(0x410, 8, 0, PRODUCERS)},
     .families = {{0x400, 8, 6}}},
    {.name = "full and empty mbarriers behind each other",
     .uses = {WAIT(0x400, 8, 3, CONSUMERS), WAIT(0x418, 8, 3, PRODUCERS), ARRIVE(0x400, 8, 3, PRODUCERS),
              ARRIVE(0x418, 8, 3, CONSUMERS)},
     .families = {{0x400, 8, 3}, {0x418, 8, 3}}},
    {.name = "... that are named one by one",
     .uses = {WAIT(0x400, 0, 1, CONSUMERS), ARRIVE(0x400, 0, 1, PRODUCERS), WAIT(0x408, 0, 1, CONSUMERS),
              ARRIVE(0x408, 0, 1, PRODUCERS), WAIT(0x410, 0, 1, PRODUCERS), ARRIVE(0x410, 0, 1, CONSUMERS),
              WAIT(0x418, 0, 1, PRODUCERS), ARRIVE(0x418, 0, 1, CONSUMERS)},
     .families = {{0x400, 8, 2}, {0x410, 8, 4}}},
    {.name = "two with which warps take turns",
     .uses = {WAIT(0x400, 0, 1, CONSUMERS), ARRIVE(0x400, 0, 1, PRODUCERS), WAIT(0x408, 0, 1, PRODUCERS),
              ARRIVE(0x408, 0, 1, CONSUMERS)},
     .families = {{0x400, 8, 6}}},
    {.name = "a ring, and one that is used once",
     .uses = {WAIT(0x400, 8, 5, CONSUMERS), ARRIVE(0x400, 8, 5, PRODUCERS), WAIT(0x428, 0, 1, CONSUMERS),
              ARRIVE(0x428, 0, 1, PRODUCERS)},
     .families = {{0x400, 8, 5}, {0x428, 8, 1}}},
    {.name = "an access that begins behind the last one, at what is no mbarrier",
     .uses = {WAIT(0x400, 8, 6, CONSUMERS), ARRIVE(0x400, 8, 6, PRODUCERS), ARRIVE(0x430, 8, 0, PRODUCERS)},
     .families = {{0x400, 8, 6}}},
    {.name = "... or before the first one",
     .uses = {WAIT(0x3f8, 8, 0, CONSUMERS), ARRIVE(0x3f8, 8, 0, PRODUCERS)},
     .families = {{0x400, 8, 6}},
     .has_no_variable = true},
};

static uint32_t no_words(void *context, uint32_t offset)
{
    (void)context;
    (void)offset;
    return 0;
}

/* Six mbarriers from 0x400 on are initialised one by one. */
static size_t write_accesses(const struct kernel *kernel, struct wsdbg_access *accesses, uint64_t *comers)
{
    size_t count = 0;
    for (uint32_t i = 0; i < 6; i++) {
        comers[count] = ALL;
        accesses[count++] = (struct wsdbg_access){.kind = WSDBG_ACCESS_INIT,
                                                  .address = {true, 0x400 + 8 * i, 0, 1},
                                                  .count = {true, kernel->is_counted_apart && i & 1 ? 64 : 128, 0, 1}};
    }
    for (const struct use *use = kernel->uses; use < kernel->uses + ACCESSES_MOST && use->kind; use++) {
        comers[count] = use->by;
        accesses[count++] =
            (struct wsdbg_access){.kind = use->kind, .address = {true, use->first, use->stride, use->places}};
    }
    return count;
}

static void expect(const struct kernel *kernel)
{
    static const struct wsdbg_shared_variable variable = {"bars", 0x400, 48};
    struct wsdbg_access accesses[ACCESSES_MOST + 6];
    uint64_t comers[ACCESSES_MOST + 6];
    struct wsdbg_families families = {.count = 0};
    const struct wsdbg_families_source source = {.accesses = accesses,
                                                 .access_count = write_accesses(kernel, accesses, comers),
                                                 .comers = comers,
                                                 .expected = no_words,
                                                 .variables = &variable,
                                                 .variable_count = !kernel->has_no_variable};
    assert_null(wsdbg_families_find(&source, &families));
    for (size_t i = 0; i < FAMILIES_MOST && kernel->families[i].places; i++) {
        assert_true(i < families.count);
        assert_int_equal(families.rows[i].first, kernel->families[i].first);
        assert_int_equal(families.rows[i].stride, kernel->families[i].stride);
        assert_int_equal(families.rows[i].places, kernel->families[i].places);
        assert_true(i + 1 == FAMILIES_MOST || kernel->families[i + 1].places || families.count == i + 1);
    }
}

static void who_uses_mbarriers_tells_which_are_one_ring(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        print_message("%s\n", kernels[i].name);
        expect(&kernels[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_uses_mbarriers_tells_which_are_one_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
