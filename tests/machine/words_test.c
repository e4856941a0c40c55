/* words_test.c - which of a span's words are read of a CTA's shared memory: those before its end, whole reads or not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/words.h"

enum { FIRST = 0x400, WORD_BYTES = 8, WORDS = WSDBG_SPAN_BYTES_MAX / WORD_BYTES };

/* A machine with one CTA, whose shared memory is `byte_count` bytes from FIRST on. */
struct small_machine {
    struct wsdbg_machine base;
    uint32_t byte_count, reads;
};

static uint64_t word_at(uint32_t address)
{
    return UINT64_C(0xabc000000000) | address;
}

/* As a GPU does: what does not lie wholly in memory is not read. */
static struct wsdbg_error *read_shared(struct wsdbg_machine *base, uint32_t cta, uint32_t address, void *out,
                                       uint32_t byte_count, bool *known)
{
    struct small_machine *machine = (struct small_machine *)base;
    machine->reads++;
    assert_int_equal(cta, 0);
    *known = address >= FIRST && address + byte_count <= FIRST + machine->byte_count;
    for (uint32_t at = 0; *known && at < byte_count; at += WORD_BYTES) {
        const uint64_t word = word_at(address + at);
        memcpy((char *)out + at, &word, sizeof word);
    }
    return NULL;
}

static const struct wsdbg_machine_ops ops = {.shared = read_shared};

static void words_before_the_end_of_memory_are_read(void **state)
{
    (void)state;
    for (uint32_t there = 0; there <= WORDS; there++) {
        struct small_machine machine = {.base.ops = &ops, .byte_count = there * WORD_BYTES};
        struct wsdbg_words words = {0};
        assert_null(wsdbg_words_read(&words, &machine.base, 0, (struct wsdbg_span){FIRST, WSDBG_SPAN_BYTES_MAX}));
        assert_int_equal(words.count, WORDS);
        for (uint32_t i = 0; i < WORDS; i++) {
            assert_int_equal(words.rows[i].known, i < there);
            assert_int_equal(words.rows[i].value, i < there ? word_at(FIRST + i * WORD_BYTES) : 0);
        }
        free(words.rows);
    }
}

/* A read of a live GPU is an order to its driver: one where all is there, one more where nothing is. */
static void few_reads_do(void **state)
{
    static const struct {
        uint32_t words, reads_most;
    } cases[] = {{WORDS, 1}, {0, 2}, {1, 8}, {WORDS / 2, 8}, {WORDS - 1, 8}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct small_machine machine = {.base.ops = &ops, .byte_count = cases[i].words * WORD_BYTES};
        struct wsdbg_words words = {0};
        assert_null(wsdbg_words_read(&words, &machine.base, 0, (struct wsdbg_span){FIRST, WSDBG_SPAN_BYTES_MAX}));
        assert_in_range(machine.reads, 1, cases[i].reads_most);
        free(words.rows);
    }
}

/* As a file does whose writer asked for one word in three. */
static struct wsdbg_error *read_one_in_three(struct wsdbg_machine *base, uint32_t cta, uint32_t address, void *out,
                                             uint32_t byte_count, bool *known)
{
    (void)base, (void)cta;
    const uint64_t word = word_at(address);
    *known = byte_count == sizeof word && (address - FIRST) / WORD_BYTES % 3 == 0;
    if (*known)
        memcpy(out, &word, sizeof word);
    return NULL;
}

static void a_file_may_hold_single_words(void **state)
{
    static const struct wsdbg_machine_ops pieces = {.shared = read_one_in_three};
    struct wsdbg_machine machine = {.ops = &pieces, .source = "core"};
    struct wsdbg_words words = {0};
    assert_null(wsdbg_words_read(&words, &machine, 0, (struct wsdbg_span){FIRST, WSDBG_SPAN_BYTES_MAX}));
    assert_int_equal(words.count, WORDS);
    for (uint32_t i = 0; i < WORDS; i++) {
        assert_int_equal(words.rows[i].known, i % 3 == 0);
        assert_int_equal(words.rows[i].value, i % 3 == 0 ? word_at(FIRST + i * WORD_BYTES) : 0);
    }
    free(words.rows);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_before_the_end_of_memory_are_read),
        cmocka_unit_test(few_reads_do),
        cmocka_unit_test(a_file_may_hold_single_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
