/* export_dot.c - the folded wait-for graph for Graphviz: boxes are warps, ellipses barriers; a solid arrow means
 * "waits on", a dashed one "could be ended by"; the cycle is red.  Reads a session database, writes DOT. */
#include "store/export.h"

#include <stdio.h>
#include <string.h>

#include "store/graph.h"
#include "store/load.h"
#include "store/quote.h"

#define CYCLE_STYLE ", color=\"#c62828\", fontcolor=\"#c62828\", penwidth=2"

static void put_warps(const struct wsdbg_stored_graph *graph, size_t index, FILE *out)
{
    const struct wsdbg_report_warps *w = &graph->warps[index];
    char role[WSDBG_REPORT_LABEL_BYTES], members[136], ctas[48], label[512];
    wsdbg_report_role_beside_warps(w, role, sizeof role);
    wsdbg_report_members_text(&w->members, members, sizeof members);
    wsdbg_report_cta_text(w->cta_count, w->cta, ctas, sizeof ctas);
    const bool has_role = strcmp(role, "-") != 0;
    snprintf(label, sizeof label, "%s%s%s, %s\n%s%s%s", has_role ? role : "", has_role ? "\n" : "", members, ctas,
             wsdbg_warp_state_name(w->state), w->place[0] ? "\n" : "", w->place);
    fprintf(out, "  warps%zu [shape=box, label=", index);
    wsdbg_put_dot_string(out, label);
    fputs("];\n", out);
}

static void put_barrier(const struct wsdbg_stored_graph *graph, size_t index, FILE *out)
{
    const struct wsdbg_report_barriers *b = &graph->barriers[index];
    char name[256], state[256], ctas[48], label[640];
    wsdbg_report_barrier_text(b, name, sizeof name);
    wsdbg_report_barrier_state_text(b, state, sizeof state);
    wsdbg_report_cta_text(b->cta_count, b->cta, ctas, sizeof ctas);
    snprintf(label, sizeof label, "%s\n%s%s%s", name, ctas, state[0] ? "\n" : "", state);
    fprintf(out, "  barrier%zu [shape=ellipse, label=", index);
    wsdbg_put_dot_string(out, label);
    fputs("];\n", out);
}

/* The wait of link `index`, unless an earlier link has drawn it; red where any link of it is in the cycle. */
static void put_wait(const struct wsdbg_stored_graph *graph, size_t index, FILE *out)
{
    const struct wsdbg_graph_link *link = &graph->links[index];
    bool in_cycle = false;
    char wait[192];
    for (size_t i = 0; i < graph->link_count; i++) {
        const bool same = graph->links[i].waiter == link->waiter && graph->links[i].barrier == link->barrier;
        if (same && i < index)
            return;
        in_cycle = in_cycle || (same && graph->links[i].in_cycle);
    }
    wsdbg_report_wait_text(&graph->warps[link->waiter], wait, sizeof wait);
    fprintf(out, "  warps%u -> barrier%u [label=", link->waiter, link->barrier);
    wsdbg_put_dot_string(out, wait);
    fprintf(out, "%s];\n", in_cycle ? CYCLE_STYLE : "");
}

/* From the barrier to who could end the wait; where the barrier is not known, from the waiter itself.  As above, links
 * with the same two ends are one arrow. */
static void put_waker(const struct wsdbg_stored_graph *graph, size_t index, FILE *out)
{
    const struct wsdbg_graph_link *link = &graph->links[index];
    bool in_cycle = false;
    char label[128];
    for (size_t i = 0; i < graph->link_count; i++) {
        const struct wsdbg_graph_link *other = &graph->links[i];
        const bool same = other->barrier == link->barrier && other->waker == link->waker &&
                          (link->barrier != WSDBG_NONE || other->waiter == link->waiter);
        if (same && i < index)
            return;
        in_cycle = in_cycle || (same && other->in_cycle);
    }
    if (link->waker == WSDBG_NONE)
        fprintf(out, "  nobody%zu [shape=plaintext, label=\"?\\nnobody is known\\nthat could end this wait\"];\n",
                index);
    if (link->barrier == WSDBG_NONE)
        fprintf(out, "  warps%u -> ", link->waiter);
    else
        fprintf(out, "  barrier%u -> ", link->barrier);
    if (link->waker == WSDBG_NONE)
        fprintf(out, "nobody%zu", index);
    else
        fprintf(out, "warps%u", link->waker);
    snprintf(label, sizeof label, "%s%s", link->why ? link->why : "", link->other_cta ? ", in another CTA" : "");
    fputs(" [style=dashed, label=", out);
    wsdbg_put_dot_string(out, label);
    fprintf(out, "%s];\n", in_cycle ? CYCLE_STYLE : "");
}

static void put_graph(const struct wsdbg_stored_graph *graph, const struct wsdbg_loaded *loaded, FILE *out)
{
    const struct wsdbg_diagnosis *d = &loaded->diagnosis;
    fputs("digraph waits {\n  rankdir=LR;\n  node [fontname=\"sans-serif\", fontsize=11];\n"
          "  edge [fontname=\"sans-serif\", fontsize=10];\n  fontname=\"sans-serif\"; labelloc=t;\n  label=",
          out);
    wsdbg_put_dot_string(out, d->finding_count    ? d->findings[0].sentence
                              : graph->warp_count ? "No verdict: who could end a wait is not known."
                                                  : "No warp waits.");
    fputs(";\n", out);
    for (size_t i = 0; i < graph->warp_count; i++)
        put_warps(graph, i, out);
    for (size_t i = 0; i < graph->barrier_count; i++)
        put_barrier(graph, i, out);
    for (size_t i = 0; i < graph->link_count; i++) {
        if (graph->links[i].barrier != WSDBG_NONE)
            put_wait(graph, i, out);
        put_waker(graph, i, out);
    }
    fputs("}\n", out);
}

struct wsdbg_error *wsdbg_export_dot(struct wsdbg_store *store, FILE *out)
{
    struct wsdbg_loaded loaded;
    struct wsdbg_stored_graph graph;
    struct wsdbg_error *error = wsdbg_store_load(store, false, &loaded);
    if (error)
        return error;
    error = wsdbg_graph_make(&loaded.snapshot, loaded.diagnosed ? &loaded.diagnosis : NULL, &graph);
    if (!error) {
        put_graph(&graph, &loaded, out);
        wsdbg_graph_deinit(&graph);
    }
    wsdbg_loaded_deinit(&loaded);
    return error;
}
