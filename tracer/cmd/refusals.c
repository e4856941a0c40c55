/* refusals.c - see refusals.h.  Reads: the snapshot's refusals, images in the spool.  Writes: two lines each, to the
 * listener or stderr and the session's log; the table refusal. */
#include "cmd/refusals.h"

#include <inttypes.h>

#include "base/grow.h"
#include "cmd/sources.h"
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

static void say(const struct wsdbg_watch *watch, const struct wsdbg_refusal *refusal,
                const struct wsdbg_refused_words *words)
{
    const char *result = wsdbg_refused_result_name(refusal->row.result);
    wsdbg_watch_say(watch, "refused: %s: %s: %s (%s: error %d%s%s)", wsdbg_refused_name(words->cause), words->subject,
                    words->sentence, refusal->row.call, refusal->row.result, result ? ", " : "", result ? result : "");
    if (words->fix[0])
        wsdbg_watch_say(watch, "Fix: %s", words->fix);
}

/* The entry of a refusal; a new one is explained and said.  NULL = out of memory. */
static struct wsdbg_refusal_said *find(struct wsdbg_refusals_said *said, const struct wsdbg_watch *watch,
                                       const struct wsdbg_refusal *refusal)
{
    struct wsdbg_holds holds;
    for (size_t i = 0; i < said->count; i++)
        if (said->said[i].process_id == refusal->process_id && said->said[i].number == refusal->number)
            return &said->said[i];
    if (!wsdbg_grow((void **)&said->said, &said->capacity, said->count + 1, sizeof *said->said))
        return NULL;
    struct wsdbg_refusal_said *entry = &said->said[said->count++];
    *entry = (struct wsdbg_refusal_said){.process_id = refusal->process_id, .number = refusal->number};
    wsdbg_refused_explain(refusal, read_holds(watch, refusal, &holds) ? &holds : NULL, &entry->words);
    say(watch, refusal, &entry->words);
    return entry;
}

static void keep(struct wsdbg_refusals_said *said, const struct wsdbg_watch *watch, const struct wsdbg_refusal *refusal,
                 struct wsdbg_refusal_said *entry)
{
    if (!watch->store || said->failed || entry->times == refusal->row.times)
        return;
    struct wsdbg_error *error = wsdbg_store_refusal(watch->store, refusal, &entry->words);
    entry->times = refusal->row.times;
    said->failed = error != NULL;
    if (error)
        wsdbg_watch_say(watch, "refusals are not stored from here on: %s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
}

void wsdbg_refusals_say(struct wsdbg_refusals_said *said, const struct wsdbg_watch *watch,
                        const struct wsdbg_snapshot *snapshot, bool last)
{
    for (size_t i = 0; i < snapshot->refusal_count; i++) {
        struct wsdbg_refusal_said *entry = find(said, watch, &snapshot->refusals[i]);
        if (entry && (last || entry->times == 0))
            keep(said, watch, &snapshot->refusals[i], entry);
    }
    if (snapshot->refusals_left_out > 0 && said->left_out == 0)
        wsdbg_watch_say(watch, "the driver refused more than the %d different calls that are told of here",
                        WSDBG_REFUSAL_ROWS);
    said->left_out = snapshot->refusals_left_out;
}

void wsdbg_refusals_said_deinit(struct wsdbg_refusals_said *said)
{
    free(said->said);
}
