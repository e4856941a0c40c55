/* arguments.h - strict parsing of the demo programs' option values.
 *
 * Every function says on stderr, in one line, which option of which program has a bad value, and why.
 * They return 0 when the value is good and -1 when it is not; the result is written only when it is good.
 */
#ifndef DEMO_ARGUMENTS_H
#define DEMO_ARGUMENTS_H

#include <stdint.h>

/* A decimal number from `low` to `high`. */
int argument_number(const char *program, const char *option, const char *text, long low, long high, long *out);

/* One of `words`, which ends with NULL; the result is its index. */
int argument_word(const char *program, const char *option, const char *text, const char *const *words, int *out);

#endif
