/* near_word.c - see near_word.h.  Letters to put in, take out, change or swap, counted in rows of Levenshtein's table.
 */
#include "base/near_word.h"

#include <ctype.h>
#include <string.h>

enum { NAME_MOST = 63 };

static bool same(char one, char other)
{
    return tolower((unsigned char)one) == tolower((unsigned char)other);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Of a longer word than names are, its beginning's. */
static size_t changes_between(const char *word, const char *name)
{
    /* From the word's letters so far, and from one and two fewer, to the first of the name's. */
    size_t rows[3][NAME_MOST + 1];
    size_t *row = rows[0], *before = rows[1], *earlier = rows[2];
    const size_t length = least(strlen(name), NAME_MOST);
    for (size_t i = 0; i <= length; i++)
        row[i] = i;
    for (size_t j = 0; word[j] && j < NAME_MOST; j++) {
        size_t *oldest = earlier;
        earlier = before;
        before = row;
        row = oldest;
        row[0] = j + 1;
        for (size_t i = 1; i <= length; i++) {
            row[i] = least(least(before[i], row[i - 1]) + 1, before[i - 1] + !same(word[j], name[i - 1]));
            if (j > 0 && i > 1 && same(word[j], name[i - 2]) && same(word[j - 1], name[i - 1]))
                row[i] = least(row[i], earlier[i - 2] + 1);
        }
    }
    return row[length];
}

/* A third of the letters may differ: with more, a guess reads like one. */
bool wsdbg_word_is_nearer(const char *word, const char *name, size_t *fewest)
{
    const size_t changes = changes_between(word, name), length = strlen(word), wanted = strlen(name);
    if (changes >= *fewest || 3 * changes > (length > wanted ? length : wanted) + 1)
        return false;
    *fewest = changes;
    return true;
}
