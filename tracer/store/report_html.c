/* report_html.c - the report as one page: verdict, fix, evidence, pictures, tables.
 *
 * Reads a session database.  Writes XHTML5: well-formed XML that browsers read as HTML, without a script or any
 * resource outside itself.
 */
#include "store/export.h"

#include <inttypes.h>

#include "store/html_internal.h"
#include "store/quote.h"
#include "store/report_internal.h"

struct page {
    struct wsdbg_store *store;
    const struct wsdbg_loaded *loaded;
    const struct wsdbg_report *report;
    FILE *out;
};

static void put_section(FILE *out, const char *id, const char *title)
{
    fprintf(out, "<h2 id=\"%s\">%s</h2>\n", id, title);
}

/* "HANG", and how grave it looks. */
static const char *verdict_word(const struct wsdbg_report *r, const char **style)
{
    *style = r->hang || r->fault_count > 0 ? "bad" : r->diagnosed ? "note" : "good";
    if (r->hang)
        return "HANG";
    if (r->fault_count > 0)
        return "FAULT";
    if (r->diagnosed)
        return "STALL";
    /* A hang whose diagnosis is not stored is none of "no stall". */
    if (r->ended_hang)
        *style = "bad";
    return r->ended_hang ? "HANG" : "NO STALL";
}

static const char *headline(const struct wsdbg_report *r)
{
    if (r->finding_count > 0 && r->findings[0].cause == WSDBG_CAUSE_UNKNOWN)
        return "Cause not known (UNKNOWN)";
    if (r->finding_count > 0)
        return wsdbg_cause_name(r->findings[0].cause);
    if (r->diagnosed || r->fault_count > 0)
        return "No cause found";
    if (r->ended_hang)
        return "A hang was found, but no diagnosis is stored";
    return r->ended ? "No stall seen" : "No stall seen so far: the run goes on, or wsdbg was killed";
}

static void put_head(const struct page *p)
{
    const char *style;
    const char *word = verdict_word(p->report, &style);
    fputs("<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta "
          "charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>",
          p->out);
    wsdbg_print_xml(p->out, "%s: %s - wsdbg", word, headline(p->report));
    fprintf(p->out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n", wsdbg_report_css);
}

static void put_verdict(const struct page *p)
{
    const struct wsdbg_report *r = p->report;
    const char *style;
    const char *word = verdict_word(r, &style);
    fprintf(p->out, "<header>\n<span class=\"badge %s\">%s</span>", style, word);
    if (r->finding_count > 0)
        fprintf(p->out, "<span class=\"sure\">%s</span>", wsdbg_confidence_name(r->findings[0].confidence));
    fprintf(p->out, "\n<h1>%s</h1>\n", headline(r));
    if (r->finding_count > 0 && wsdbg_report_rank(r, r->findings[0].process)[0]) {
        fputs("<p class=\"cause\">", p->out);
        wsdbg_put_xml(p->out, r->processes[r->findings[0].process].name);
        fputs("</p>\n", p->out);
    }
    for (size_t i = 0; i < r->fault_count; i++) {
        fputs("<p class=\"cause\">", p->out);
        wsdbg_put_xml(p->out, r->faults[i].sentence);
        fputs("</p>\n", p->out);
    }
    if (r->finding_count > 0) {
        fputs("<p class=\"cause\">", p->out);
        wsdbg_put_xml(p->out, r->findings[0].sentence);
        fputs("</p>\n", p->out);
    }
    if (r->finding_count > 0 && r->findings[0].fix[0]) {
        fputs("<div class=\"fix\"><p><strong>Fix:</strong> ", p->out);
        wsdbg_put_xml(p->out, r->findings[0].fix);
        fputs("</p></div>\n", p->out);
    }
    fputs("</header>\n", p->out);
}

static void put_evidence(const struct page *p)
{
    const struct wsdbg_report *r = p->report;
    char text[WSDBG_PLACE_BYTES + 400];
    if (r->finding_count == 0 || r->findings[0].line_count == 0)
        return;
    put_section(p->out, "evidence", "Evidence");
    fputs("<ul>\n", p->out);
    for (size_t i = 0; i < r->findings[0].line_count; i++) {
        fputs("<li>", p->out);
        wsdbg_report_evidence_line_text(&r->findings[0].lines[i], text, sizeof text);
        wsdbg_put_xml(p->out, text);
        fputs("</li>\n", p->out);
    }
    fputs("</ul>\n", p->out);
}

static void put_other_findings(const struct page *p)
{
    const struct wsdbg_report *r = p->report;
    if (r->finding_count < 2)
        return;
    put_section(p->out, "also", "Also found");
    fputs("<ul>\n", p->out);
    for (size_t i = 1; i < r->finding_count; i++) {
        const char *rank = wsdbg_report_rank(r, r->findings[i].process);
        char title[WSDBG_TITLE_BYTES];
        wsdbg_report_title(r, i, title);
        fprintf(p->out, "<li>%s%s<strong>%s</strong>: ", rank, rank[0] ? ": " : "", title);
        wsdbg_put_xml(p->out, r->findings[i].sentence);
        fputs("</li>\n", p->out);
    }
    fputs("</ul>\n", p->out);
}

static struct wsdbg_error *put_graph(const struct page *p)
{
    struct wsdbg_stored_graph graph;
    struct wsdbg_error *error =
        wsdbg_graph_make(&p->loaded->snapshot, p->loaded->diagnosed ? &p->loaded->diagnosis : NULL, &graph);
    if (error)
        return error;
    if (graph.link_count > 0) {
        put_section(p->out, "graph", "Who waits for whom");
        fprintf(p->out, "<p class=\"soft\">%s Equal warps of many CTAs are one box.</p>\n",
                p->loaded->diagnosed ? "Dashed: who could end a wait, as far as is known. Red: a circle of waits."
                                     : "Without a verdict it is not known who could end a wait.");
        fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Wait-for graph\">\n", p->out);
        wsdbg_svg_graph(&graph, p->out);
        fputs("</div>\n", p->out);
    }
    wsdbg_graph_deinit(&graph);
    return NULL;
}

/* The verdict's example, else the first CTA of a grid that runs, else the first one. */
static uint32_t example_cta(const struct wsdbg_loaded *loaded)
{
    const struct wsdbg_snapshot *s = &loaded->snapshot;
    if (loaded->diagnosis.finding_count > 0 && loaded->diagnosis.findings[0].cta < s->cta_count)
        return loaded->diagnosis.findings[0].cta;
    for (size_t i = 0; i < s->grid_count; i++)
        if (s->grids[i].running && s->grids[i].cta_count > 0)
            return s->grids[i].cta_first;
    return 0;
}

static struct wsdbg_error *put_timeline(const struct page *p)
{
    bool drawn = false;
    if (p->loaded->snapshot.cta_count == 0)
        return NULL;
    put_section(p->out, "timeline", "The last events");
    struct wsdbg_error *error = wsdbg_svg_timeline(p->store, p->loaded, example_cta(p->loaded), p->out, &drawn);
    if (!error && !drawn)
        fputs("<p class=\"soft\">No histories are stored.</p>\n", p->out);
    return error;
}

static void put_tables(const struct page *p)
{
    const struct wsdbg_report *r = p->report;
    if (r->has_ranks)
        put_section(p->out, "ranks", "Ranks");
    wsdbg_html_processes(r, p->out);
    if (r->warps_count > 0)
        put_section(p->out, "warps", "Warps");
    wsdbg_html_warps(r, p->out);
    if (r->barriers_count > 0)
        put_section(p->out, "barriers", "Barriers");
    wsdbg_html_barriers(r, p->out);
    if (r->grid_count > 0)
        put_section(p->out, "launches", "Launches");
    wsdbg_html_grids(r, p->out);
    wsdbg_html_launch_sites(r, p->out);
    if (r->overlap_count > 0)
        put_section(p->out, "overlap", "wgmma in flight");
    wsdbg_html_overlaps(r, p->out);
    if (r->thread_count > 0)
        put_section(p->out, "threads", "Host threads");
    wsdbg_html_threads(r, p->out);
    if (r->host_process_count > 0)
        put_section(p->out, "stacks", "Host stacks");
    wsdbg_html_stacks(r, p->out);
    put_section(p->out, "session", "Session");
    wsdbg_html_session(r, p->out);
}

static void put_unseen(const struct page *p)
{
    const struct wsdbg_report *r = p->report;
    if (r->note_count + r->torn_events + r->foreign_slots + r->lost_rows == 0)
        return;
    put_section(p->out, "unseen", "Not seen");
    fputs("<ul>\n", p->out);
    for (size_t i = 0; i < r->note_count; i++) {
        fputs("<li>", p->out);
        wsdbg_put_xml(p->out, r->notes[i]);
        fputs("</li>\n", p->out);
    }
    for (unsigned kind = 0; kind < WSDBG_REPORT_UNSEEN_KINDS; kind++) {
        uint64_t count;
        const char *words = wsdbg_report_unseen_words(r, kind, &count);
        if (count)
            fprintf(p->out, "<li>%" PRIu64 " %s</li>\n", count, words);
    }
    fputs("</ul>\n", p->out);
}

static struct wsdbg_error *put_page(const struct page *p)
{
    put_head(p);
    put_verdict(p);
    put_evidence(p);
    struct wsdbg_error *error = put_graph(p);
    if (!error)
        error = put_timeline(p);
    put_other_findings(p);
    put_tables(p);
    put_unseen(p);
    fputs("<footer>? stands for what is not known. Made by wsdbg report --html.</footer>\n</main>\n</body>\n</html>\n",
          p->out);
    return error;
}

struct wsdbg_error *wsdbg_report_html(struct wsdbg_store *store, FILE *out)
{
    struct wsdbg_loaded loaded;
    struct wsdbg_report report;
    struct wsdbg_error *error = wsdbg_store_load(store, false, &loaded);
    if (error)
        return error;
    error = wsdbg_report_of_loaded(store, &loaded, &report);
    if (!error) {
        const struct page page = {store, &loaded, &report, out};
        error = put_page(&page);
        wsdbg_report_deinit(&report);
    }
    wsdbg_loaded_deinit(&loaded);
    return error;
}
