/* refusals.c - see refusals.h.  Reads: the snapshot's refusals, images in the spool.  Writes: two lines each, to the
 * listener or stderr and the session's log; the table refusal. */
#include "watch/refusals.h"

#include <inttypes.h>
#include <string.h>

#include "base/grow.h"
#include "watch/sources.h"
#include "diagnose/refused.h"

/* What the observer kept, or the file that was to be loaded.  What cannot be read is not known: the words say so. */
static bool read_holds(const struct wsdbg_watch *watch, const struct wsdbg_refusal *refusal, struct wsdbg_holds *out)
{
    char *path = NULL;
    const char *file = refusal->row.kind == WSDBG_REFUSAL_CODE ? refusal->row.name : "";
    if (refusal->image_path[0] && watch->spool && asprintf(&path, "%s/%s", watch->spool, refusal->image_path) < 0)
        path = NULL;
    struct wsdbg_error *error = path             ? wsdbg_file_holds(path, out)
                                : file[0] == '/' ? wsdbg_file_holds(file, out)
                                                 : wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "no image");
    free(path);
    const bool read = !error;
    wsdbg_error_destroy(error);
    return read;
}

/* `calls` such calls in all, of which `different` asked for different things. */
static void say(const struct wsdbg_watch *watch, const struct wsdbg_refusal_said *entry, uint64_t calls,
                size_t different)
{
    const struct wsdbg_refused_words *words = &entry->words;
    const struct wsdbg_refusal_row *row = &entry->refusal.row;
    const char *result = wsdbg_refused_result_name(row->result);
    char more[80] = "";
    if (calls > 1)
        snprintf(more, sizeof more, "; %" PRIu64 " such calls, %zu different", calls, different);
    wsdbg_watch_say(watch, "refused: %s: %s: %s (%s: error %d%s%s%s)", wsdbg_refused_name(words->cause), words->subject,
                    words->sentence, row->call, row->result, result ? ", " : "", result ? result : "", more);
    if (words->fix[0])
        wsdbg_watch_say(watch, "Fix: %s", words->fix);
}

/* The entry of a refusal, brought up to date; a new one is explained, while its image can be read.  NULL = out of
 * memory. */
static struct wsdbg_refusal_said *find(struct wsdbg_refusals_said *said, const struct wsdbg_watch *watch,
                                       const struct wsdbg_refusal *refusal)
{
    struct wsdbg_holds holds;
    for (size_t i = 0; i < said->count; i++)
        if (said->said[i].refusal.process_id == refusal->process_id &&
            said->said[i].refusal.number == refusal->number) {
            said->said[i].refusal.row.times = refusal->row.times;
            return &said->said[i];
        }
    if (!wsdbg_grow((void **)&said->said, &said->capacity, said->count + 1, sizeof *said->said))
        return NULL;
    struct wsdbg_refusal_said *entry = &said->said[said->count++];
    *entry = (struct wsdbg_refusal_said){.refusal = *refusal, .held = refusal->row.kind != WSDBG_REFUSAL_LAUNCH};
    wsdbg_refused_explain(refusal, read_holds(watch, refusal, &holds) ? &holds : NULL, &entry->words);
    if (!entry->held)
        say(watch, entry, 1, 1);
    return entry;
}

static void keep(struct wsdbg_refusals_said *said, const struct wsdbg_watch *watch, struct wsdbg_refusal_said *entry)
{
    if (!watch->store || said->failed || entry->times == entry->refusal.row.times)
        return;
    struct wsdbg_error *error = wsdbg_store_refusal(watch->store, &entry->refusal, &entry->words);
    entry->times = entry->refusal.row.times;
    said->failed = error != NULL;
    if (error)
        wsdbg_watch_say(watch, "refusals are not stored from here on: %s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
}

/* ---- questions ---- */

static bool is_same_explanation(const struct wsdbg_refusal_said *a, const struct wsdbg_refusal_said *b)
{
    return a->words.cause == b->words.cause && strcmp(a->words.sentence, b->words.sentence) == 0;
}

/* Whether the launch was one of the kernel that was asked about, or found no code in its module. */
static bool is_about(const struct wsdbg_refusal_said *question, const struct wsdbg_refusal_said *launch)
{
    const struct wsdbg_refusal_row *asked = &question->refusal.row, *launched = &launch->refusal.row;
    const bool same_module = asked->module != WSDBG_UNKNOWN32 && asked->module == launched->module;
    if (launched->kind != WSDBG_REFUSAL_LAUNCH || launch->refusal.process_id != question->refusal.process_id)
        return false;
    return (asked->handle && asked->handle == launched->handle) ||
           (same_module && asked->name[0] && strcmp(asked->name, launched->name) == 0) ||
           (same_module && wsdbg_refused_is_about_code(launched->result));
}

static bool is_launch_refused(const struct wsdbg_refusals_said *said, const struct wsdbg_refusal_said *question)
{
    for (size_t i = 0; i < said->count; i++)
        if (is_about(question, &said->said[i]))
            return true;
    return false;
}

static bool is_explained(const struct wsdbg_refusals_said *said, const struct wsdbg_refusal_said *question)
{
    for (size_t i = 0; i < said->count; i++)
        if (!said->said[i].held && is_same_explanation(question, &said->said[i]))
            return true;
    return false;
}

static bool is_due(const struct wsdbg_refusals_said *said, const struct wsdbg_refusal_said *entry, bool all)
{
    const struct wsdbg_refusal_row *row = &entry->refusal.row;
    return entry->held &&
           ((all && !wsdbg_refused_is_inventory(row->call, row->name)) || is_launch_refused(said, entry));
}

/* Says a question for all that have the same explanation and are due with it. */
static void say_folded(struct wsdbg_refusals_said *said, const struct wsdbg_watch *watch, size_t first, bool all)
{
    const bool explained = is_explained(said, &said->said[first]);
    uint64_t calls = 0;
    size_t different = 0;
    for (size_t i = first; i < said->count; i++) {
        struct wsdbg_refusal_said *entry = &said->said[i];
        if (!is_due(said, entry, all) || !is_same_explanation(entry, &said->said[first]))
            continue;
        entry->held = false;
        calls += entry->refusal.row.times;
        different++;
    }
    if (!explained)
        say(watch, &said->said[first], calls, different);
}

/* All questions that are held back, or those about kernels whose launch was refused.  What has been explained is not
 * explained again. */
static void say_questions(struct wsdbg_refusals_said *said, const struct wsdbg_watch *watch, bool all)
{
    for (size_t i = 0; i < said->count; i++)
        if (is_due(said, &said->said[i], all))
            say_folded(said, watch, i, all);
}

static bool has_launch(const struct wsdbg_refusals_said *said)
{
    bool has = false;
    for (size_t i = 0; i < said->count; i++)
        has |= said->said[i].refusal.row.kind == WSDBG_REFUSAL_LAUNCH;
    return has;
}

static void say_left_out(struct wsdbg_refusals_said *said, const struct wsdbg_watch *watch)
{
    if (said->left_out > 0 && !said->left_out_said)
        wsdbg_watch_say(watch, "the driver refused more different calls than there is room to tell of");
    said->left_out_said |= said->left_out > 0;
}

void wsdbg_refusals_say(struct wsdbg_refusals_said *said, const struct wsdbg_watch *watch,
                        const struct wsdbg_snapshot *snapshot, bool last)
{
    for (size_t i = 0; i < snapshot->refusal_count; i++) {
        struct wsdbg_refusal_said *entry = find(said, watch, &snapshot->refusals[i]);
        if (entry && (last || entry->times == 0))
            keep(said, watch, entry);
    }
    say_questions(said, watch, false);
    said->left_out = snapshot->refusals_left_out;
    if (has_launch(said))
        say_left_out(said, watch);
}

void wsdbg_refusals_say_held(struct wsdbg_refusals_said *said, const struct wsdbg_watch *watch)
{
    say_questions(said, watch, true);
    say_left_out(said, watch);
}

void wsdbg_refusals_said_deinit(struct wsdbg_refusals_said *said)
{
    free(said->said);
}
