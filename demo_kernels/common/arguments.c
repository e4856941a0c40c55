/* arguments.c - see arguments.h.  Reads strings, writes lines on stderr. */
#include "arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int argument_number(const char *program, const char *option, const char *text, long low, long high, long *out)
{
    char *end = NULL;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < low || value > high) {
        fprintf(stderr, "%s: --%s: '%s' is not a number from %ld to %ld\n", program, option, text, low, high);
        return -1;
    }
    *out = value;
    return 0;
}

int argument_word(const char *program, const char *option, const char *text, const char *const *words, int *out)
{
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return 0;
        }
    }
    fprintf(stderr, "%s: --%s: '%s' is not one of", program, option, text);
    for (int i = 0; words[i]; i++)
        fprintf(stderr, "%s %s", i ? "," : "", words[i]);
    fprintf(stderr, "\n");
    return -1;
}
