/* html_internal.h - private to the room: what the files of the HTML report share.  All of it is well-formed XML. */
#ifndef WSDBG_STORE_HTML_INTERNAL_H
#define WSDBG_STORE_HTML_INTERNAL_H

#include "store/graph.h"
#include "store/load.h"

/* The style sheet, report.css. */
extern const char wsdbg_report_css[];

/* "gemm<…>", "?" */
void wsdbg_html_kernel(const char *symbol, char *out, size_t bytes);

/* One table each, with its caption; nothing where there are no rows. */
void wsdbg_html_grids(const struct wsdbg_report *report, FILE *out);
void wsdbg_html_warps(const struct wsdbg_report *report, FILE *out);
void wsdbg_html_barriers(const struct wsdbg_report *report, FILE *out);
void wsdbg_html_overlaps(const struct wsdbg_report *report, FILE *out);
void wsdbg_html_processes(const struct wsdbg_report *report, FILE *out);
void wsdbg_html_threads(const struct wsdbg_report *report, FILE *out);
void wsdbg_html_launch_sites(const struct wsdbg_report *report, FILE *out);
void wsdbg_html_stacks(const struct wsdbg_report *report, FILE *out);
void wsdbg_html_session(const struct wsdbg_report *report, FILE *out);

/* The graph in three columns: who waits, on what, who could end it. */
void wsdbg_svg_graph(const struct wsdbg_stored_graph *graph, FILE *out);

/* A few words on what the timeline shows and leaves out, and the timeline of one CTA; *drawn = false where it has no
 * events. */
struct wsdbg_error *wsdbg_svg_timeline(struct wsdbg_store *store, const struct wsdbg_loaded *loaded, uint32_t cta,
                                       FILE *out, bool *drawn);

#endif
