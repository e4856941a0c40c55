/* spin_memory.c - see spin_memory.h.  Reads, writes: words of one lane. */
#include "machine/spin_memory.h"

#include <string.h>

struct spin_word *spin_memory_word(struct spin_memory *memory, const struct wsdbg_thread_world *world, uint32_t address)
{
    for (uint32_t i = 0; i < memory->count; i++)
        if (memory->words[i].address == address)
            return &memory->words[i];
    if (memory->count == SPIN_WORDS_MOST)
        return NULL;
    struct spin_word *word = &memory->words[memory->count++];
    *word = (struct spin_word){.address = address};
    if (world->local && world->local(world->context, address, &word->value))
        word->bits = UINT32_MAX;
    else
        word->value = 0;
    return word;
}

bool spin_memory_is_same(const struct spin_memory *memory, const struct spin_memory *other)
{
    if (memory->count != other->count)
        return false;
    for (uint32_t i = 0; i < memory->count; i++)
        if (memory->words[i].value != other->words[i].value || memory->words[i].bits != other->words[i].bits)
            return false;
    return true;
}

static void meet(struct spin_word *word, const struct spin_word *other, uint64_t why)
{
    const uint32_t both = word->bits & other->bits & ~(word->value ^ other->value);
    word->depends |= other->depends | (both != word->bits || both != other->bits ? why : 0);
    word->bits = both;
    word->value &= both;
}

/* Each of them may have words that the other one has not asked for. */
bool spin_memory_meet(struct spin_memory *memory, struct spin_memory *other, const struct wsdbg_thread_world *world,
                      uint64_t why)
{
    for (uint32_t i = 0; i < other->count; i++)
        if (!spin_memory_word(memory, world, other->words[i].address))
            return false;
    for (uint32_t i = 0; i < memory->count; i++) {
        const struct spin_word *word = spin_memory_word(other, world, memory->words[i].address);
        if (!word)
            return false;
        meet(&memory->words[i], word, why);
    }
    return true;
}
