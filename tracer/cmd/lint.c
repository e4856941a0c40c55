/* lint.c - `wsdbg lint`: what can be said of the kernels in a file before anything runs.
 *
 * Reads: the files.  Writes: findings on stdout, like a compiler's or as JSON, and as SARIF where asked for; what was
 * not read, and a summary, on stderr.
 */
#include "lint/lint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/command.h"
#include "base/console.h"
#include "cmd/lint_fold.h"
#include "cmd/lint_json.h"
#include "cmd/lint_sarif.h"
#include "cmd/lint_text.h"
#include "cmd/limits.h"
#include "cmd/options.h"
#include "base/progress_line.h"

#define PATIENCE_NS UINT64_C(500000000)
enum { EXIT_FOUND = 1 };

struct run {
    const char *path;
    bool is_text;                   /* on stdout */
    struct wsdbg_lint_json *json;   /* on stdout; NULL = not asked for */
    struct wsdbg_lint_sarif *sarif; /* likewise */
    FILE *sarif_file;
    struct wsdbg_lint_fold *fold;
    bool failed; /* some file could not be read */
    struct wsdbg_progress_line line;
    struct wsdbg_lint_options options;
    unsigned fail_on; /* enum wsdbg_lint_severity; more than all = never */
    struct wsdbg_lint_totals totals;
};

static void show_folded(void *context, const struct wsdbg_lint_folded *folded)
{
    struct run *run = context;
    const struct wsdbg_sheet sheet = wsdbg_sheet_on(stdout, stdout);
    if (run->is_text)
        wsdbg_lint_text_print(run->path, folded, &sheet);
    if (run->sarif)
        wsdbg_lint_sarif_finding(run->sarif, run->path, folded);
}

/* Text and SARIF say once what several kernels share, JSON has each.  What cannot be kept is shown as it is. */
static void take_finding(void *context, const struct wsdbg_lint_subject *subject,
                         const struct wsdbg_lint_finding *finding)
{
    struct run *run = context;
    if (run->json) {
        wsdbg_progress_hide(&run->line);
        wsdbg_lint_json_finding(run->json, run->path, subject, finding);
    }
    if ((!run->is_text && !run->sarif) || wsdbg_lint_fold_add(run->fold, subject, finding))
        return;
    wsdbg_progress_hide(&run->line);
    wsdbg_lint_fold_flush(run->fold, show_folded, run);
    if (!wsdbg_lint_fold_add(run->fold, subject, finding))
        show_folded(run, &(struct wsdbg_lint_folded){.subject = *subject, .finding = *finding});
}

static void show_left_out(void *context, const char *text)
{
    struct run *run = context;
    wsdbg_progress_hide(&run->line);
    fflush(stdout);
    wsdbg_say("%s: %s", run->path, text);
    if (run->json)
        wsdbg_lint_json_left_out(run->json, run->path, text);
    if (run->sarif)
        wsdbg_lint_sarif_notify(run->sarif, "note", run->path, text);
}

static void add_totals(const struct wsdbg_lint_totals *of_file, struct wsdbg_lint_totals *all)
{
    all->modules += of_file->modules;
    all->kernels += of_file->kernels;
    all->judged += of_file->judged;
    all->code_bytes += of_file->code_bytes;
    all->left_out += of_file->left_out;
    for (unsigned severity = 0; severity <= WSDBG_LINT_ERROR; severity++)
        all->findings[severity] += of_file->findings[severity];
}

/* A file that cannot be read is reported; the others are still read. */
static void lint_one(struct run *run, const char *path)
{
    const struct wsdbg_lint_listener listener = {run, take_finding, show_left_out};
    struct wsdbg_lint_totals totals = {0};
    run->path = path;
    wsdbg_progress_begin(&run->line, "reading", PATIENCE_NS);
    struct wsdbg_error *error = wsdbg_lint_file(path, &run->options, &listener, &run->line.progress, &totals);
    wsdbg_progress_end(&run->line);
    wsdbg_lint_fold_flush(run->fold, show_folded, run);
    add_totals(&totals, &run->totals);
    if (run->json)
        wsdbg_lint_json_file(run->json, path, &totals, error);
    if (!error)
        return;
    if (run->sarif)
        wsdbg_lint_sarif_notify(run->sarif, "error", path, wsdbg_error_message(error));
    fflush(stdout);
    run->failed = true;
    wsdbg_say_error("lint", wsdbg_error_prefix(error, "%s", path));
}

static struct wsdbg_error *parse_fail_on(const char *word, unsigned *out)
{
    if (!word)
        *out = WSDBG_LINT_ERROR;
    else if (strcmp(word, "never") == 0)
        *out = WSDBG_LINT_ERROR + 1;
    else
        for (unsigned severity = WSDBG_LINT_NOTE; severity <= WSDBG_LINT_ERROR; severity++)
            if (strcmp(word, wsdbg_lint_severity_name((enum wsdbg_lint_severity)severity)) == 0)
                *out = severity;
    return NULL;
}

static struct wsdbg_error *no_such_code(const char *word, enum wsdbg_lint_code near)
{
    if (near == WSDBG_LINT_CODE_COUNT)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--suppress %s: no such code; docs/CAUSES.md lists them",
                                  word);
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--suppress %s: no such code; did you mean %s?", word,
                              wsdbg_lint_code_name(near));
}

static struct wsdbg_error *parse_suppressed(const char *list, uint64_t *out)
{
    static const char between[] = ", ";
    char word[64];
    for (const char *at = list ? list : ""; *(at += strspn(at, between));) {
        enum wsdbg_lint_code code;
        const size_t length = strcspn(at, between);
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), at);
        if (!wsdbg_lint_code_of_name(word, &code))
            return no_such_code(word, code);
        *out |= UINT64_C(1) << code;
        at += length;
    }
    return NULL;
}

static unsigned found_at_or_above(const struct wsdbg_lint_totals *totals, unsigned least)
{
    size_t count = 0;
    for (unsigned severity = least; severity <= WSDBG_LINT_ERROR; severity++)
        count += totals->findings[severity];
    return count > 0;
}

static void say_summary(const struct wsdbg_lint_totals *totals)
{
    const size_t *found = totals->findings;
    wsdbg_say("%zu kernel%s in %zu module%s read, %zu judged: %zu error%s, %zu warning%s, %zu note%s", totals->kernels,
              totals->kernels == 1 ? "" : "s", totals->modules, totals->modules == 1 ? "" : "s", totals->judged,
              found[WSDBG_LINT_ERROR], found[WSDBG_LINT_ERROR] == 1 ? "" : "s", found[WSDBG_LINT_WARNING],
              found[WSDBG_LINT_WARNING] == 1 ? "" : "s", found[WSDBG_LINT_NOTE],
              found[WSDBG_LINT_NOTE] == 1 ? "" : "s");
}

/* A log of the run before is replaced; another file that was named by mistake, an image say, is not. */
static bool may_be_replaced(const char *path)
{
    char begin[256] = "";
    struct stat of;
    if (stat(path, &of) || !S_ISREG(of.st_mode) || !of.st_size)
        return true;
    FILE *file = fopen(path, "re");
    const size_t count = file ? fread(begin, 1, sizeof begin - 1, file) : 0;
    if (file)
        fclose(file);
    return memmem(begin, count, "sarif", strlen("sarif")) != NULL;
}

static struct wsdbg_error *open_sarif(const char *path, FILE **out)
{
    if (!may_be_replaced(path))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s exists already and is no SARIF log, not overwritten",
                                  path);
    *out = fopen(path, "we");
    return *out ? NULL : wsdbg_error_os(errno, "%s: cannot be written", path);
}

static struct wsdbg_error *parse_options(const struct wsdbg_invocation *invocation, struct run *run)
{
    const char *sarif = wsdbg_option_value(invocation, "sarif");
    const bool json = wsdbg_option_value(invocation, "json") != NULL;
    const bool sarif_on_stdout = sarif && strcmp(sarif, "-") == 0;
    if (json && sarif_on_stdout)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--json and --sarif - would both be written to stdout");
    struct wsdbg_error *error = parse_fail_on(wsdbg_option_value(invocation, "fail-on"), &run->fail_on);
    if (!error)
        error = parse_suppressed(wsdbg_option_value(invocation, "suppress"), &run->options.suppressed);
    if (!wsdbg_option_value(invocation, "registers"))
        run->options.suppressed |= UINT64_C(1) << WSDBG_LINT_REGS_ACCOUNT;
    run->is_text = !json && !sarif_on_stdout;
    if (!error && sarif) {
        run->sarif_file = stdout;
        error = sarif_on_stdout ? NULL : open_sarif(sarif, &run->sarif_file);
        if (!error)
            error = wsdbg_lint_sarif_begin(run->sarif_file, &run->sarif);
    }
    return !error && json ? wsdbg_lint_json_begin(stdout, &run->json) : error;
}

static struct wsdbg_error *close_outputs(struct run *run)
{
    struct wsdbg_error *error = wsdbg_lint_json_end(run->json, &run->totals);
    struct wsdbg_error *of_sarif = wsdbg_lint_sarif_end(run->sarif);
    if (run->sarif_file && run->sarif_file != stdout && fclose(run->sarif_file) != 0 && !of_sarif)
        of_sarif = wsdbg_error_os(errno, "the SARIF file cannot be written");
    if (!error)
        return of_sarif;
    wsdbg_error_destroy(of_sarif);
    return error;
}

static struct wsdbg_error *lint_run(const struct wsdbg_invocation *invocation, int *status)
{
    struct run run = {.fold = wsdbg_lint_fold_create()};
    struct wsdbg_error *error = run.fold ? parse_options(invocation, &run) : &wsdbg_error_no_memory;
    for (int i = 0; !error && i < invocation->operand_count; i++)
        lint_one(&run, invocation->operands[i]);
    wsdbg_lint_fold_destroy(run.fold);
    struct wsdbg_error *of_outputs = close_outputs(&run);
    if (error)
        wsdbg_error_destroy(of_outputs);
    else
        error = of_outputs;
    if (error)
        return error;
    fflush(stdout);
    if (!run.failed || run.totals.modules > 0)
        say_summary(&run.totals);
    *status = run.failed ? WSDBG_EXIT_FAILED : found_at_or_above(&run.totals, run.fail_on) ? EXIT_FOUND : 0;
    return NULL;
}

static const struct wsdbg_choice severities[] = {
    {"error", NULL}, {"warning", NULL}, {"note", NULL}, {"never", NULL}, {NULL, NULL}};

static const struct wsdbg_option options[] = {
    {0, "fail-on", "error|warning|note|never",
     "exit status 1 when something of this severity or a higher one was found (error)", severities, NULL},
    {0, "json", NULL, "findings as JSON on stdout (docs/lint.schema.json)", NULL, NULL},
    {0, "sarif", "FILE", "findings as SARIF 2.1.0 in FILE, - for stdout", NULL, NULL},
    {0, "registers", NULL, "also show what each kernel with setmaxnreg does to its registers", NULL, NULL},
    {0, "suppress", "CODE[,CODE]", "without findings of these codes", NULL, NULL},
    WSDBG_OPTION_UNPACK_LIMIT,
};

const struct wsdbg_command wsdbg_command_lint = {
    .name = "lint",
    .summary = "Say before a run what will hang, not launch or be slow",
    .usage =
        "FILE... [--fail-on error|warning|note|never] [--suppress CODE[,CODE]] [--json] [--sarif FILE|-] [--registers] "
        "[--unpack-limit MIB]",
    .description =
        "Reads the kernels for sm_90 and sm_90a in a cubin, fatbin, PTX file, program, shared library, object\n"
        "or archive, and says what in them will hang, will not launch or will be slow. It runs nothing and\n"
        "needs no GPU.\n"
        "\n"
        "An error is proven from the file. A warning names the condition under which a kernel hangs, or what\n"
        "makes it slow. Each finding has a code; wsdbg why CODE explains it. Places are source lines if the\n"
        "file was compiled with -lineinfo, else offsets in the kernel. For a PTX file lint checks only wgmma,\n"
        "fences and the architecture; sums of registers and of arrivals need machine code. Findings of\n"
        "several kernels with the same code, line and sentence are shown as one with the kernels' names; JSON\n"
        "has each.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands_min = 1,
    .operands_max = -1,
    .exits = WSDBG_EXITS_FOUND,
    .run = lint_run,
};
