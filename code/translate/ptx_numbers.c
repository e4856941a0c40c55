/* ptx_numbers.c - see ptx_numbers.h.  Pure. */
#include "translate/ptx_numbers.h"

void wsdbg_ptx_be_long(const struct wsdbg_ptx_translation *t, bool from_words)
{
    t->out->is_long = true;
    t->out->from_words = from_words;
    for (unsigned i = 0; i < t->out->source_count; i++)
        t->out->is_long &= t->out->sources[i].kind != WSDBG_OPERAND_NONE;
}

void wsdbg_ptx_narrow_immediates(const struct wsdbg_ptx_translation *t)
{
    const int64_t mask = 0xffff;
    const bool is_narrow = wsdbg_ptx_is_half(t->from->type) || t->from->type == WSDBG_PTX_S16;
    for (unsigned i = 0; i < t->out->source_count && is_narrow; i++)
        if (t->out->sources[i].kind == WSDBG_OPERAND_IMMEDIATE)
            t->out->sources[i].value &= mask;
}
