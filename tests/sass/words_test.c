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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pass_repeats_another_one_if_what_may_be_read_is_the_same),
        cmocka_unit_test(data_that_is_joined_elsewhere_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
