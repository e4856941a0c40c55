/* arguments.h - strict parsing of the demo programs' command lines.
 *
 * Every function says on stderr, in one line, which option of which program has a bad value, and why.
 * They return 0 when the value is good and -1 when it is not; the result is written only when it is good.
 */
#ifndef DEMO_ARGUMENTS_H
#define DEMO_ARGUMENTS_H

#include <getopt.h>
#include <stdint.h>

/* A decimal number from `low` to `high`. */
int argument_number(const char *program, const char *option, const char *text, long low, long high, long *out);

/* One of `words`, which ends with NULL; the result is its index. */
int argument_word(const char *program, const char *option, const char *text, const char *const *words, int *out);

/* Gives each option of `table`, by its `val`, to `take`, which returns 0, or -1 when it has complained.  Other words
 * are no options. */
int arguments_read(const char *program, int argc, char **argv, const struct option *table,
                   int (*take)(int id, const char *value, void *options), void *options);

/* Says that `word` is wrong, and why; returns -1. */
int argument_refuse(const char *program, const char *word, const char *why);

#endif
