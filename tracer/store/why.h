/* why.h - one object of a stored session explained: a warp, some warps, or a barrier.
 *
 * What it is and does, since when, who could end that and what each of those does, hop by hop; which finding concerns
 * it. Everything comes from the database: the shown picture, its findings and edges, and the histories of one cluster.
 */
#ifndef WSDBG_STORE_WHY_H
#define WSDBG_STORE_WHY_H

#include "base/sheet.h"
#include "store/store.h"

struct wsdbg_why_question {
    const char *object; /* as reports name it: "warp 4", "4-7", "rank 1 warp 4", "empty[0]", "mbarrier 0x410", "register
                           pool"; NULL = what the first finding is about */
    const char *cta;    /* "X" or "X,Y,Z"; NULL = any */
};

struct wsdbg_why;

/* Fails with one error that lists what there is where nothing is called so.  `out` is owned by the caller. */
struct wsdbg_error *wsdbg_why_ask(struct wsdbg_store *store, const struct wsdbg_why_question *question,
                                  struct wsdbg_why **out);
void wsdbg_why_destroy(struct wsdbg_why *why);

/* Lines of at most 120 columns, fewer on a narrow terminal; control characters escaped. */
void wsdbg_why_text(const struct wsdbg_why *why, const struct wsdbg_sheet *out);
/* One object as docs/why.schema.json says. */
struct wsdbg_error *wsdbg_why_json(const struct wsdbg_why *why, FILE *out);

#endif
