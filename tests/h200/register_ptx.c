/* register_ptx.c - see register_ptx.h.  Reads: register_configs.def.  Writes: PTX text. */
#include "register_ptx.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARPGROUP = 128 };

const struct register_config register_configs[] = {
#define CONFIG(family, threads, bounds, roles, outcome) {#family, threads, #bounds, roles, #outcome[0]},
#include "register_configs.def"
#undef CONFIG
};
const size_t register_config_count = sizeof register_configs / sizeof *register_configs;

static bool is_family(const struct register_config *config, const char *family)
{
    return strcmp(config->family, family) == 0;
}

void register_kernel_name(const struct register_config *config, char *out, size_t bytes)
{
    size_t used = (size_t)snprintf(out, bytes, "%s%u_%c%s_",
                                   is_family(config, "SWITCH")  ? "switch"
                                   : is_family(config, "TABLE") ? "table"
                                                                : "t",
                                   config->threads, config->bounds[0], config->bounds + 2);
    for (const char *at = config->roles; *at && used + 1 < bytes; at++)
        if (*at != ' ')
            out[used++] = (char)(*at == '-' ? 'd' : *at == '+' ? 'i' : *at == '|' ? '_' : *at == '.' ? 'n' : *at);
    out[used] = '\0';
}

/* The threads of the warpgroups that sync or arrive at barrier `letter`. */
static uint32_t threads_at(const struct register_config *config, char letter)
{
    uint32_t groups = 0;
    bool has_it = false;
    for (const char *at = config->roles;; at++) {
        has_it |= tolower((unsigned char)*at) == letter;
        if (*at && *at != '|')
            continue;
        groups += has_it;
        has_it = false;
        if (!*at)
            return groups * WARPGROUP;
    }
}

/* The steps of one warpgroup; returns what follows them. */
static const char *print_role(const struct register_config *config, const char *at, FILE *out)
{
    for (; *at && *at != '|'; at++) {
        const char letter = (char)tolower((unsigned char)*at);
        if (letter >= 'b' && letter <= 'd')
            fprintf(out, " barrier.%s.aligned %d, %u;\n", letter == *at ? "sync" : "arrive", letter - 'a',
                    letter == 'b' ? config->threads : threads_at(config, letter));
        else if (*at == '-' || *at == '+')
            fprintf(out, " setmaxnreg.%s.sync.aligned.u32 %d;\n", *at == '-' ? "dec" : "inc", atoi(at + 1));
    }
    return *at ? at + 1 : at;
}

/* Each warpgroup goes to its part.  Of comparisons for equality, as of a switch, ptxas makes a table of targets itself.
 */
static void print_choice(const struct register_config *config, uint32_t groups, FILE *out)
{
    const bool is_switch = is_family(config, "SWITCH");
    if (is_family(config, "TABLE")) {
        fprintf(out, "TARGETS: .branchtargets ");
        for (uint32_t group = 0; group < groups; group++)
            fprintf(out, "GROUP%u%s", group, group + 1 < groups ? ", " : ";\n brx.idx %group, TARGETS;\n");
        return;
    }
    for (uint32_t group = 0; group + 1 < groups; group++)
        fprintf(out, " setp.%s.u32 %%p, %%group, %u;\n @%%p bra GROUP%u;\n", is_switch ? "eq" : "lt",
                is_switch ? group : group + 1, group);
    fprintf(out, " bra.uni GROUP%u;\n", groups - 1);
}

static void print_kernel(const struct register_config *config, FILE *out)
{
    char name[128];
    const uint32_t groups = config->threads / WARPGROUP;
    const char *at = config->roles;
    register_kernel_name(config, name, sizeof name);
    fprintf(out, ".visible .entry %s(.param .u64 out) .maxntid %u, 1, 1 %s %s\n{\n", name, config->threads,
            config->bounds[0] == 'r' ? ".maxnreg" : ".minnctapersm", config->bounds + 2);
    fprintf(out, " .reg .pred %%p;\n .reg .u32 %%thread, %%group, %%one;\n .reg .u64 %%to, %%at;\n"
                 " mov.u32 %%thread, %%tid.x;\n shr.u32 %%group, %%thread, 7;\n ld.param.u64 %%to, [out];\n");
    print_choice(config, groups, out);
    for (uint32_t group = 0; group < groups; group++) {
        fprintf(out, "GROUP%u:\n", group);
        at = print_role(config, at, out);
        fprintf(out, " bra.uni DONE;\n");
    }
    fprintf(out, "DONE:\n mul.wide.u32 %%at, %%thread, 4;\n add.u64 %%to, %%to, %%at;\n mov.u32 %%one, 1;\n"
                 " st.global.u32 [%%to], %%one;\n ret;\n}\n");
}

char *register_ptx_create(void)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    fprintf(out, ".version 8.0\n.target sm_90a\n.address_size 64\n");
    for (size_t i = 0; i < register_config_count; i++)
        print_kernel(&register_configs[i], out);
    return fclose(out) == 0 ? text : NULL;
}
