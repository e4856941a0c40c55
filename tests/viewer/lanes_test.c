/* What the timeline shows of a warpgroup's history. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "viewer/lanes.h"

/* One warp with a history; counts what is read of it. */
struct fake {
    struct viewer_source base;
    const struct wsdbg_history_event *events;
    uint32_t count;
    uint32_t spacing_ns; /* without events: `count` of them, a wait and its end in turn, so far apart */
    uint32_t reads, events_read;
};

static uint32_t event_count(struct viewer_source *source, uint32_t warp)
{
    (void)warp;
    return ((struct fake *)source)->count;
}

static struct wsdbg_history_event made_up(const struct fake *fake, uint32_t number)
{
    return (struct wsdbg_history_event){.gpu_time_ns = (uint64_t)(number + 1) * fake->spacing_ns,
                                        .kind = number % 2 ? WSDBG_EVENT_MBARRIER_WAIT_END
                                                           : WSDBG_EVENT_MBARRIER_WAIT_BEGIN};
}

static uint32_t events(struct viewer_source *source, uint32_t warp, uint32_t first, uint32_t count,
                       struct wsdbg_history_event *out)
{
    struct fake *fake = (struct fake *)source;
    (void)warp;
    fake->reads++;
    uint32_t got = 0;
    for (; got < count && first + got < fake->count; got++)
        out[got] = fake->events ? fake->events[first + got] : made_up(fake, first + got);
    fake->events_read += got;
    return got;
}

static const struct viewer_source_ops ops = {.name = "fake", .event_count = event_count, .events = events};

static struct wsdbg_grid grid = {.launch = WSDBG_NONE, .cta_count = 1, .warps_per_cta = 1};
static struct wsdbg_cta cta = {.warp_count = 1};
static struct wsdbg_warp_row warp;
static const struct wsdbg_snapshot snapshot = {
    .grids = &grid, .grid_count = 1, .ctas = &cta, .cta_count = 1, .warps = &warp, .warp_count = 1};

/* The lane as letters: - runs, c copies, M wgmma, w waits, S stalled, . exited, u unknown, blank nothing. */
static const char *lane(struct fake *fake, int64_t begin_ns, int64_t end_ns, int columns)
{
    static char text[VIEWER_LANE_COLUMNS + 1];
    static const char letters[] = " -cMwS.u";
    unsigned char cells[VIEWER_LANE_COLUMNS];
    const struct viewer_window window = {begin_ns, end_ns, columns};
    viewer_lane_read(&fake->base, &snapshot, 0, 0, &window, cells);
    for (int i = 0; i < columns; i++)
        text[i] = letters[cells[i]];
    text[columns] = '\0';
    return text;
}

#define EVENT(name, at_ns)                               \
    {                                                    \
        .kind = WSDBG_EVENT_##name, .gpu_time_ns = at_ns \
    }
#define FAKE(...)                                                                                               \
    {                                                                                                           \
        .base = {&ops}, .events = (const struct wsdbg_history_event[]){__VA_ARGS__},                            \
        .count = sizeof((const struct wsdbg_history_event[]){__VA_ARGS__}) / sizeof(struct wsdbg_history_event) \
    }

static void a_column_shows_what_took_most_of_its_time(void **state)
{
    (void)state;
    struct fake fake =
        FAKE(EVENT(BEGIN, 100), EVENT(MBARRIER_WAIT_BEGIN, 220), EVENT(MBARRIER_WAIT_END, 480), EVENT(EXIT, 800));
    assert_string_equal(lane(&fake, 0, 1000, 10), " -www---..");
}

static void wgmma_and_copies_show_before_plain_running(void **state)
{
    (void)state;
    struct fake fake = FAKE(EVENT(BEGIN, 0), EVENT(TMA_ISSUE, 110), EVENT(TILE_BEGIN, 120), EVENT(WGMMA_ISSUE, 310),
                            EVENT(TILE_BEGIN, 330), EVENT(EXIT, 500));
    assert_string_equal(lane(&fake, 0, 500, 5), "-c-M-");
}

static void a_wait_that_has_not_ended_is_a_stall(void **state)
{
    (void)state;
    struct fake fake = FAKE(EVENT(BEGIN, 0), EVENT(MBARRIER_WAIT_BEGIN, 200), EVENT(MBARRIER_WAIT_END, 400),
                            EVENT(MBARRIER_WAIT_BEGIN, 600));
    assert_string_equal(lane(&fake, 0, 1000, 10), "--ww--SSSS");
}

static void what_was_overwritten_is_unknown(void **state)
{
    (void)state;
    struct fake fake = FAKE(EVENT(MBARRIER_WAIT_END, 300), EVENT(EXIT, 500));
    assert_string_equal(lane(&fake, 0, 600, 6), "uuu--.");
}

static void a_window_inside_the_history_shows_the_wait_that_began_before_it(void **state)
{
    (void)state;
    struct fake fake =
        FAKE(EVENT(BEGIN, 0), EVENT(MBARRIER_WAIT_BEGIN, 100), EVENT(MBARRIER_WAIT_END, 900), EVENT(EXIT, 1000));
    assert_string_equal(lane(&fake, 400, 600, 4), "wwww");
}

static void a_long_history_is_sampled_with_few_reads(void **state)
{
    (void)state;
    struct fake fake = {.base = {&ops}, .count = 1000000, .spacing_ns = 32};
    unsigned char cells[VIEWER_LANE_COLUMNS];
    const struct viewer_window all = {0, 32000000, 100};
    assert_true(viewer_lane_read(&fake.base, &snapshot, 0, 0, &all, cells));
    assert_in_range(fake.reads, 1, 150);
    assert_in_range(fake.events_read, 1, 1000);
    for (int i = 0; i < all.columns; i++)
        assert_int_not_equal(cells[i], VIEWER_CELL_NOTHING);
}

static void zoomed_in_a_long_history_shows_every_event(void **state)
{
    (void)state;
    struct fake fake = {.base = {&ops}, .count = 1000000, .spacing_ns = 32};
    unsigned char cells[VIEWER_LANE_COLUMNS];
    const struct viewer_window part = {3200, 3200 + 320, 10};
    assert_false(viewer_lane_read(&fake.base, &snapshot, 0, 0, &part, cells));
    assert_string_equal(lane(&fake, 3200, 3520, 10), "-w-w-w-w-w");
    assert_in_range(fake.events_read, 1, 1000);
}

static void the_nearest_event_is_found_on_both_sides(void **state)
{
    (void)state;
    struct fake fake = FAKE(EVENT(BEGIN, 100), EVENT(TILE_BEGIN, 200), EVENT(EXIT, 300));
    struct wsdbg_history_event event;
    uint32_t whose;
    assert_true(viewer_event_near(&fake.base, &snapshot, 0, 0, 160, &whose, &event));
    assert_int_equal(event.kind, WSDBG_EVENT_TILE_BEGIN);
    assert_true(viewer_event_near(&fake.base, &snapshot, 0, 0, -50, &whose, &event));
    assert_int_equal(event.kind, WSDBG_EVENT_BEGIN);
    assert_true(viewer_event_near(&fake.base, &snapshot, 0, 0, 9000, &whose, &event));
    assert_int_equal(event.kind, WSDBG_EVENT_EXIT);
}

static void without_events_there_is_nothing(void **state)
{
    (void)state;
    struct fake fake = {.base = {&ops}};
    struct wsdbg_history_event event;
    uint32_t whose;
    assert_string_equal(lane(&fake, 0, 100, 4), "    ");
    assert_false(viewer_event_near(&fake.base, &snapshot, 0, 0, 0, &whose, &event));
}

/* A warp is looked at every 100 ns; what it did between two looks is taken to be what the first one saw. */
static void samples_show_what_was_seen_and_nothing_before(void **state)
{
    (void)state;
    static const enum wsdbg_warp_state seen[] = {WSDBG_WARP_RUNNING, WSDBG_WARP_WAIT_MBARRIER, WSDBG_WARP_WAIT_WGMMA,
                                                 WSDBG_WARP_EXITED};
    struct viewer_samples *samples = viewer_samples_create(65536);
    unsigned char cells[6];
    const struct viewer_window window = {900, 1500, 6};
    for (uint64_t i = 0; i < 4; i++) {
        warp.state = seen[i];
        viewer_samples_add(samples, &snapshot, 1000 + 100 * i);
    }
    viewer_lane_sample(samples, &snapshot, 0, 0, &window, cells);
    const unsigned char expected[] = {VIEWER_CELL_NOTHING, VIEWER_CELL_RUNS,   VIEWER_CELL_WAITS,
                                      VIEWER_CELL_WGMMA,   VIEWER_CELL_EXITED, VIEWER_CELL_NOTHING};
    assert_memory_equal(cells, expected, sizeof expected);
    viewer_samples_destroy(samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_shows_what_took_most_of_its_time),
        cmocka_unit_test(wgmma_and_copies_show_before_plain_running),
        cmocka_unit_test(a_wait_that_has_not_ended_is_a_stall),
        cmocka_unit_test(what_was_overwritten_is_unknown),
        cmocka_unit_test(a_window_inside_the_history_shows_the_wait_that_began_before_it),
        cmocka_unit_test(a_long_history_is_sampled_with_few_reads),
        cmocka_unit_test(zoomed_in_a_long_history_shows_every_event),
        cmocka_unit_test(the_nearest_event_is_found_on_both_sides),
        cmocka_unit_test(without_events_there_is_nothing),
        cmocka_unit_test(samples_show_what_was_seen_and_nothing_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
