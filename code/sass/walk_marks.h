/* walk_marks.h - which shared memory walks have touched, roughly: what has no mark was not touched.  Private to the
 * walks.
 *
 * A kernel stores and loads tiles of data beside the few words that its warps hand to each other.  A mark tells at once
 * that none of the many stores of a walk is of these words.
 */
#ifndef WSDBG_SASS_WALK_MARKS_H
#define WSDBG_SASS_WALK_MARKS_H

#include <stdbool.h>
#include <stdint.h>

/* A mark is for 4 bytes, and for all addresses that are a multiple of 256 KiB away: those of other CTAs, too. */
enum { WALK_MARK_SHIFT = 2, WALK_MARKS = 1 << 16 };

/* Zeroed: nothing was touched. */
struct walk_marks {
    uint64_t bits[WALK_MARKS / 64];
};

/* Of a range of marks, those in the word that holds the mark `from`; *next: the first mark behind that word. */
static inline uint64_t walk_marks_of_word(uint32_t from, uint32_t last, uint32_t *next)
{
    const uint32_t rest = last - from, room = 63 - from % 64, count = rest < room ? rest : room;
    *next = from + count + 1;
    return UINT64_MAX >> (63 - count) << from % 64;
}

static inline void walk_marks_add(struct walk_marks *marks, uint32_t address, uint32_t bytes)
{
    const uint32_t first = address >> WALK_MARK_SHIFT, last = (address + bytes - 1) >> WALK_MARK_SHIFT;
    for (uint32_t mark = first, next; mark <= last && mark - first < WALK_MARKS; mark = next)
        marks->bits[mark % WALK_MARKS / 64] |= walk_marks_of_word(mark, last, &next);
}

static inline bool walk_marks_have(const struct walk_marks *marks, uint32_t address, uint32_t bytes)
{
    const uint32_t first = address >> WALK_MARK_SHIFT, last = (address + bytes - 1) >> WALK_MARK_SHIFT;
    uint64_t found = 0;
    for (uint32_t mark = first, next; mark <= last && mark - first < WALK_MARKS && !found; mark = next)
        found = marks->bits[mark % WALK_MARKS / 64] & walk_marks_of_word(mark, last, &next);
    return found;
}

#endif
