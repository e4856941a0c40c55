/* report_sites.c - the report's launch sites: where in the program kernels were launched and NCCL was called.
 * Reads a snapshot, then a report; writes text and JSON. */
#include "store/report_internal.h"

#include <stdlib.h>
#include <string.h>

#include "model/collective.h"
#include "model/launch_site.h"
#include "store/json_rows.h"

/* ---- gathering ---- */

static void copy_name(const struct wsdbg_snapshot *s, uint32_t function, char out[256])
{
    snprintf(out, 256, "%s", function < s->function_count ? s->functions[function].name : "");
}

static void gather_site(const struct wsdbg_snapshot *s, const struct wsdbg_launch_site *site,
                        struct wsdbg_report_launch_site *out)
{
    *out = (struct wsdbg_report_launch_site){.row = *site};
    wsdbg_launch_site_place(s, site, out->place, sizeof out->place);
    copy_name(s, site->function, out->kernel);
    copy_name(s, site->before, out->before);
    copy_name(s, site->after, out->after);
    if (site->collective < s->collective_count)
        wsdbg_collective_text(&s->collectives[site->collective].row, out->call);
    if (site->launch < s->launch_count)
        out->sequence = wsdbg_known_u64(s->launches[site->launch].sequence);
}

bool wsdbg_report_gather_sites(const struct wsdbg_snapshot *s, struct wsdbg_report *r)
{
    r->launch_sites = calloc(s->launch_site_count + 1, sizeof *r->launch_sites);
    r->site_frames = calloc(s->site_frame_count + 1, sizeof *r->site_frames);
    if (!r->launch_sites || !r->site_frames)
        return false;
    if (s->site_frame_count > 0)
        memcpy(r->site_frames, s->site_frames, s->site_frame_count * sizeof *r->site_frames);
    r->site_frame_count = s->site_frame_count;
    for (size_t i = 0; i < s->launch_site_count; i++)
        gather_site(s, &s->launch_sites[i], &r->launch_sites[r->launch_site_count++]);
    for (uint32_t i = 0; i < r->grid_count && i < s->grid_count; i++)
        wsdbg_grid_site_text(s, i, r->grids[i].launched_at, sizeof r->grids[i].launched_at);
    return true;
}

/* ---- JSON ---- */

static json_t *site_json(const struct wsdbg_report *r, const struct wsdbg_report_launch_site *site)
{
    const struct wsdbg_launch_site *l = &site->row;
    json_t *row = json_object(), *frames = json_array();
    json_object_set_new(row, "process_id", json_integer(l->process_id));
    json_object_set_new(row, "thread_id", wsdbg_json_number_or_null(l->thread_id != 0, l->thread_id));
    json_object_set_new(row, "kind", json_string(wsdbg_launch_site_kind_name(l->kind)));
    json_object_set_new(row, "kernel", site->kernel[0] ? wsdbg_json_kernel(site->kernel) : json_null());
    json_object_set_new(row, "grid", wsdbg_json_number_or_null(l->grid < r->grid_count, l->grid));
    json_object_set_new(row, "launch", wsdbg_json_u64(site->sequence));
    json_object_set_new(row, "launches", wsdbg_json_number_or_null(l->count != 0, l->count));
    json_object_set_new(row, "call", wsdbg_json_text(site->call));
    json_object_set_new(row, "after", site->before[0] ? wsdbg_json_kernel(site->before) : json_null());
    json_object_set_new(row, "before", site->after[0] ? wsdbg_json_kernel(site->after) : json_null());
    json_object_set_new(row, "time_ns", wsdbg_json_number_or_null(l->time_ns != 0, l->time_ns));
    json_object_set_new(row, "place", strcmp(site->place, "?") == 0 ? json_null() : wsdbg_json_text(site->place));
    json_object_set_new(row, "ends", wsdbg_json_text(l->end));
    for (uint32_t i = 0; i < l->frame_count && l->frame_first + i < r->site_frame_count; i++)
        json_array_append_new(frames, wsdbg_json_frame(&r->site_frames[l->frame_first + i]));
    json_object_set_new(row, "frames", frames);
    return row;
}

json_t *wsdbg_json_launch_sites(const struct wsdbg_report *r)
{
    json_t *array = json_array();
    for (size_t i = 0; i < r->launch_site_count; i++)
        json_array_append_new(array, site_json(r, &r->launch_sites[i]));
    return array;
}
