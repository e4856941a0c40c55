/* report_json.h - the parts of a report that report_json.c puts into one JSON object.  Unknown is null, never 0. */
#ifndef WSDBG_STORE_REPORT_JSON_H
#define WSDBG_STORE_REPORT_JSON_H

#include <jansson.h>

#include "store/report.h"

json_t *wsdbg_report_json_role(const char *name, struct wsdbg_optional_u32 role);
json_t *wsdbg_report_json_launch(const struct wsdbg_report_launch *l);
/* Arrays, as docs/report.schema.json names them. */
json_t *wsdbg_report_json_grids(const struct wsdbg_report *r);
json_t *wsdbg_report_json_faults(const struct wsdbg_report *r);
json_t *wsdbg_report_json_overlaps(const struct wsdbg_report *r);
json_t *wsdbg_report_json_warps(const struct wsdbg_report *r);
json_t *wsdbg_report_json_barriers(const struct wsdbg_report *r);
json_t *wsdbg_report_json_sites(const struct wsdbg_report *r);
json_t *wsdbg_report_json_accesses(const struct wsdbg_report *r);
json_t *wsdbg_report_json_looks(const struct wsdbg_report *r);

#endif
