/* words_test.c - passes over the warps of a CTA, and when one of them stores what the one before it stored.
 *
 * A test stores what walks would store.  A pass that repeats the one before it holds; else another one begins.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka needs those before it. */
#include <cmocka.h>

#include "sass/walk_words.h"

enum { WORD = 0x100, READ = 0x200, BETWEEN = 0x208, READ_TOO = 0x220, DATA = 0x300, WORD_BYTES = 4 };

static void put(struct walk_words *words, uint32_t walk, uint32_t address, uint32_t bytes)
{
    const struct walk_store store = {.place.walk = walk, .address = address, .bytes = bytes};
    walk_words_put(words, &store);
}

static void put_word(struct walk_words *words, uint32_t walk, uint32_t value)
{
    const struct walk_store store = {
        .place.walk = walk, .address = WORD, .bytes = WORD_BYTES, .words = {value}, .is_known = true};
    walk_words_put(words, &store);
}

static void end_walk(struct walk_words *words, uint32_t walk)
{
    const struct walk_place place = {.walk = walk};
    walk_words_end(words, &place);
}

/* What the only warp stores in a pass. */
struct pass {
    uint32_t word;                /* a known one */
    uint32_t read_bytes;          /* unknown data from READ on, where the warp has looked before that */
    uint32_t between_bytes;       /* ... from BETWEEN on; it has looked before it and behind it */
    uint32_t data_bytes;          /* ... from DATA on, where nobody looks */
    enum { IN_ORDER, BACK } data; /* whether that is stored before the word or behind it */
};

static enum walk_words_end end_pass(struct walk_words *words, const struct pass *pass)
{
    const struct walk_place start = {.walk = 0};
    uint32_t value;
    walk_words_begin_warp(words, 0);
    assert_int_equal(walk_words_get(words, &start, READ_TOO, WORD_BYTES, &value), WALK_WORD_NOT_STORED);
    assert_int_equal(walk_words_get(words, &start, READ, WORD_BYTES, &value), WALK_WORD_NOT_STORED);
    put(words, 0, READ, pass->read_bytes);
    put(words, 0, BETWEEN, pass->between_bytes);
    if (pass->data == IN_ORDER)
        put(words, 0, DATA, pass->data_bytes);
    put_word(words, 0, pass->word);
    if (pass->data == BACK)
        put(words, 0, DATA, pass->data_bytes);
    end_walk(words, 0);
    return walk_words_end_pass(words);
}

static void a_pass_repeats_another_one_if_what_may_be_read_is_the_same(void **state)
{
    static const struct pass first = {.word = 7, .read_bytes = 4, .between_bytes = 4, .data_bytes = 16};
    static const struct {
        const char *name;
        struct pass pass;
        enum walk_words_end end;
    } rows[] = {
        {"all is the same", {7, 4, 4, 16, IN_ORDER}, WALK_WORDS_HOLD},
        {"data that nobody reads is joined to more", {7, 4, 4, 64, IN_ORDER}, WALK_WORDS_HOLD},
        {"... and stored later", {7, 4, 4, 16, BACK}, WALK_WORDS_HOLD},
        {"... between places that are read", {7, 4, 24, 16, IN_ORDER}, WALK_WORDS_HOLD},
        {"... up to such a place", {7, 4, 25, 16, IN_ORDER}, WALK_WORDS_AGAIN},
        {"data is where something is read", {7, 3, 4, 16, IN_ORDER}, WALK_WORDS_AGAIN},
        {"a word is another one", {8, 4, 4, 16, IN_ORDER}, WALK_WORDS_AGAIN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct walk_words words = {0};
        print_message("%s\n", rows[i].name);
        assert_int_equal(end_pass(&words, &first), WALK_WORDS_AGAIN); /* the warp looked before it stored */
        assert_int_equal(end_pass(&words, &rows[i].pass), rows[i].end);
        walk_words_free(&words);
    }
    (void)state;
}

/* All warps store a word and much data.  Stores that are not beside each other are joined from some number of stores
 * on.  The last warp's are too far apart for that.  In the next pass they count before those of the first warp. */
static void store_much(struct walk_words *words, uint32_t warp, bool is_last)
{
    enum { REGION = 0x40000, PLACES = 640, APART = 64, LAST_PLACES = 40, LAST_APART = 0x1000 };
    walk_words_begin_warp(words, warp);
    for (uint32_t i = 0; i < (is_last ? LAST_PLACES : PLACES); i++)
        put(words, warp, (warp + 1) * REGION + i * (is_last ? LAST_APART : APART), WORD_BYTES);
    put_word(words, warp, 7);
    end_walk(words, warp);
}

static void data_that_is_joined_elsewhere_is_the_same(void **state)
{
    enum { WARPS = 4 };
    struct walk_words words = {0};
    size_t counts[2];
    for (uint32_t pass = 0; pass < 2; pass++) {
        const struct walk_place last = {.walk = WARPS - 1};
        uint32_t value;
        walk_words_get(&words, &last, READ_TOO, WORD_BYTES, &value);
        for (uint32_t w = 0; w < WARPS; w++)
            store_much(&words, w, w + 1 == WARPS);
        counts[pass] = words.count;
        walk_words_lose(&words, &(struct walk_place){.walk = WARPS - 1});
        assert_int_equal(walk_words_end_pass(&words), pass ? WALK_WORDS_HOLD : WALK_WORDS_AGAIN);
    }
    assert_false(words.is_spoilt);
    assert_true(counts[1] < counts[0]); /* more was joined */
    walk_words_free(&words);
    (void)state;
}

/* ---- walks that are lost ---- */

/* Two named barriers and an mbarrier.  A walk stores HANDED and joins FULL; the reader waits there. */
enum { FULL = 1, EMPTY = 2, MBARRIER = WSDBG_WALK_MBARRIER_FIRST, HANDED = 7, ANYWHERE = 0x400 };
enum { STORER, OTHER, READER }; /* warps; in the first pass their walks have these numbers, too */

struct at {
    uint32_t full_joined, full, empty_joined, empty, mbarrier; /* without "joined": phases passed */
};

static struct walk_place place_of(uint32_t walk, const struct at *at)
{
    struct walk_place place = {.walk = walk};
    place.joined[FULL] = at->full_joined;
    place.passed[FULL] = at->full;
    place.joined[EMPTY] = at->empty_joined;
    place.passed[EMPTY] = at->empty;
    place.passed[MBARRIER] = at->mbarrier;
    return place;
}

/* lost: where the walk is lost, or NULL.  It comes to the only mbarrier. */
static void hand_over(struct walk_words *words, uint32_t walk, const struct at *end, const struct at *lost)
{
    const struct walk_place end_place = place_of(walk, end);
    assert_int_equal(walk_words_mbarrier(words, ANYWHERE), MBARRIER);
    walk_words_begin_warp(words, STORER);
    put_word(words, walk, HANDED);
    if (lost) {
        const struct walk_place place = place_of(walk, lost);
        walk_words_lose(words, &place);
    }
    walk_words_end(words, &end_place);
}

static enum walk_word load(struct walk_words *words, uint32_t walk, const struct at *at)
{
    const struct walk_place place = place_of(walk, at);
    uint32_t value = 0;
    const enum walk_word word = walk_words_get(words, &place, WORD, WORD_BYTES, &value);
    assert_true(word != WALK_WORD_KNOWN || value == HANDED);
    return word;
}

static void a_lost_walk_spoils_only_loads_that_may_come_behind_it(void **state)
{
    static const struct {
        const char *name;
        uint32_t warp; /* whose walk is lost */
        struct at lost, reads;
        enum walk_word word;
    } rows[] = {
        {"before it joins", STORER, {0}, {.full = 1}, WALK_WORD_UNKNOWN},
        {"... behind a wait", STORER, {.mbarrier = 1}, {.full = 1}, WALK_WORD_UNKNOWN},
        {"behind the join", STORER, {.full_joined = 1}, {.full = 1}, WALK_WORD_UNKNOWN},
        {"behind a wait for the reader", STORER, {.full_joined = 1, .empty = 1}, {.full = 1}, WALK_WORD_KNOWN},
        {"... at an mbarrier", STORER, {.full_joined = 1, .mbarrier = 1}, {.full = 1, .mbarrier = 1}, WALK_WORD_KNOWN},
        {"behind a wait that the reader has passed",
         STORER,
         {.full_joined = 1, .empty = 1},
         {.full = 1, .empty = 1},
         WALK_WORD_UNKNOWN},
        {"another warp, without a wait", OTHER, {0}, {.full = 1}, WALK_WORD_UNKNOWN},
        {"... behind a phase that the reader joins before",
         OTHER,
         {.empty = 1},
         {.full = 1, .empty_joined = 1},
         WALK_WORD_UNKNOWN},
        {"... behind one that it joins later", OTHER, {.empty = 2}, {.full = 1, .empty_joined = 1}, WALK_WORD_KNOWN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct at *lost = &rows[i].lost;
        struct walk_words words = {0};
        print_message("%s\n", rows[i].name);
        hand_over(&words, STORER, &(struct at){.full_joined = 1}, rows[i].warp == STORER ? lost : NULL);
        walk_words_begin_warp(&words, OTHER);
        const struct walk_place place = place_of(OTHER, lost);
        if (rows[i].warp == OTHER)
            walk_words_lose(&words, &place);
        walk_words_end(&words, &place);
        walk_words_begin_warp(&words, READER);
        assert_int_equal(load(&words, READER, &rows[i].reads), rows[i].word);
        walk_words_free(&words);
    }
    (void)state;
}

/* One lane stores and joins FULL.  The other lanes of its warp came apart from it, and are lost behind a wait at an
 * mbarrier. */
static void a_wait_of_other_lanes_counts_if_those_that_store_wait_there_too(void **state)
{
    static const struct {
        const char *name;
        struct at end; /* of the walk that stores */
        enum walk_word word;
    } rows[] = {
        {"the storing lane never waits there", {.full_joined = 1}, WALK_WORD_UNKNOWN},
        {"it waits there behind its store", {.full_joined = 1, .mbarrier = 1}, WALK_WORD_KNOWN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct walk_place lost = place_of(OTHER, &(struct at){.mbarrier = 1});
        struct walk_words words = {0};
        print_message("%s\n", rows[i].name);
        hand_over(&words, STORER, &rows[i].end, NULL);
        walk_words_lose(&words, &lost);
        walk_words_end(&words, &lost);
        walk_words_begin_warp(&words, READER);
        assert_int_equal(load(&words, READER, &(struct at){.full = 1}), rows[i].word);
        walk_words_free(&words);
    }
    (void)state;
}

/* The reader is walked before the warp that stores. */
struct lost_pass {
    bool is_storer_lost, is_reader_lost;
    enum walk_word word; /* that the reader gets */
    enum walk_words_end end;
};

static void walk_pass(struct walk_words *words, uint32_t number, const struct lost_pass *pass)
{
    const uint32_t reader = 2 * number, storer = reader + 1;
    const struct at joined = {.full_joined = 1}, passed = {.full = 1};
    const struct walk_place end = place_of(reader, &passed);
    walk_words_begin_warp(words, READER);
    assert_int_equal(load(words, reader, &passed), pass->word);
    if (pass->is_reader_lost)
        walk_words_lose(words, &end);
    walk_words_end(words, &end);
    hand_over(words, storer, &joined, pass->is_storer_lost ? &joined : NULL);
    assert_int_equal(walk_words_end_pass(words), pass->end);
}

static void losses_of_an_earlier_pass_count_only_if_they_remain(void **state)
{
    static const struct {
        const char *name;
        struct lost_pass passes[3];
        uint32_t count;
    } rows[] = {
        {"in the first pass alone",
         {{.is_storer_lost = true, .word = WALK_WORD_NOT_STORED, .end = WALK_WORDS_AGAIN},
          {.word = WALK_WORD_KNOWN, .end = WALK_WORDS_HOLD}},
         2},
        {"in each pass: another one is cautious",
         {{.is_storer_lost = true, .word = WALK_WORD_NOT_STORED, .end = WALK_WORDS_AGAIN},
          {.is_storer_lost = true, .word = WALK_WORD_KNOWN, .end = WALK_WORDS_AGAIN},
          {.is_storer_lost = true, .word = WALK_WORD_UNKNOWN, .end = WALK_WORDS_HOLD}},
         3},
        {"the reader itself, behind what it was told",
         {{.is_reader_lost = true, .word = WALK_WORD_NOT_STORED, .end = WALK_WORDS_AGAIN},
          {.is_reader_lost = true, .word = WALK_WORD_KNOWN, .end = WALK_WORDS_HOLD}},
         2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct walk_words words = {0};
        print_message("%s\n", rows[i].name);
        for (uint32_t pass = 0; pass < rows[i].count; pass++)
            walk_pass(&words, pass, &rows[i].passes[pass]);
        walk_words_free(&words);
    }
    (void)state;
}

/* What the storing walk would do behind its end is not known. */
static void a_phase_that_a_walk_never_joined_comes_behind_its_end(void **state)
{
    static const struct {
        const char *name;
        struct at reads;
        enum walk_word word;
    } rows[] = {
        {"the phase that it joined last", {.full = 1}, WALK_WORD_KNOWN},
        {"the one behind that", {.full = 2}, WALK_WORD_UNKNOWN},
        {"one of a barrier that it does not use", {.full = 1, .empty = 1}, WALK_WORD_KNOWN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct walk_words words = {0};
        print_message("%s\n", rows[i].name);
        hand_over(&words, STORER, &(struct at){.full_joined = 1}, NULL);
        walk_words_begin_warp(&words, READER);
        assert_int_equal(load(&words, READER, &rows[i].reads), rows[i].word);
        walk_words_free(&words);
    }
    (void)state;
}

/* ---- lanes that meet ---- */

/* Lane 0 of a warp meets the other lanes and then joins FULL; these have a walk of their own. */
enum { LANE_0, OTHER_LANES, READER_WALK };

/* meets: how often the other lanes meet lane 0, before they store and behind it. */
static void store_and_meet(struct walk_words *words, uint32_t before, uint32_t behind)
{
    struct walk_place lane_0 = {.walk = LANE_0}, others = {.walk = OTHER_LANES};
    walk_words_begin_warp(words, STORER);
    walk_words_meet(words, &lane_0, true);
    lane_0.joined[FULL] = 1;
    walk_words_end(words, &lane_0);
    for (; before; before--)
        walk_words_meet(words, &others, false);
    const struct walk_store store = {
        .place = others, .address = WORD, .bytes = WORD_BYTES, .words = {HANDED}, .is_known = true};
    walk_words_put(words, &store);
    for (; behind; behind--)
        walk_words_meet(words, &others, false);
    walk_words_end(words, &others);
}

static void what_lanes_store_before_they_meet_comes_before_what_lane_0_joins_then(void **state)
{
    static const struct {
        const char *name;
        uint32_t before, behind;
        struct at reads;
        enum walk_word word;
    } rows[] = {
        {"they store, meet lane 0, and that joins", 0, 1, {.full = 1}, WALK_WORD_KNOWN},
        {"... and the reader has not passed that phase", 0, 1, {0}, WALK_WORD_UNKNOWN},
        {"they store behind the meeting", 1, 0, {.full = 1}, WALK_WORD_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct walk_words words = {0};
        print_message("%s\n", rows[i].name);
        store_and_meet(&words, rows[i].before, rows[i].behind);
        walk_words_begin_warp(&words, READER);
        assert_int_equal(load(&words, READER_WALK, &rows[i].reads), rows[i].word);
        walk_words_free(&words);
    }
    (void)state;
}

/* Lane 0 stores and meets the others, `meets` times.  They overwrite that, meet it again, and it joins FULL. */
static void what_lanes_stored_before_they_met_is_overwritten(void **state)
{
    for (uint32_t meets = 0; meets < 2; meets++) {
        struct walk_words words = {0};
        struct walk_place lane_0 = {.walk = LANE_0}, others = {.walk = OTHER_LANES};
        struct walk_store store = {
            .place = lane_0, .address = WORD, .bytes = WORD_BYTES, .words = {HANDED + 1}, .is_known = true};
        walk_words_begin_warp(&words, STORER);
        walk_words_put(&words, &store);
        for (uint32_t i = 0; i < 1 + meets; i++)
            walk_words_meet(&words, &lane_0, true);
        lane_0.joined[FULL] = 1;
        walk_words_end(&words, &lane_0);
        for (uint32_t i = 0; i < meets; i++)
            walk_words_meet(&words, &others, false);
        store.place = others;
        store.words[0] = HANDED;
        walk_words_put(&words, &store);
        walk_words_meet(&words, &others, false);
        walk_words_end(&words, &others);
        walk_words_begin_warp(&words, READER);
        assert_int_equal(load(&words, READER_WALK, &(struct at){.full = 1}),
                         meets ? WALK_WORD_KNOWN : WALK_WORD_UNKNOWN);
        walk_words_free(&words);
    }
    (void)state;
}

/* As for what lane 0 stored itself. */
static void what_lane_0_does_behind_its_end_orders_nothing(void **state)
{
    struct walk_words words = {0};
    struct walk_place lane_0 = {.walk = LANE_0}, others = {.walk = OTHER_LANES};
    const struct walk_store store = {
        .place = others, .address = WORD, .bytes = WORD_BYTES, .words = {HANDED}, .is_known = true};
    walk_words_begin_warp(&words, STORER);
    lane_0.joined[FULL] = 1;
    walk_words_meet(&words, &lane_0, true);
    walk_words_end(&words, &lane_0);
    walk_words_put(&words, &store);
    walk_words_meet(&words, &others, false);
    walk_words_end(&words, &others);
    walk_words_begin_warp(&words, READER);
    assert_int_equal(load(&words, READER_WALK, &(struct at){.full = 2}), WALK_WORD_UNKNOWN);
    walk_words_free(&words);
    (void)state;
}

static void lanes_that_meet_have_passed_what_lane_0_passed_before(void **state)
{
    struct walk_words words = {0};
    struct walk_place lane_0 = {.walk = LANE_0}, others = {.walk = OTHER_LANES};
    walk_words_begin_warp(&words, READER);
    lane_0.passed[FULL] = 1;
    walk_words_meet(&words, &lane_0, true);
    lane_0.passed[FULL] = 2;
    walk_words_end(&words, &lane_0);
    assert_int_equal(others.passed[FULL], 0);
    walk_words_meet(&words, &others, false);
    assert_int_equal(others.passed[FULL], 1);
    walk_words_meet(&words, &others, false); /* lane 0 never came there */
    assert_int_equal(others.passed[FULL], 1);
    walk_words_free(&words);
    (void)state;
}

static void lanes_of_a_warp_that_meet_are_in_order(void **state)
{
    static const struct {
        const char *name;
        uint32_t store, load; /* how often the lanes have met by then */
        enum walk_word word;
    } rows[] = {
        {"the load comes behind the meeting", 0, 1, WALK_WORD_KNOWN},
        {"no meeting is between", 1, 1, WALK_WORD_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct walk_words words = {0};
        const struct walk_store store = {.place = {.walk = LANE_0, .meetings = rows[i].store},
                                         .address = WORD,
                                         .bytes = WORD_BYTES,
                                         .words = {HANDED},
                                         .is_known = true};
        const struct walk_place loads = {.walk = OTHER_LANES, .meetings = rows[i].load};
        uint32_t value;
        print_message("%s\n", rows[i].name);
        walk_words_begin_warp(&words, STORER);
        walk_words_put(&words, &store);
        end_walk(&words, LANE_0);
        assert_int_equal(walk_words_get(&words, &loads, WORD, WORD_BYTES, &value), rows[i].word);
        walk_words_free(&words);
    }
    (void)state;
}

static void a_warp_that_stored_what_another_one_asks_for_gives(void **state)
{
    struct walk_words words = {0};
    hand_over(&words, STORER, &(struct at){.full_joined = 1}, NULL);
    load(&words, STORER, &(struct at){0}); /* its own word */
    assert_false(walk_words_gives(&words, STORER));
    walk_words_begin_warp(&words, READER);
    load(&words, READER, &(struct at){.full = 1});
    assert_true(walk_words_gives(&words, STORER));
    assert_false(walk_words_gives(&words, READER));
    walk_words_forget(&words);
    assert_false(walk_words_gives(&words, STORER));
    walk_words_free(&words);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pass_repeats_another_one_if_what_may_be_read_is_the_same),
        cmocka_unit_test(data_that_is_joined_elsewhere_is_the_same),
        cmocka_unit_test(a_lost_walk_spoils_only_loads_that_may_come_behind_it),
        cmocka_unit_test(a_wait_of_other_lanes_counts_if_those_that_store_wait_there_too),
        cmocka_unit_test(losses_of_an_earlier_pass_count_only_if_they_remain),
        cmocka_unit_test(a_phase_that_a_walk_never_joined_comes_behind_its_end),
        cmocka_unit_test(what_lanes_store_before_they_meet_comes_before_what_lane_0_joins_then),
        cmocka_unit_test(what_lanes_stored_before_they_met_is_overwritten),
        cmocka_unit_test(what_lane_0_does_behind_its_end_orders_nothing),
        cmocka_unit_test(lanes_that_meet_have_passed_what_lane_0_passed_before),
        cmocka_unit_test(lanes_of_a_warp_that_meet_are_in_order),
        cmocka_unit_test(a_warp_that_stored_what_another_one_asks_for_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
