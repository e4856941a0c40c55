/* doctor.c - `wsdbg doctor`: what works here and what does not, with the reason.  Writes: stdout. */
#include "cmd/doctor.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sheet.h"
#include "cmd/command.h"
#include "cmd/options.h"

static const char *state_name(enum wsdbg_check_state state)
{
    static const char *const names[] = {[WSDBG_CHECK_OK] = "ok", [WSDBG_CHECK_NO] = "no", [WSDBG_CHECK_UNKNOWN] = "?"};
    return names[state];
}

/* All that is needed but a GPU is there. */
static bool simulator_works(const struct wsdbg_check *checks, size_t count)
{
    bool works = false;
    for (size_t i = 0; i < count; i++) {
        const bool is_ok = checks[i].state == WSDBG_CHECK_OK;
        const bool is_of_gpu = strcmp(checks[i].name, "driver") == 0 || strcmp(checks[i].name, "gpu") == 0;
        if (checks[i].needed && !is_of_gpu && !is_ok)
            return false;
        works |= is_ok && strcmp(checks[i].name, "simulator") == 0;
    }
    return works;
}

/* All that is needed is there but for a GPU whose causes are known. */
static bool location_works(const struct wsdbg_check *checks, size_t count)
{
    bool works = false;
    for (size_t i = 0; i < count; i++) {
        if (checks[i].needed && !checks[i].location_only && checks[i].state != WSDBG_CHECK_OK)
            return false;
        works |= checks[i].location_only;
    }
    return works;
}

static void put_check(const struct wsdbg_sheet *sheet, const struct wsdbg_check *check)
{
    char first[32], *text = NULL;
    const int columns = snprintf(first, sizeof first, "%-2s  %-11s ", state_name(check->state), check->name);
    if (asprintf(&text, "%s%s%s%s", check->reason, check->lost ? " (lost: " : "", check->lost ? check->lost : "",
                 check->lost ? ")" : "") < 0) {
        printf("%s%s\n", first, check->reason); /* there is no memory */
        return;
    }
    wsdbg_sheet_put(sheet, NULL, first, (size_t)columns, SIZE_MAX, text);
    free(text);
}

static void print_text(const struct wsdbg_check *checks, size_t count, bool ring_works)
{
    const struct wsdbg_sheet sheet = wsdbg_sheet_on(stdout, stdout);
    for (size_t i = 0; i < count; i++)
        put_check(&sheet, &checks[i]);
    wsdbg_sheet_put(&sheet, NULL, "", 0, SIZE_MAX,
                    ring_works                       ? "wsdbg run works here."
                    : location_works(checks, count)  ? "wsdbg run says where warps are here, and no cause."
                    : simulator_works(checks, count) ? "wsdbg run cannot watch GPU kernels here: it uses the simulator."
                                                     : "wsdbg run cannot watch GPU kernels here.");
}

/* ok: true, false, or null where it is not known. */
static json_t *state_json(enum wsdbg_check_state state)
{
    return state == WSDBG_CHECK_UNKNOWN ? json_null() : json_boolean(state == WSDBG_CHECK_OK);
}

static struct wsdbg_error *print_json(const struct wsdbg_check *checks, size_t count, bool ring_works)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(rows, json_pack("{s:s, s:o, s:b, s:s, s:s?}", "check", checks[i].name, "ok",
                                              state_json(checks[i].state), "needed", (int)checks[i].needed, "reason",
                                              checks[i].reason, "lost", checks[i].lost));
    json_t *root =
        json_pack("{s:s, s:b, s:o}", "wsdbg_version", WSDBG_VERSION, "ring_evidence", (int)ring_works, "checks", rows);
    int failed = json_dumpf(root, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(root);
    return failed ? wsdbg_error_create(WSDBG_ERROR_OTHER, "cannot write the checks as JSON") : NULL;
}

static struct wsdbg_error *doctor_run(const struct wsdbg_invocation *invocation, int *status)
{
    struct wsdbg_check checks[WSDBG_CHECKS_MAX];
    size_t count = wsdbg_doctor_check(checks);
    bool ring_works = true;
    for (size_t i = 0; i < count; i++)
        ring_works &= !checks[i].needed || checks[i].state == WSDBG_CHECK_OK;
    *status = ring_works ? 0 : 1;
    if (wsdbg_option_value(invocation, "json"))
        return print_json(checks, count, ring_works);
    print_text(checks, count, ring_works);
    return NULL;
}

static const struct wsdbg_option options[] = {{0, "json", NULL, "as JSON", NULL, NULL}};

const struct wsdbg_command wsdbg_command_doctor = {
    .name = "doctor",
    .summary = "Say what works here and what does not",
    .usage = "[--json]",
    .description =
        "Checks what wsdbg run needs, one line each: ok, no, or ? where that is not known. It asks the driver\n"
        "in a process of its own. The exit status is 0 if kernels with probes can be watched on a GPU here,\n"
        "else 1.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .exits = WSDBG_EXITS_CHECK,
    .run = doctor_run,
};
