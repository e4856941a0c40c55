/* sums.c - see sums.h.  Pure functions. */
#include "sass/sums.h"

#include <string.h>

struct wsdbg_sum wsdbg_sum_lost(void)
{
    return (struct wsdbg_sum){.is_lost = true};
}

struct wsdbg_sum wsdbg_sum_constant(uint32_t constant)
{
    return (struct wsdbg_sum){.constant = constant};
}

struct wsdbg_sum wsdbg_sum_of(uint64_t of, uint32_t factor)
{
    return (struct wsdbg_sum){.count = factor != 0, .terms = {{of, factor}}};
}

static void add_term(struct wsdbg_sum *sum, uint64_t of, uint32_t factor)
{
    uint32_t at = 0;
    while (at < sum->count && sum->terms[at].of < of)
        at++;
    struct wsdbg_sum_term *term = &sum->terms[at];
    const bool is_there = at < sum->count && term->of == of;
    if (is_there && (term->factor += factor) == 0)
        memmove(term, term + 1, (--sum->count - at) * sizeof *term);
    if (is_there || factor == 0)
        return;
    if (sum->count == WSDBG_SUM_TERMS_MOST) {
        sum->is_lost = true;
        return;
    }
    memmove(term + 1, term, (sum->count++ - at) * sizeof *term);
    *term = (struct wsdbg_sum_term){of, factor};
}

struct wsdbg_sum wsdbg_sum_plus(const struct wsdbg_sum *a, const struct wsdbg_sum *b, uint32_t factor)
{
    struct wsdbg_sum sum = *a;
    if (a->is_lost || b->is_lost)
        return wsdbg_sum_lost();
    sum.constant += b->constant * factor;
    for (uint32_t i = 0; i < b->count && !sum.is_lost; i++)
        add_term(&sum, b->terms[i].of, b->terms[i].factor * factor);
    return sum.is_lost ? wsdbg_sum_lost() : sum;
}

bool wsdbg_sums_equal(const struct wsdbg_sum *a, const struct wsdbg_sum *b)
{
    if (a->is_lost || b->is_lost || a->constant != b->constant || a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->terms[i].of != b->terms[i].of || a->terms[i].factor != b->terms[i].factor)
            return false;
    return true;
}

uint32_t wsdbg_sum_factor(const struct wsdbg_sum *sum, uint64_t of)
{
    for (uint32_t i = 0; i < sum->count; i++)
        if (sum->terms[i].of == of)
            return sum->terms[i].factor;
    return 0;
}
