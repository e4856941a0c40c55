/* why.c - `wsdbg why`: one warp or barrier of a session explained; or what a cause code means.
 * Reads: a session database; the page of a cause, which is part of the program.  Writes: stdout. */
#include "cmd/command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cause_page.h"
#include "base/console.h"
#include "cmd/limits.h"
#include "cmd/newest.h"
#include "cmd/options.h"
#include "store/store.h"
#include "store/why.h"

static const struct wsdbg_option options[] = {
    {0, "cta", "X,Y,Z", "of this CTA, not of the one the verdict speaks of", NULL, NULL},
    {0, "json", NULL, "as JSON", NULL, NULL},
    WSDBG_OPTION_TIME_LIMIT,
};

/* The words from `first` on are one object: "rank 1 warp 4" needs no quotes.  NULL = there are none. */
static struct wsdbg_error *join_words(const struct wsdbg_invocation *invocation, int first, char **out)
{
    size_t length;
    *out = NULL;
    if (invocation->operand_count <= first)
        return NULL;
    FILE *words = open_memstream(out, &length);
    if (!words)
        return &wsdbg_error_no_memory;
    for (int i = first; i < invocation->operand_count; i++)
        fprintf(words, "%s%s", i > first ? " " : "", invocation->operands[i]);
    fclose(words);
    return NULL;
}

static struct wsdbg_error *explain(const struct wsdbg_invocation *invocation, bool named, const char *path,
                                   const char *object)
{
    const struct wsdbg_why_question question = {object, wsdbg_option_value(invocation, "cta")};
    struct wsdbg_store *store;
    struct wsdbg_why *why;
    const struct wsdbg_sheet sheet = wsdbg_sheet_on(stdout, stdout);
    struct wsdbg_error *error = wsdbg_session_hint(wsdbg_store_open(path, &store), named);
    if (error)
        return error;
    if (question.cta && !object)
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "--cta needs a warp or barrier of that CTA");
    if (!error)
        error = wsdbg_why_ask(store, &question, &why);
    if (!error) {
        if (wsdbg_option_value(invocation, "json"))
            error = wsdbg_why_json(why, stdout);
        else
            wsdbg_why_text(why, &sheet);
        wsdbg_why_destroy(why);
    }
    wsdbg_store_close(store);
    return wsdbg_error_prefix(error, "%s", path);
}

/* A word without a folder or an ending may have been meant as the code of a cause. */
static bool no_file(const char *word)
{
    return !strpbrk(word, "./") && access(word, F_OK) != 0;
}

/* No warp and no barrier is called so in wsdbg's words. */
static bool is_like_code(const char *word)
{
    return strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == strlen(word);
}

static struct wsdbg_error *print_page(const struct wsdbg_invocation *invocation, const char *code)
{
    if (invocation->operand_count > 1)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                                  "%s is a cause, which has no warps and barriers: FILE.db is missing", code);
    if (wsdbg_option_value(invocation, "json") || wsdbg_option_value(invocation, "cta"))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "the page of a cause takes no option");
    const struct wsdbg_sheet sheet = wsdbg_sheet_on(stdout, stdout);
    wsdbg_cause_page_print(code, &sheet);
    return NULL;
}

static struct wsdbg_error *no_such(const char *word, const char *near)
{
    if (!near[0])
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                                  "%s: no such session database, and no cause (docs/CAUSES.md has them all)", word);
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: no such session database, and no cause; did you mean %s?",
                              word, near);
}

/* Words that are no file ask about an object of the newest session. */
static struct wsdbg_error *ask(const struct wsdbg_invocation *invocation, bool named)
{
    char *path, *object = NULL;
    struct wsdbg_error *error = wsdbg_session_file(invocation, named, &path);
    if (error && invocation->operand_count && wsdbg_error_code(error) == WSDBG_ERROR_NOT_FOUND) {
        wsdbg_error_destroy(error);
        return no_such(invocation->operands[0], "");
    }
    if (!error)
        error = join_words(invocation, named, &object);
    if (!error)
        error = explain(invocation, named, path, object);
    free(object);
    free(path);
    return error;
}

static struct wsdbg_error *why_run(const struct wsdbg_invocation *invocation, int *status)
{
    const char *word = invocation->operands[0];
    char code[64];
    *status = 0;
    if (!word)
        return ask(invocation, false);
    if (invocation->operand_count == 1 && wsdbg_cause_is_known(word))
        return print_page(invocation, word);
    if (!no_file(word))
        return ask(invocation, true);
    if (wsdbg_cause_of_word(word, code, sizeof code))
        return print_page(invocation, code);
    return code[0] || is_like_code(word) ? no_such(word, code) : ask(invocation, false);
}

const struct wsdbg_command wsdbg_command_why = {
    .name = "why",
    .summary = "Explain one warp or barrier of a session, or a cause",
    .usage = "[FILE.db] [WARP|BARRIER] [--cta X,Y,Z] [--json] [--time-limit SECONDS] | CAUSE",
    .description =
        "Explains one object of a session database. For a warp: what it does and since when, who could end\n"
        "its wait, what each of those warps does, and so on until a warp that waits for nobody or a cycle.\n"
        "For a barrier: who waits, who has arrived in this phase and who has not, as far as known. It also\n"
        "shows the finding about the object and what to change. Name objects as reports do: 4, warp 4, warps\n"
        "4-7, rank 1 warp 4, empty[0], empty, mbarrier 0x410, named barrier 2, cluster barrier, register\n"
        "pool. If several CTAs have the object, --cta chooses one; else it is the CTA that the verdict names.\n"
        "Without an object: the warps and the barrier of the first finding. Without FILE.db: the newest\n"
        "session database in the current folder.\n"
        "\n"
        "With only the code of a cause (wsdbg why PARITY_WRONG) or of wsdbg lint it prints what the code\n"
        "means: the protocol, what a report says, how to fix it, and which public reports show it.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .operands_min = 0,
    .operands_max = -1,
    .operand = WSDBG_OPERAND_CAUSE,
    .run = why_run,
};
