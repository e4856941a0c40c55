/* lint.c - see lint.h.  Reads modules as input.c brings them; runs the table of rules on each kernel of each. */
#include "lint/lint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "lint/input.h"
#include "lint/rules.h"
#include "lint/unread.h"

enum { ARCHITECTURE = 90, LINES_MOST = 20 };
#define IMAGE_MOST ((size_t)1 << 30) /* bytes of an unpacked image */

/* A rule is asked about a kernel whose machine code holds one of `code`, or whose module's PTX one of `ptx`. */
static const struct {
    wsdbg_lint_rule *rule;
    unsigned code, ptx;
} rules[] = {
    {wsdbg_lint_rule_launch, WSDBG_INTEREST_ALL, 0},
    {wsdbg_lint_rule_registers, WSDBG_INTEREST_REGISTERS, 0},
    {wsdbg_lint_rule_calls, WSDBG_INTEREST_REGISTERS, 0},
    {wsdbg_lint_rule_ignored, 0, WSDBG_INTEREST_REGISTERS},
    {wsdbg_lint_rule_architecture, 0, WSDBG_INTEREST_REGISTERS | WSDBG_INTEREST_WGMMA | WSDBG_INTEREST_MESSAGE},
    {wsdbg_lint_rule_wgmma, WSDBG_INTEREST_WGMMA, WSDBG_INTEREST_WGMMA},
    {wsdbg_lint_rule_barriers, WSDBG_INTEREST_MBARRIERS | WSDBG_INTEREST_NAMED | WSDBG_INTEREST_CLUSTER, 0},
    {wsdbg_lint_rule_init_fence, WSDBG_INTEREST_MBARRIERS, WSDBG_INTEREST_MBARRIERS},
};

struct state {
    const char *path;
    const struct wsdbg_lint_options *options;
    const struct wsdbg_lint_listener *listener;
    struct wsdbg_lint_totals totals;
    struct wsdbg_lint_unread unread;
    struct wsdbg_error *whole_error; /* why a file that is one part could not be read */
    struct wsdbg_progress *progress;
    struct wsdbg_file_span piece; /* of the file, that the module at hand was unpacked from */
    uint64_t file_bytes;
};

/* A module is many kernels, and takes its time: how far it is counts as that part of what it was unpacked from. */
static void advance(const struct state *state, uint64_t done, uint64_t total)
{
    const double part = total ? (double)done / (double)total : 1;
    const uint64_t at = state->piece.first + (uint64_t)(part * (double)state->piece.byte_count);
    wsdbg_progress_advance(state->progress, at < state->file_bytes ? at : state->file_bytes - 1, state->file_bytes);
}

/* ---- what is left out ---- */

static void say_left_out(struct state *state, const char *text)
{
    if (++state->totals.left_out <= LINES_MOST)
        state->listener->left_out(state->listener->context, text);
}

/* Takes the error.  A part without a name is the whole file: its error is the file's. */
static void leave_out(void *context, const char *name, struct wsdbg_error *error)
{
    struct state *state = context;
    char line[1024];
    if (!*name && !state->whole_error) {
        state->whole_error = error;
        return;
    }
    snprintf(line, sizeof line, "%s%snot read: %s", name, *name ? ": " : "", wsdbg_error_message(error));
    say_left_out(state, line);
    wsdbg_error_destroy(error);
}

/* ---- kernels ---- */

static struct wsdbg_error *run_rules(struct wsdbg_lint_kernel *kernel, struct wsdbg_lint_findings *findings,
                                     bool *judged)
{
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; !error && i < sizeof rules / sizeof rules[0]; i++) {
        if (!(kernel->code_interests & rules[i].code) && !(kernel->ptx_interests & rules[i].ptx))
            continue;
        *judged = true;
        error = rules[i].rule(kernel, findings);
    }
    return error;
}

static void tell(struct state *state, const struct wsdbg_lint_kernel *kernel, struct wsdbg_lint_findings *findings)
{
    char line[1024];
    const struct wsdbg_lint_subject subject = {kernel->module->name, kernel->name, kernel->symbol, !kernel->function};
    wsdbg_lint_findings_sort(findings);
    for (size_t i = 0; i < findings->count; i++) {
        state->totals.findings[findings->rows[i]->severity]++;
        state->listener->finding(state->listener->context, &subject, findings->rows[i]);
    }
    if (!findings->left_out)
        return;
    snprintf(line, sizeof line, "%s: %zu more findings of this kernel are not shown", kernel->name, findings->left_out);
    say_left_out(state, line);
}

/* A kernel that cannot be judged is left out; only memory ends the work. */
static struct wsdbg_error *judge(struct state *state, struct wsdbg_lint_kernel *kernel)
{
    struct wsdbg_lint_findings findings = {.suppressed = state->options->suppressed};
    bool judged = false;
    struct wsdbg_error *error = run_rules(kernel, &findings, &judged);
    if (!error && findings.is_out_of_memory)
        error = &wsdbg_error_no_memory;
    if (error && wsdbg_error_code(error) != WSDBG_ERROR_NO_MEMORY) {
        leave_out(state, kernel->name, error);
        error = NULL;
    }
    state->totals.kernels++;
    state->totals.judged += judged;
    if (!error)
        tell(state, kernel, &findings);
    wsdbg_lint_findings_deinit(&findings);
    return error;
}

static struct wsdbg_error *lint_kernel(struct state *state, struct wsdbg_lint_module *module,
                                       const struct wsdbg_cubin_function *function,
                                       const struct wsdbg_ptx_function *ptx)
{
    struct wsdbg_lint_kernel kernel;
    struct wsdbg_error *error = wsdbg_lint_kernel_open(module, function, ptx, &kernel);
    if (!error)
        error = judge(state, &kernel);
    wsdbg_lint_kernel_close(&kernel);
    return error;
}

/* ---- modules ---- */

static struct wsdbg_error *lint_cubin(struct state *state, struct wsdbg_lint_module *module)
{
    struct wsdbg_error *error = wsdbg_cubin_open(&module->code, &module->cubin);
    if (error) {
        if (wsdbg_error_code(error) == WSDBG_ERROR_NO_MEMORY)
            return error;
        leave_out(state, module->name, error);
        return NULL;
    }
    if (!module->is_specific_known)
        module->is_specific_known = wsdbg_cubin_is_specific(module->cubin, &module->is_specific);
    if (module->is_specific_known && !module->is_specific &&
        (module->needs_specific = wsdbg_lint_scan_message(&module->code)))
        module->ptx_interests |= WSDBG_INTEREST_MESSAGE;
    state->totals.modules++;
    state->totals.code_bytes += module->code.byte_count;
    uint64_t done = 0;
    for (size_t i = 0; !error && i < wsdbg_cubin_function_count(module->cubin); i++) {
        const struct wsdbg_cubin_function *function = wsdbg_cubin_function(module->cubin, i);
        if (function->is_kernel)
            error = lint_kernel(state, module, function, NULL);
        advance(state, done += function->code.byte_count, module->code.byte_count);
    }
    return error;
}

static struct wsdbg_error *lint_ptx(struct state *state, struct wsdbg_lint_module *module)
{
    struct wsdbg_error *error = NULL;
    const struct wsdbg_ptx_program *program = wsdbg_lint_module_ptx(module);
    if (!program) {
        error =
            module->ptx_error ? module->ptx_error : wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "an image of no bytes");
        module->ptx_error = NULL;
        leave_out(state, module->name, error);
        return NULL;
    }
    if (program->target != ARCHITECTURE) {
        wsdbg_lint_unread_count(&state->unread, WSDBG_FATBIN_PTX, program->target, program->target_is_specific);
        return NULL;
    }
    module->is_specific = program->target_is_specific;
    module->is_specific_known = true;
    state->totals.modules++;
    for (size_t i = 0; !error && i < program->function_count; i++)
        if (program->functions[i].is_kernel)
            error = lint_kernel(state, module, NULL, &program->functions[i]);
    return error;
}

/* PTX that is only there beside its machine code, and that a rule asked for in vain. */
static void say_ptx_error(struct state *state, struct wsdbg_lint_module *module)
{
    if (!module->ptx_error)
        return;
    struct wsdbg_error *error = module->ptx_error;
    module->ptx_error = NULL;
    leave_out(state, *module->name ? module->name : "its PTX", error);
}

static struct wsdbg_error *lint_module(struct state *state, struct wsdbg_lint_module *module)
{
    if (module->ptx_text.byte_count)
        module->ptx_interests = wsdbg_lint_scan_ptx((const char *)module->ptx_text.bytes, module->ptx_text.byte_count);
    struct wsdbg_error *error = module->code.byte_count ? lint_cubin(state, module) : lint_ptx(state, module);
    say_ptx_error(state, module);
    wsdbg_lint_module_close(module);
    return error;
}

/* ---- fatbins ---- */

struct entry {
    struct wsdbg_fatbin_entry shown;
    uint64_t stored_at; /* in the fatbin */
};

struct fatbin {
    struct state *state;
    const struct wsdbg_lint_part *part;
    struct entry ptx[2]; /* for sm_90 and for sm_90a */
    bool has_ptx[2], has_code[2];
    char *text[2]; /* unpacked */
    size_t text_bytes[2];
};

static struct wsdbg_error *read_fatbin(void *context, uint64_t offset, void *out, size_t byte_count)
{
    const struct fatbin *fatbin = context;
    return wsdbg_file_span_read(&fatbin->part->span, offset, out, byte_count);
}

/* What the entry holds, unpacked; the caller frees *out. */
static struct wsdbg_error *unpack(const struct fatbin *fatbin, const struct entry *entry, char **out,
                                  size_t *byte_count)
{
    struct wsdbg_fatbin_entry shown = entry->shown;
    unsigned char *stored;
    const bool is_packed = shown.packing != WSDBG_FATBIN_PLAIN;
    const uint64_t most = is_packed ? wsdbg_limits_unpacked(shown.stored.byte_count, IMAGE_MOST) : IMAGE_MOST;
    if (shown.plain_bytes > most)
        return wsdbg_limits_unpacks_to_more(shown.stored.byte_count, most, is_packed ? IMAGE_MOST : most);
    struct wsdbg_error *error = wsdbg_file_span_part(&fatbin->part->span, entry->stored_at, shown.stored.byte_count,
                                                     "it", &fatbin->state->piece);
    if (!error)
        error = wsdbg_file_span_read_all(&fatbin->state->piece, IMAGE_MOST, &stored);
    if (error)
        return error;
    shown.stored.bytes = stored;
    error = wsdbg_fatbin_unpack(&shown, (size_t)most, out, byte_count);
    free(stored);
    return error;
}

static void name_module(const struct fatbin *fatbin, bool is_specific, struct wsdbg_lint_module *module)
{
    snprintf(module->name, sizeof module->name, "%s%ssm_90%s", fatbin->part->name, *fatbin->part->name ? " " : "",
             is_specific ? "a" : "");
}

static void note_entry(struct fatbin *fatbin, const struct entry *entry)
{
    const struct wsdbg_fatbin_entry *shown = &entry->shown;
    const bool is_specific = shown->architecture_only;
    if (shown->architecture != ARCHITECTURE || (shown->kind != WSDBG_FATBIN_PTX && shown->kind != WSDBG_FATBIN_CUBIN)) {
        wsdbg_lint_unread_count(&fatbin->state->unread, shown->kind, shown->architecture, is_specific);
    } else if (shown->kind == WSDBG_FATBIN_CUBIN) {
        fatbin->has_code[is_specific] = true;
    } else {
        fatbin->ptx[is_specific] = *entry;
        fatbin->has_ptx[is_specific] = true;
    }
}

static void unpack_ptx(struct fatbin *fatbin, bool is_specific)
{
    struct wsdbg_lint_module module;
    name_module(fatbin, is_specific, &module);
    struct wsdbg_error *error =
        unpack(fatbin, &fatbin->ptx[is_specific], &fatbin->text[is_specific], &fatbin->text_bytes[is_specific]);
    if (error)
        leave_out(fatbin->state, module.name, wsdbg_error_prefix(error, "its PTX"));
    else
        fatbin->text_bytes[is_specific] = strlen(fatbin->text[is_specific]); /* padding may follow */
}

static struct wsdbg_error *lint_entry(struct fatbin *fatbin, const struct entry *entry)
{
    const bool is_specific = entry->shown.architecture_only;
    struct wsdbg_lint_module module = {
        .path = fatbin->state->path,
        .is_specific = is_specific,
        .is_specific_known = true,
        .ptx_text = {(const unsigned char *)fatbin->text[is_specific], fatbin->text_bytes[is_specific]}};
    char *code;
    size_t count;
    name_module(fatbin, is_specific, &module);
    struct wsdbg_error *error = unpack(fatbin, entry, &code, &count);
    if (error) {
        leave_out(fatbin->state, module.name, error);
        return NULL;
    }
    module.code = (struct wsdbg_image){(const unsigned char *)code, count};
    error = lint_module(fatbin->state, &module);
    free(code);
    return error;
}

static struct wsdbg_error *lint_ptx_entry(struct fatbin *fatbin, bool is_specific)
{
    struct wsdbg_lint_module module = {
        .path = fatbin->state->path,
        .ptx_text = {(const unsigned char *)fatbin->text[is_specific], fatbin->text_bytes[is_specific]}};
    name_module(fatbin, is_specific, &module);
    return lint_module(fatbin->state, &module);
}

/* Goes through the entries twice: PTX may stand behind the code that was made from it.  What comes behind a damaged
 * entry is lost, which is reported the first time. */
static struct wsdbg_error *each_entry(struct fatbin *fatbin, bool is_first_time)
{
    const struct wsdbg_fatbin_source source = {fatbin, fatbin->part->span.byte_count, read_fatbin};
    struct entry entry;
    uint64_t offset = 0;
    struct wsdbg_error *error = NULL;
    while (!error) {
        bool more;
        struct wsdbg_error *damage = wsdbg_fatbin_next_of(&source, &offset, &entry.shown, &entry.stored_at, &more);
        if (damage && is_first_time)
            leave_out(fatbin->state, *fatbin->part->name ? fatbin->part->name : "fatbin", damage);
        else
            wsdbg_error_destroy(damage);
        if (damage || !more)
            break;
        if (is_first_time)
            note_entry(fatbin, &entry);
        else if (entry.shown.architecture == ARCHITECTURE && entry.shown.kind == WSDBG_FATBIN_CUBIN)
            error = lint_entry(fatbin, &entry);
    }
    return error;
}

static struct wsdbg_error *lint_fatbin(struct state *state, const struct wsdbg_lint_part *part)
{
    struct fatbin fatbin = {.state = state, .part = part};
    struct wsdbg_error *error = each_entry(&fatbin, true);
    for (int specific = 0; specific < 2; specific++)
        if (fatbin.has_ptx[specific])
            unpack_ptx(&fatbin, specific != 0);
    if (!error)
        error = each_entry(&fatbin, false);
    for (int specific = 0; !error && specific < 2; specific++)
        if (fatbin.text[specific] && !fatbin.has_code[0] && !fatbin.has_code[1])
            error = lint_ptx_entry(&fatbin, specific != 0);
    free(fatbin.text[0]);
    free(fatbin.text[1]);
    return error;
}

/* A cubin for another GPU is counted where the file holds more than it. */
static bool is_of_other_gpu(struct state *state, const struct wsdbg_lint_part *part)
{
    uint32_t architecture;
    if (!*part->name || !wsdbg_cubin_architecture(&part->bytes, &architecture) || architecture == ARCHITECTURE)
        return false;
    wsdbg_lint_unread_count(&state->unread, WSDBG_FATBIN_CUBIN, architecture, false);
    return true;
}

static struct wsdbg_error *lint_part(void *context, const struct wsdbg_lint_part *part, uint64_t file_bytes)
{
    struct state *state = context;
    state->piece = part->span;
    state->file_bytes = file_bytes;
    struct wsdbg_lint_module module = {.path = state->path};
    snprintf(module.name, sizeof module.name, "%s", part->name);
    switch (part->form) {
    case WSDBG_LINT_FATBIN:
        return lint_fatbin(state, part);
    case WSDBG_LINT_CUBIN:
        if (is_of_other_gpu(state, part))
            return NULL;
        module.code = part->bytes;
        break;
    case WSDBG_LINT_PTX:
        module.ptx_text = part->bytes;
        break;
    }
    return lint_module(state, &module);
}

/* ---- the file ---- */

static void say_rest(struct state *state)
{
    char line[1024];
    if (state->totals.left_out > LINES_MOST) {
        snprintf(line, sizeof line, "… and %zu more such lines", state->totals.left_out - LINES_MOST);
        state->listener->left_out(state->listener->context, line);
    }
    if (wsdbg_lint_unread_text(&state->unread, line, sizeof line))
        state->listener->left_out(state->listener->context, line);
}

static struct wsdbg_error *check_found(const struct state *state, size_t parts)
{
    if (state->totals.modules)
        return NULL;
    if (!parts)
        return wsdbg_error_create(
            WSDBG_ERROR_BAD_INPUT,
            "holds no code for a GPU, neither in the sections that nvcc makes nor among its data");
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "nothing for sm_90 or sm_90a could be read of it");
}

struct wsdbg_error *wsdbg_lint_file(const char *path, const struct wsdbg_lint_options *options,
                                    const struct wsdbg_lint_listener *listener, struct wsdbg_progress *progress,
                                    struct wsdbg_lint_totals *out)
{
    struct state state = {.path = path, .options = options, .listener = listener, .progress = progress};
    const struct wsdbg_lint_input_visitor visitor = {&state, progress, lint_part, leave_out};
    size_t parts = 0;
    struct wsdbg_error *error = wsdbg_lint_input_walk(path, &visitor, &parts);
    say_rest(&state);
    if (!error) {
        error = state.whole_error ? state.whole_error : check_found(&state, parts);
        state.whole_error = NULL;
    }
    wsdbg_error_destroy(state.whole_error);
    *out = state.totals;
    return error;
}
