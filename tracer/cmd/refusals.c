/* refusals.c - see refusals.h.  Reads: the snapshot's refusals, images in the spool.  Writes: two lines each, to the
 * listener or stderr and the session's log; the table refusal. */
#include "cmd/refusals.h"

#include <inttypes.h>

#include "base/grow.h"
#include "cmd/sources.h"
#include "diagnose/refused.h"

static bool was_said(const struct wsdbg_refusals_said *said, const struct wsdbg_refusal *refusal)
{
    for (size_t i = 0; i < said->count; i++)
        if (said->said[i].process_id == refusal->process_id && said->said[i].number == refusal->number)
            return true;
    return false;
}

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

static void say(const struct wsdbg_watch *watch, const struct wsdbg_refusal *refusal)
{
    struct wsdbg_holds holds;
    struct wsdbg_refused_words words;
    const char *result = wsdbg_refused_result_name(refusal->row.result);
    wsdbg_refused_explain(refusal, read_holds(watch, refusal, &holds) ? &holds : NULL, &words);
    wsdbg_watch_say(watch, "refused: %s: %s: %s (%s: error %d%s%s)", wsdbg_refused_name(words.cause), words.subject,
                    words.sentence, refusal->row.call, refusal->row.result, result ? ", " : "", result ? result : "");
    if (words.fix[0])
        wsdbg_watch_say(watch, "Fix: %s", words.fix);
}

void wsdbg_refusals_say(struct wsdbg_refusals_said *said, const struct wsdbg_watch *watch,
                        const struct wsdbg_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->refusal_count; i++) {
        const struct wsdbg_refusal *refusal = &snapshot->refusals[i];
        if (was_said(said, refusal) ||
            !wsdbg_grow((void **)&said->said, &said->capacity, said->count + 1, sizeof *said->said))
            continue;
        said->said[said->count++] = (struct wsdbg_refusal_key){refusal->process_id, refusal->number};
        say(watch, refusal);
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
