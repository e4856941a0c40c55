/* export.h - a stored session as files for other programs: Perfetto's trace viewer, Graphviz, a web browser.
 * Read by: cmd.  Everything comes from the database alone. */
#ifndef WSDBG_STORE_EXPORT_H
#define WSDBG_STORE_EXPORT_H

#include "base/progress.h"
#include "store/store.h"

/* The shown picture's histories as trace events (docs/trace.schema.json), one CTA in memory at a time.
 * `progress` counts warps; NULL is fine.  Whether `out` took it all is the caller's to check. */
struct wsdbg_error *wsdbg_export_perfetto(struct wsdbg_store *store, struct wsdbg_progress *progress, FILE *out);
/* The folded wait-for graph (store/graph.h) in Graphviz' language. */
struct wsdbg_error *wsdbg_export_dot(struct wsdbg_store *store, FILE *out);
/* The report as one page without scripts or outside resources; well-formed XML as well as HTML. */
struct wsdbg_error *wsdbg_report_html(struct wsdbg_store *store, FILE *out);

#endif
