/* core.c - `wsdbg core`: diagnoses GPU core dumps that anybody made, one or several of one process.
 *
 * Reads: the dumps.  Writes: the report on stdout, a session database on request.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmd/command.h"
#include "base/console.h"
#include "watch/closing.h"
#include "watch/database_place.h"
#include "cmd/limits.h"
#include "cmd/options.h"
#include "watch/session.h"
#include "evidence/completion.h"
#include "machine/interpret.h"
#include "model/fault.h"

enum { DUMPS_MAX = 16 };
#define READ_NS UINT64_C(60000000000) /* a file does not stand still for it */

/* What the dumps say, one look each. */
struct dumps {
    struct wsdbg_code *code;
    struct wsdbg_look *looks[DUMPS_MAX];
    size_t count;
    uint64_t *contexts; /* handles of the first dump's contexts */
    size_t context_count;
    size_t warps; /* in the newest dump */
};

/* Handles of contexts are addresses in the process: dumps of one process have some in common. */
static struct wsdbg_error *check_process(struct dumps *dumps, const struct wsdbg_machine *machine, const char *path,
                                         const char *first_path)
{
    if (!dumps->count) {
        dumps->contexts = calloc(machine->context_count + 1, sizeof *dumps->contexts);
        if (!dumps->contexts)
            return &wsdbg_error_no_memory;
        for (size_t i = 0; i < machine->context_count; i++)
            dumps->contexts[dumps->context_count++] = machine->contexts[i].handle;
        return NULL;
    }
    for (size_t i = 0; i < dumps->context_count; i++)
        for (size_t j = 0; j < machine->context_count; j++)
            if (dumps->contexts[i] == machine->contexts[j].handle)
                return NULL;
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: a dump of another process than %s", path, first_path);
}

static struct wsdbg_error *take_dump(struct dumps *dumps, const char *path, const char *first_path)
{
    struct wsdbg_machine *machine;
    struct wsdbg_error *error = wsdbg_machine_open_core(path, &machine);
    if (error)
        return error;
    error = check_process(dumps, machine, path, first_path);
    if (!error)
        error = wsdbg_error_prefix(wsdbg_code_prepare(dumps->code, machine), "%s", path);
    if (!error)
        error =
            wsdbg_error_prefix(wsdbg_look_take_within(machine, dumps->code,
                                                      (struct wsdbg_look_budget){READ_NS, READ_NS, WSDBG_WALKS_COUNTED},
                                                      &dumps->looks[dumps->count]),
                               "%s", path);
    if (!error)
        dumps->count++;
    dumps->warps = machine->warp_count;
    machine->ops->close(machine);
    return error;
}

/* One moment seen twice would look as if nothing moved. */
static struct wsdbg_error *check_distinct(char *const *paths, size_t newest)
{
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; !error && i < newest; i++) {
        bool same = false;
        error = wsdbg_machine_same_core(paths[i], paths[newest], &same);
        if (!error && same)
            error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: the same dump as %s", paths[newest], paths[i]);
    }
    return error;
}

static struct wsdbg_error *take_dumps(char *const *paths, struct dumps *dumps)
{
    struct wsdbg_error *error = wsdbg_code_create(&dumps->code);
    for (size_t i = 0; !error && paths[i]; i++) {
        error = take_dump(dumps, paths[i], paths[0]);
        if (!error)
            error = check_distinct(paths, i);
    }
    return error;
}

static void dumps_deinit(struct dumps *dumps)
{
    for (size_t i = 0; i < dumps->count; i++)
        wsdbg_look_destroy(dumps->looks[i]);
    if (dumps->code)
        wsdbg_code_destroy(dumps->code);
    free(dumps->contexts);
}

/* A kernel that a fault ended did not hang, whatever its warps wait for. */
static struct wsdbg_error *diagnose(const struct wsdbg_snapshot *snapshot, struct wsdbg_diagnosis *diagnosis)
{
    struct wsdbg_error *error =
        wsdbg_fault_count(snapshot) ? wsdbg_diagnose_faults(snapshot, diagnosis) : wsdbg_diagnose(snapshot, diagnosis);
    return error ? error : wsdbg_memory_error(); /* what is not known for want of memory makes another verdict */
}

static struct wsdbg_error *store_all(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot,
                                     const struct wsdbg_diagnosis *diagnosis)
{
    const struct wsdbg_session_end end = {.exit_status = diagnosis->hang ? WSDBG_EXIT_HANG : 0,
                                          .hang = diagnosis->hang,
                                          .outcome = "read from a core dump",
                                          .ended_ns = snapshot->time_ns};
    struct wsdbg_error *error = wsdbg_store_snapshot(store, snapshot);
    if (!error)
        error = wsdbg_store_diagnosis(store, snapshot, diagnosis);
    return error ? error : wsdbg_store_end(store, &end);
}

static struct wsdbg_error *fill_database(const char *path, char *const *operands, const struct wsdbg_snapshot *snapshot,
                                         const struct wsdbg_diagnosis *diagnosis, bool *created)
{
    char hostname[256] = "";
    char **words = calloc(DUMPS_MAX + 3, sizeof *words);
    if (!words)
        return &wsdbg_error_no_memory;
    words[0] = (char[]){"wsdbg"};
    words[1] = (char[]){"core"};
    for (size_t i = 0; operands[i]; i++)
        words[i + 2] = operands[i];
    char *command = wsdbg_quote_command(words);
    free(words);
    if (gethostname(hostname, sizeof hostname - 1) < 0)
        hostname[0] = '\0';
    const struct wsdbg_session_info info = {.command = command,
                                            .wsdbg_version = WSDBG_VERSION,
                                            .device = "gpu",
                                            .observer = "none",
                                            .evidence = "core",
                                            .hostname = hostname,
                                            .started_unix_ns = wsdbg_unix_ns(),
                                            .started_ns = snapshot->time_ns};
    struct wsdbg_store *store = NULL;
    struct wsdbg_error *error = wsdbg_store_create(path, &info, &store);
    if (!error) {
        *created = true;
        error = store_all(store, snapshot, diagnosis);
    }
    wsdbg_store_close(store);
    free(command);
    return error;
}

static struct wsdbg_error *print_report(const char *path, bool json)
{
    const struct wsdbg_sheet sheet = wsdbg_sheet_on(stdout, stdout);
    struct wsdbg_store *store;
    struct wsdbg_error *error = wsdbg_store_open(path, &store);
    if (error)
        return error;
    error = json ? wsdbg_report_json(store, stdout) : wsdbg_report_text(store, &sheet);
    wsdbg_store_close(store);
    fflush(stdout); /* before what is said of it */
    return error;
}

/* What a reader of the report could miss. */
static void say_outcome(const struct dumps *dumps, const struct wsdbg_snapshot *snapshot,
                        const struct wsdbg_diagnosis *diagnosis)
{
    if (wsdbg_fault_count(snapshot))
        wsdbg_say("the GPU reported an error: that ended the kernel, it did not hang");
    else if (!dumps->warps)
        wsdbg_say("the core dump holds no running kernel");
    else if (!diagnosis->hang && dumps->count == 1)
        wsdbg_say("not known to be a hang; a second dump of the same process would show whether anything moves");
    else if (!diagnosis->hang && diagnosis->finding_count && diagnosis->findings[0].cause != WSDBG_CAUSE_SLOW)
        wsdbg_say("not known to be a hang");
    else if (!diagnosis->hang)
        wsdbg_say("the dumps show no hang");
}

static struct wsdbg_error *report_snapshot(const struct wsdbg_invocation *invocation,
                                           const struct wsdbg_snapshot *snapshot,
                                           const struct wsdbg_diagnosis *diagnosis)
{
    struct wsdbg_database_place place;
    bool created = false;
    struct wsdbg_error *error = wsdbg_database_place_choose(wsdbg_option_value(invocation, "output"), &place);
    if (error)
        return error;
    error = fill_database(place.path, invocation->operands, snapshot, diagnosis, &created);
    if (!created)
        wsdbg_database_place_disown(&place);
    if (!error)
        error = print_report(place.path, wsdbg_option_value(invocation, "json") != NULL);
    wsdbg_database_place_deinit(&place, error != NULL);
    return error;
}

/* The process of the recording whose contexts the dumps have. */
static struct wsdbg_error *complete(const struct dumps *dumps, const char *path, struct wsdbg_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->context_count; i++)
        for (size_t k = 0; k < dumps->context_count; k++)
            if (snapshot->contexts[i].handle == dumps->contexts[k])
                return wsdbg_complete_process(dumps->looks, dumps->count, snapshot->contexts[i].process_id, snapshot);
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: a recording of another process than the dump's", path);
}

/* What was recorded of the kernels up to the end, and what the dumps show of the same warps. */
static struct wsdbg_error *see_both(const struct dumps *dumps, const char *path, struct wsdbg_snapshot *out)
{
    uint64_t first_ns, last_ns;
    struct wsdbg_evidence *evidence;
    struct wsdbg_snapshot snapshot = {0};
    struct wsdbg_error *error = wsdbg_evidence_open_recorded(path, &first_ns, &last_ns, &evidence);
    if (error)
        return error;
    if (wsdbg_recorded_has_looks(evidence))
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s holds looks of its own; wsdbg replay %s judges by both",
                                   path, path);
    else
        error = evidence->ops->inspect(evidence, last_ns, 0, &snapshot);
    evidence->ops->close(evidence);
    if (!error)
        error = complete(dumps, path, &snapshot);
    if (error)
        wsdbg_snapshot_deinit(&snapshot);
    else
        *out = snapshot;
    return error;
}

static struct wsdbg_error *judge_dumps(const struct wsdbg_invocation *invocation, const struct dumps *dumps,
                                       int *status)
{
    struct wsdbg_snapshot snapshot = {0};
    struct wsdbg_diagnosis diagnosis = {0};
    const char *ring = wsdbg_option_value(invocation, "ring");
    struct wsdbg_error *error =
        ring ? see_both(dumps, ring, &snapshot) : wsdbg_look_snapshot(dumps->looks, dumps->count, &snapshot);
    if (!error)
        error = diagnose(&snapshot, &diagnosis);
    if (!error)
        error = report_snapshot(invocation, &snapshot, &diagnosis);
    if (!error) {
        const char *output = wsdbg_option_value(invocation, "output");
        if (output)
            wsdbg_closing_say_next(NULL, output);
        say_outcome(dumps, &snapshot, &diagnosis);
        *status = diagnosis.hang ? WSDBG_EXIT_HANG : 0;
    }
    wsdbg_diagnosis_deinit(&diagnosis);
    wsdbg_snapshot_deinit(&snapshot);
    return error;
}

static struct wsdbg_error *core_run(const struct wsdbg_invocation *invocation, int *status)
{
    struct dumps dumps = {0};
    struct wsdbg_error *error = take_dumps(invocation->operands, &dumps);
    if (!error)
        error = judge_dumps(invocation, &dumps, status);
    dumps_deinit(&dumps);
    return error;
}

static const struct wsdbg_option options[] = {
    {'o', "output", "FILE", "keep a session database", NULL, NULL},
    {0, "ring", "FILE.wsrec", "what the same run recorded (wsdbg run --record)", NULL, NULL},
    {0, "json", NULL, "the report as JSON on stdout", NULL, NULL},
    WSDBG_OPTION_TIME_LIMIT,
    WSDBG_OPTION_UNPACK_LIMIT,
};

const struct wsdbg_command wsdbg_command_core = {
    .name = "core",
    .summary = "Say from a GPU core dump why a kernel hangs",
    .usage = "FILE... [--ring FILE.wsrec] [-o FILE.db] [--json] [--time-limit SECONDS] [--unpack-limit MIB]",
    .description =
        "Reads a GPU core dump, plain or packed with gzip, and reports like wsdbg run: which warps wait\n"
        "where, for which barrier, what that barrier still needs, and why. The kernel needs no probes and no\n"
        "line information. Several dumps of one process, oldest first, also show what moved between them.\n"
        "When an error of the GPU ended the kernel, the report names the warp, the instruction and the\n"
        "mbarrier or address, as far as the dump tells. With --ring the histories that probes recorded in the\n"
        "same run are judged beside the dumps.\n"
        "\n"
        "A program that hangs writes a dump on request. Start it with CUDA_ENABLE_USER_TRIGGERED_COREDUMP=1,\n"
        "CUDA_COREDUMP_PIPE=PIPE and CUDA_COREDUMP_GENERATION_FLAGS=skip_nonrelocated_elf_images,\n"
        "skip_global_memory,skip_constbank_memory,skip_local_memory (one word, without spaces), then write\n"
        "something into PIPE. Do not skip shared memory: it holds the state of the mbarriers.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands_min = 1,
    .operands_max = DUMPS_MAX,
    .exits = WSDBG_EXITS_VERDICT,
    .run = core_run,
};
