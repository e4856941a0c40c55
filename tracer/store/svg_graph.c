/* svg_graph.c - the folded wait-for graph as SVG in three columns: who waits, on what, who could end it.
 *
 * A warp that waits and is waited for stands in both outer columns, which keeps every arrow short and going right.
 * Reads a graph, writes SVG; the page's style sheet colours it.
 */
#include "store/html_internal.h"

#include <string.h>

#include "base/text.h"
#include "store/quote.h"

enum { WIDTH = 960, BOX_WIDTH = 250, BOX_HEIGHT = 62, GAP = 18, TOP = 44, LABEL_COLUMNS = 36, COLUMN_MAX = 40 };
enum column { WAITERS, OBJECTS, WAKERS, COLUMNS };

static const int column_x[COLUMNS] = {8, (WIDTH - BOX_WIDTH) / 2, WIDTH - BOX_WIDTH - 8};
static const char *const column_head[COLUMNS] = {"waits", "on", "could be ended by"};

/* What stands in a column, from top to bottom: an index, or WSDBG_NONE for what is not known. */
struct layout {
    uint32_t nodes[COLUMNS][COLUMN_MAX];
    bool in_cycle[COLUMNS][COLUMN_MAX];
    int count[COLUMNS];
    int height;
};

static int place(struct layout *layout, enum column column, uint32_t node, bool in_cycle)
{
    int i = 0;
    while (i < layout->count[column] && layout->nodes[column][i] != node)
        i++;
    if (i == COLUMN_MAX)
        return i - 1;
    if (i == layout->count[column])
        layout->nodes[column][layout->count[column]++] = node;
    layout->in_cycle[column][i] = layout->in_cycle[column][i] || in_cycle;
    return i;
}

static void lay_out(const struct wsdbg_stored_graph *graph, struct layout *layout)
{
    int most = 1;
    *layout = (struct layout){0};
    for (size_t i = 0; i < graph->link_count; i++) {
        const struct wsdbg_graph_link *link = &graph->links[i];
        place(layout, WAITERS, link->waiter, link->in_cycle);
        place(layout, OBJECTS, link->barrier, link->in_cycle);
        place(layout, WAKERS, link->waker, link->in_cycle);
    }
    for (int c = 0; c < COLUMNS; c++)
        most = layout->count[c] > most ? layout->count[c] : most;
    layout->height = TOP + most * (BOX_HEIGHT + GAP);
}

/* Shorter columns stand in the middle of the height. */
static int box_y(const struct layout *layout, enum column column, int row)
{
    const int room = layout->height - TOP - layout->count[column] * (BOX_HEIGHT + GAP);
    return TOP + room / 2 + row * (BOX_HEIGHT + GAP);
}

static void put_line(FILE *out, int x, int y, const char *style, const char *text)
{
    char cut[256];
    snprintf(cut, sizeof cut, "%.*s", (int)(sizeof cut - 5), text);
    wsdbg_text_cut(cut, LABEL_COLUMNS);
    fprintf(out, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, style);
    wsdbg_put_xml(out, cut);
    fputs("</text>", out);
}

struct box_text {
    char lines[3][256];
};

static void warps_text(const struct wsdbg_report_warps *w, bool wakes, struct box_text *out)
{
    char members[136], ctas[48], role[WSDBG_REPORT_LABEL_BYTES];
    wsdbg_report_role_beside_warps(w, role, sizeof role);
    wsdbg_report_members_text(&w->members, members, sizeof members);
    wsdbg_report_cta_text(w->cta_count, w->cta, ctas, sizeof ctas);
    const bool has_role = strcmp(role, "-") != 0;
    snprintf(out->lines[0], sizeof out->lines[0], "%s", has_role ? role : members);
    snprintf(out->lines[1], sizeof out->lines[1], "%s%s%s", has_role ? members : "", has_role ? ", " : "", ctas);
    const char *state = wsdbg_warp_state_name(w->state);
    if (wakes && w->state == WSDBG_WARP_EXITED)
        snprintf(out->lines[2], sizeof out->lines[2], "%s: cannot end it", state);
    else if (wakes && wsdbg_warp_state_waits(w->state))
        snprintf(out->lines[2], sizeof out->lines[2], "%s: waits itself", state);
    else
        snprintf(out->lines[2], sizeof out->lines[2], "%s", state);
}

static void barrier_text(const struct wsdbg_report_barriers *b, struct box_text *out)
{
    char pending[48], expected[48];
    wsdbg_report_barrier_text(b, out->lines[0], sizeof out->lines[0]);
    wsdbg_range_text(b->pending_arrivals, pending, sizeof pending);
    wsdbg_range_text(b->expected_arrivals, expected, sizeof expected);
    char *ctas = out->lines[2];
    if (b->kind == WSDBG_BARRIER_MBARRIER)
        snprintf(out->lines[1], sizeof out->lines[1], "%s of %s arrivals pending", pending, expected);
    else
        wsdbg_report_barrier_state_text(b, out->lines[1], sizeof out->lines[1]);
    /* Kinds without numbers have no line between. */
    if (!out->lines[1][0])
        ctas = out->lines[1];
    wsdbg_report_cta_text(b->cta_count, b->cta, ctas, sizeof out->lines[2]);
}

static void node_text(const struct wsdbg_stored_graph *graph, enum column column, uint32_t node, struct box_text *out)
{
    *out = (struct box_text){0};
    if (node == WSDBG_NONE) {
        snprintf(out->lines[0], sizeof out->lines[0], "?");
        snprintf(out->lines[1], sizeof out->lines[1], column == OBJECTS ? "not known" : "nobody is known");
    } else if (column == OBJECTS) {
        barrier_text(&graph->barriers[node], out);
    } else {
        warps_text(&graph->warps[node], column == WAKERS, out);
    }
}

static void put_box(const struct wsdbg_stored_graph *graph, const struct layout *layout, enum column column, int row,
                    FILE *out)
{
    const int x = column_x[column], y = box_y(layout, column, row);
    struct box_text text;
    node_text(graph, column, layout->nodes[column][row], &text);
    fputs("<g><title>", out);
    wsdbg_print_xml(out, "%s, %s%s%s", text.lines[0], text.lines[1], text.lines[2][0] ? ", " : "", text.lines[2]);
    fprintf(out, "</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\" class=\"node%s\"/>", x, y,
            BOX_WIDTH, BOX_HEIGHT, column == OBJECTS ? BOX_HEIGHT / 2 : 6,
            layout->in_cycle[column][row] ? " cycle" : "");
    const int left = x + (column == OBJECTS ? 26 : 12);
    put_line(out, left, y + 20, "bold", text.lines[0]);
    put_line(out, left, y + 37, "small", text.lines[1]);
    put_line(out, left, y + 53, "small", text.lines[2]);
    fputs("</g>\n", out);
}

static void put_arrow(const struct layout *layout, enum column column, int from, int to, bool in_cycle, FILE *out)
{
    const int x1 = column_x[column] + BOX_WIDTH, x2 = column_x[column + 1], middle = (x1 + x2) / 2;
    const int y1 = box_y(layout, column, from) + BOX_HEIGHT / 2, y2 = box_y(layout, column + 1, to) + BOX_HEIGHT / 2;
    const char *cycle = in_cycle ? " cycle" : "";
    fprintf(out, "<path class=\"edge%s%s\" d=\"M%d %dC%d %d %d %d %d %d\"/>", column == OBJECTS ? " wakes" : "", cycle,
            x1, y1, middle, y1, middle, y2, x2 - 8, y2);
    fprintf(out, "<path class=\"tip%s\" d=\"M%d %dl-9 -5v10z\"/>\n", cycle, x2, y2);
}

/* Links with the same two ends in these columns are one arrow; it is red where one of them is. */
static void put_arrows(const struct wsdbg_stored_graph *graph, struct layout *layout, enum column column, FILE *out)
{
    unsigned char drawn[COLUMN_MAX][COLUMN_MAX] = {{0}};
    for (size_t i = 0; i < graph->link_count; i++) {
        const struct wsdbg_graph_link *link = &graph->links[i];
        const uint32_t ends[COLUMNS] = {link->waiter, link->barrier, link->waker};
        unsigned char *arrow =
            &drawn[place(layout, column, ends[column], false)][place(layout, column + 1, ends[column + 1], false)];
        *arrow = link->in_cycle || *arrow == 2 ? 2 : 1;
    }
    for (int from = 0; from < layout->count[column]; from++)
        for (int to = 0; to < layout->count[column + 1]; to++)
            if (drawn[from][to])
                put_arrow(layout, column, from, to, drawn[from][to] == 2, out);
}

void wsdbg_svg_graph(const struct wsdbg_stored_graph *graph, FILE *out)
{
    struct layout layout;
    lay_out(graph, &layout);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" "
            "aria-labelledby=\"graph-title\">\n<title id=\"graph-title\">Wait-for graph: %d groups of warps wait on %d "
            "barriers</title>\n",
            WIDTH, layout.height, layout.count[WAITERS], layout.count[OBJECTS]);
    for (int c = 0; c < COLUMNS; c++)
        fprintf(out, "<text x=\"%d\" y=\"26\" class=\"head\">%s</text>\n", column_x[c] + 2, column_head[c]);
    put_arrows(graph, &layout, WAITERS, out);
    put_arrows(graph, &layout, OBJECTS, out);
    for (int c = 0; c < COLUMNS; c++)
        for (int row = 0; row < layout.count[c]; row++)
            put_box(graph, &layout, (enum column)c, row, out);
    fputs("</svg>\n", out);
}
