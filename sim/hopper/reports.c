/* reports.c - what a kernel did that hardware lets pass; see gpu.h.
 *
 * Written by: the executors and engines that see it.  Each kind once a place.
 */
#include "hopper/device.h"
#include "hopper/gpu.h"

#include <string.h>

static bool is_known(const struct hopper_reports *reports, const struct wsdbg_gpu_report *report)
{
    for (size_t i = 0; i < reports->count; i++) {
        const struct wsdbg_gpu_report *known = &reports->rows[i];
        if (known->kind == report->kind && known->instruction == report->instruction && known->offset == report->offset)
            return true;
    }
    return false;
}

void hopper_report(const struct hopper_cta *cta, const struct hopper_warp *warp, enum wsdbg_gpu_report_kind kind,
                   uint32_t instruction, uint32_t offset)
{
    struct hopper_reports *const reports = &cta->grid->gpu->reports;
    struct wsdbg_gpu_report report = {.kind = kind,
                                      .grid_id = cta->grid->id,
                                      .warp = warp ? warp->index : WSDBG_PTX_NONE,
                                      .instruction = instruction,
                                      .offset = offset};
    memcpy(report.cta, cta->index, sizeof report.cta);
    if (reports->count < HOPPER_REPORTS && !is_known(reports, &report))
        reports->rows[reports->count++] = report;
}

size_t wsdbg_gpu_reports(struct wsdbg_gpu *gpu, const struct wsdbg_gpu_report **rows)
{
    const struct hopper_reports *const reports = &gpu->reports;
    *rows = reports->rows;
    return reports->count;
}
