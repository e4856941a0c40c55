/* thread_compare.c - see thread_compare.h.
 *
 * Reads: an instruction and its sources in one thread.  Writes: nothing.
 */
#include "sass/thread_compare.h"

#include "sass/compute.h"
#include "sass/thread_float.h"
#include "sass/thread_long.h"

/* Whether the words stand in the relation; of .EX the lower words say what equal ones leave open. */
static enum wsdbg_truth compared(const struct wsdbg_thread_reader *reader, uint32_t a, uint32_t b)
{
    const struct wsdbg_instruction *in = reader->instruction;
    const bool less = in->is_signed ? (int32_t)a < (int32_t)b : a < b;
    const unsigned relation = a == b ? WSDBG_VALUES_EQUAL : less ? WSDBG_VALUES_LESS : WSDBG_VALUES_GREATER;
    if (in->mode == WSDBG_COMPARE_F || in->mode == WSDBG_COMPARE_T)
        return in->mode == WSDBG_COMPARE_T ? WSDBG_TRUTH_YES : WSDBG_TRUTH_NO;
    if (in->source_count > 3 && a == b)
        return wsdbg_thread_predicate(reader->state, &in->sources[3]);
    return wsdbg_compute_relations(in, true, false) & relation ? WSDBG_TRUTH_YES : WSDBG_TRUTH_NO;
}

enum wsdbg_truth wsdbg_thread_compare_long(const struct wsdbg_thread_reader *reader)
{
    const struct wsdbg_instruction *in = reader->instruction;
    const enum wsdbg_truth truth = wsdbg_thread_compares_long(reader);
    const enum wsdbg_truth third =
        in->source_count < 3 ? WSDBG_TRUTH_UNKNOWN : wsdbg_thread_predicate(reader->state, &in->sources[2]);
    return (enum wsdbg_truth)wsdbg_compute_combined(in, truth, third);
}

enum wsdbg_truth wsdbg_thread_compare_words(const struct wsdbg_thread_reader *reader)
{
    const struct wsdbg_instruction *in = reader->instruction;
    enum wsdbg_truth truth = WSDBG_TRUTH_UNKNOWN;
    uint32_t a, b;
    if (in->source_count < 3 || !wsdbg_thread_is_plain(reader, 2))
        return WSDBG_TRUTH_UNKNOWN;
    if (wsdbg_thread_source(reader, 0, 0, &a) && wsdbg_thread_source(reader, 1, 0, &b))
        truth = compared(reader, a, b);
    const enum wsdbg_truth third = wsdbg_thread_predicate(reader->state, &in->sources[2]);
    return (enum wsdbg_truth)wsdbg_compute_combined(in, truth, third);
}

enum wsdbg_truth wsdbg_thread_combine(const struct wsdbg_thread_reader *reader)
{
    unsigned outcomes = 0;
    for (unsigned row = 0; row < 8; row++) {
        bool is_possible = reader->instruction->source_count >= 3;
        for (unsigned i = 0; i < 3 && is_possible; i++) {
            const enum wsdbg_truth truth = wsdbg_thread_predicate(reader->state, &reader->instruction->sources[i]);
            is_possible = truth == WSDBG_TRUTH_UNKNOWN || (row >> (2 - i) & 1) == (truth == WSDBG_TRUTH_YES);
        }
        if (is_possible)
            outcomes |= 1u << (reader->instruction->table >> row & 1);
    }
    const enum wsdbg_truth truths[] = {WSDBG_TRUTH_UNKNOWN, WSDBG_TRUTH_NO, WSDBG_TRUTH_YES, WSDBG_TRUTH_UNKNOWN};
    return truths[outcomes];
}

enum wsdbg_truth wsdbg_thread_compare_floats(const struct wsdbg_thread_reader *reader)
{
    struct wsdbg_operand sources[WSDBG_FLOAT_SOURCES_MOST];
    enum wsdbg_truth truth = WSDBG_TRUTH_UNKNOWN;
    uint32_t a, b;
    if (!wsdbg_thread_float_sources(reader->instruction, sources))
        return WSDBG_TRUTH_UNKNOWN;
    if (wsdbg_thread_operand(reader->state, reader->world, &sources[0], 0, &a) &&
        wsdbg_thread_operand(reader->state, reader->world, &sources[1], 0, &b))
        truth = wsdbg_thread_float_compare(reader->instruction, a, b) ? WSDBG_TRUTH_YES : WSDBG_TRUTH_NO;
    const enum wsdbg_truth third = wsdbg_thread_predicate(reader->state, &sources[2]);
    return (enum wsdbg_truth)wsdbg_compute_combined(reader->instruction, truth, third);
}
