/* explore_options.c - the words of WSDBG_EXPLORE; see explore.h.
 *
 * Reads: the environment, once.  Writes: the options; an unknown word or number out of range is an error that names it.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libcuda/explore.h"
#include "wsdbg/session.h"

static const struct number {
    const char *name;
    size_t offset;
    uint64_t most;
} numbers[] = {
#define NUMBER(name, member, most)                           \
    {                                                        \
        name, offsetof(struct explore_options, member), most \
    }
    NUMBER("schedules", schedules, UINT64_MAX),   NUMBER("limit_ns", limit_ns, UINT64_MAX),
    NUMBER("jobs", jobs, WSDBG_EXPLORE_JOBS_MAX), NUMBER("seed", seed, UINT64_MAX),
    NUMBER("launch", launch, UINT64_MAX),         NUMBER("depth", depth, WSDBG_EXPLORE_DEPTH_MAX),
#undef NUMBER
};

static bool read_number(const char *name, const char *value, struct explore_options *out)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char *end;
        errno = 0;
        const unsigned long long number = strtoull(value, &end, 10);
        if (strcmp(name, numbers[i].name) != 0)
            continue;
        if (value[0] < '0' || value[0] > '9' || *end || errno || number > numbers[i].most)
            return false;
        *(uint64_t *)(void *)((char *)out + numbers[i].offset) = number;
        return true;
    }
    return false;
}

static bool read_word(const char *name, const char *value, struct explore_options *out)
{
    if (strcmp(name, "all") == 0)
        return out->all = true;
    if (strcmp(name, "replays") == 0)
        return out->replays = true;
    if (strcmp(name, "compares") == 0)
        return out->compares = true;
    if (strcmp(name, "schedule") != 0)
        return read_number(name, value, out);
    static const char *const kinds[] = {
        [EXPLORE_MIX] = "mix", [EXPLORE_RANDOM] = "random", [EXPLORE_PRIORITY] = "priority"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(value, kinds[i]) == 0) {
            out->kind = (enum explore_kind)i;
            return true;
        }
    return false;
}

struct wsdbg_error *explore_read(const char *text, struct explore_options *out)
{
    static const char log[] = "log=";
    char word[64], *value;
    *out = (struct explore_options){
        .schedules = UINT64_MAX, .jobs = 1, .launch = EXPLORE_EVERY_LAUNCH, .depth = 3, .kind = EXPLORE_MIX};
    for (; strncmp(text, log, sizeof log - 1) != 0; text += strlen(word) + 1) {
        const size_t length = strcspn(text, ",");
        if (!text[length] || length >= sizeof word)
            return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "WSDBG_EXPLORE ends without log=FILE");
        memcpy(word, text, length);
        word[length] = '\0';
        value = strchr(word, '=');
        if (value)
            *value++ = '\0';
        if (!read_word(word, value ? value : "", out))
            return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "WSDBG_EXPLORE: '%s' is not understood", word);
        if (value)
            value[-1] = '=';
    }
    text += sizeof log - 1;
    if (!out->jobs || strlen(text) >= sizeof out->log)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "WSDBG_EXPLORE: jobs=0, or the log's name is too long");
    strcpy(out->log, text);
    return NULL;
}
