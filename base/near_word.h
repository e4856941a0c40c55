/* near_word.h - the name that a mistyped word was meant to be. */
#ifndef WSDBG_BASE_NEAR_WORD_H
#define WSDBG_BASE_NEAR_WORD_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a word may have been meant as this name, and differs in fewer letters than *fewest, which becomes their
 * number: 0 where only upper and lower case differ.  *fewest begins as SIZE_MAX. */
bool wsdbg_word_is_nearer(const char *word, const char *name, size_t *fewest);

#endif
