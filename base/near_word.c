/* near_word.c - see near_word.h.  Letters to put in, take out or change, counted in one row of Levenshtein's table. */
#include "base/near_word.h"

#include <ctype.h>
#include <string.h>

enum { NAME_MOST = 63 };

static bool same(char one, char other)
{
    return tolower((unsigned char)one) == tolower((unsigned char)other);
}

/* Of a longer word than names are, its beginning's. */
static size_t changes_between(const char *word, const char *name)
{
    size_t row[NAME_MOST + 1]; /* from the word's letters so far to the first of the name's */
    const size_t length = strlen(name) < NAME_MOST ? strlen(name) : NAME_MOST;
    for (size_t i = 0; i <= length; i++)
        row[i] = i;
    for (size_t j = 0; word[j] && j < NAME_MOST; j++) {
        size_t before = row[0]++;
        for (size_t i = 1; i <= length; i++) {
            const size_t least = row[i] < row[i - 1] ? row[i] + 1 : row[i - 1] + 1;
            const size_t replaced = before + !same(word[j], name[i - 1]);
            before = row[i];
            row[i] = least < replaced ? least : replaced;
        }
    }
    return row[length];
}

bool wsdbg_word_is_nearer(const char *word, const char *name, size_t *fewest)
{
    const size_t changes = changes_between(word, name);
    if (changes >= *fewest || 2 * changes > strlen(name) + 1)
        return false;
    *fewest = changes;
    return true;
}
