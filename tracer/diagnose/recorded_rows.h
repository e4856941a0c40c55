/* recorded_rows.h - which rows of a snapshot are which of its record; private to recorded_case and recorded_join. */
#ifndef WSDBG_DIAGNOSE_RECORDED_ROWS_H
#define WSDBG_DIAGNOSE_RECORDED_ROWS_H

#include "diagnose/recorded_case.h"

struct wsdbg_recorded {
    const struct wsdbg_snapshot *now;
    struct wsdbg_snapshot then; /* the record's rows, but for its warps: they are put right */
    /* By rows of the record: rows of the snapshot, WSDBG_NONE = the state does not show it. */
    uint32_t *grids, *ctas, *warps, *barriers;
};

struct wsdbg_error *wsdbg_recorded_rows(struct wsdbg_recorded *recorded);
void wsdbg_recorded_rows_free(struct wsdbg_recorded *recorded);

#endif
