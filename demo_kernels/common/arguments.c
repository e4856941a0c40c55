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

int argument_refuse(const char *program, const char *word, const char *why)
{
    fprintf(stderr, "%s: '%s' %s (see --help)\n", program, word, why);
    return -1;
}

int arguments_read(const char *program, int argc, char **argv, const struct option *table,
                   int (*take)(int id, const char *value, void *options), void *options)
{
    int id;
    opterr = 0;
    while ((id = getopt_long(argc, argv, ":", table, NULL)) != -1) {
        if (id == '?' || id == ':')
            return argument_refuse(program, argv[optind - 1], id == ':' ? "needs a value" : "is no option");
        if (take(id, optarg, options))
            return -1;
    }
    return optind < argc ? argument_refuse(program, argv[optind], "is no option") : 0;
}
