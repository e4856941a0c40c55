/* report_internal.h - private to the room: what the files of the report share. */
#ifndef WSDBG_STORE_REPORT_INTERNAL_H
#define WSDBG_STORE_REPORT_INTERNAL_H

#include "store/load.h"
#include "store/report.h"

/* Lines of a screen given to warps and to barriers. */
#define WSDBG_REPORT_WARP_LINES 8
#define WSDBG_REPORT_BARRIER_LINES 6

/* The place of one of the report's sites, "" of any other: found once, for what stands there to share. */
void wsdbg_report_place(const struct wsdbg_report *report, uint32_t site, char out[WSDBG_PLACE_BYTES]);

/* Fills warps, rows, barriers, barrier_rows; needs the sites. */
struct wsdbg_error *wsdbg_report_fold_warps(const struct wsdbg_snapshot *snapshot, struct wsdbg_report *report);
struct wsdbg_error *wsdbg_report_fold_barriers(const struct wsdbg_snapshot *snapshot, struct wsdbg_report *report);

/* How a finding is headed: "PARITY_WRONG (likely)" (diagnose/finding.h). */
void wsdbg_report_title(const struct wsdbg_report *report, size_t finding, char out[WSDBG_TITLE_BYTES]);

/* Fills the finding's lines from its evidence.  False: no memory. */
bool wsdbg_report_fold_evidence(struct wsdbg_report_finding *finding);

/* Fills processes; needs the session's host name.  False: no memory. */
bool wsdbg_report_gather_processes(const struct wsdbg_snapshot *snapshot, const struct wsdbg_diagnosis *diagnosis,
                                   struct wsdbg_report *report);
/* Indexes of the processes as a list shows them: whose fault it is first, then who only waits for these, then the
 * others by rank.  The caller frees; NULL = out of memory. */
uint32_t *wsdbg_report_process_order(const struct wsdbg_report *report);
/* "rank 1" where one is known; "" for index WSDBG_NONE, and where no rank is. */
const char *wsdbg_report_rank(const struct wsdbg_report *report, uint32_t process);

/* Fills refusals. */
struct wsdbg_error *wsdbg_report_load_refusals(struct wsdbg_store *store, struct wsdbg_report *report);

/* Fills schedules. */
struct wsdbg_error *wsdbg_report_load_schedules(struct wsdbg_store *store, struct wsdbg_report *report);

/* The report of a stored session that is loaded already. */
struct wsdbg_error *wsdbg_report_of_loaded(struct wsdbg_store *store, const struct wsdbg_loaded *loaded,
                                           struct wsdbg_report *out);

/* Fills host_processes, stacks and frames.  False: no memory. */
bool wsdbg_report_gather_host(const struct wsdbg_snapshot *snapshot, struct wsdbg_report *report);
/* Fills launch_sites and site_frames, and of each grid launched_at.  False: no memory. */
bool wsdbg_report_gather_sites(const struct wsdbg_snapshot *snapshot, struct wsdbg_report *report);
/* "process 17", "rank 1 of 2 (…, process 17)". */
void wsdbg_report_process_words(const struct wsdbg_report *report, uint32_t process_id, char out[WSDBG_PROCESS_BYTES]);
/* The thread in a few words, for which there is room for WSDBG_HOST_THREAD_TEXT_BYTES and more, and its stack in a
 * line. */
void wsdbg_report_stack_words(const struct wsdbg_report *report, const struct wsdbg_report_stack *stack, char *thread,
                              size_t thread_bytes, char *text, size_t text_bytes);
/* The block of the text report, of blocked threads and others.  heading: colour or NULL. */
void wsdbg_report_host_lines(const struct wsdbg_report *report, const char *heading, const struct wsdbg_sheet *out);

/* Fills overlaps, from a store that was opened for reading; needs the grids. */
struct wsdbg_error *wsdbg_report_load_overlaps(struct wsdbg_store *store, struct wsdbg_report *report);
/* "0.87 (0.57-0.99), waited 498 ns, a round 573 ns; 16 stages of 16" */
void wsdbg_report_overlap_text(const struct wsdbg_report_overlap *overlap, char *out, size_t bytes);
/* "consumer 0", "role 3", "-" where none is known. */
void wsdbg_report_overlap_role(const struct wsdbg_report_overlap *overlap, char *out, size_t bytes);
/* What the rows are, and what is to be said of all of them, "" = nothing. */
const char *wsdbg_report_overlap_caption(void);
const char *wsdbg_report_overlap_note(const struct wsdbg_report *report);

/* Things that were not seen, of each kind: *count = how many; returns what they are, "events or slots were torn". */
enum { WSDBG_REPORT_UNSEEN_KINDS = 3 };
const char *wsdbg_report_unseen_words(const struct wsdbg_report *report, unsigned kind, uint64_t *count);

/* Whether CTAs of a running grid are known not to be on the GPU: the machine's own state has all that are; a record has
 * those that wrote something. */
bool wsdbg_report_lacks_ctas(const struct wsdbg_report *report, const struct wsdbg_report_grid *grid);

/* Whether somebody waited for a stall; a core dump is only read. */
bool wsdbg_report_was_watched(const struct wsdbg_report *report);
/* "ring, mapped": what the evidence was, and which ring it had where that is not the default; "?" = not known. */
void wsdbg_report_evidence_used(const struct wsdbg_report *report, char *out, size_t bytes);

/* "2.1 s", "85 ms", "12 us" */
void wsdbg_duration_text(uint64_t duration_ns, char *out, size_t bytes);

/* Formatted, escaped; broken between words at 120 columns, the rest under it; coloured as a whole.  colour = SGR code,
 * NULL = none. */
void wsdbg_report_line(const struct wsdbg_sheet *out, const char *colour, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A text broken between words at 116 columns, `first` before the first line, spaces before the others. */
void wsdbg_report_wrap(const struct wsdbg_sheet *out, const char *colour, const char *first, const char *text);

/* What a group's warps wait for, where and for how long: "empty[0] parity 1, iteration 19, gemm.cu:132, 2.0 s".  The
 * caller frees; NULL = out of memory. */
char *wsdbg_report_detail_text(const struct wsdbg_report_warps *warps);
/* A line for each part of a warp whose lanes stand at different places. */
void wsdbg_report_part_lines(const struct wsdbg_report *report, const struct wsdbg_report_warps *warps,
                             const struct wsdbg_sheet *out);
/* The two blocks of grid `index`: its warps' lines, its barriers' lines. */
void wsdbg_report_warp_lines(const struct wsdbg_report *report, uint32_t index, const struct wsdbg_sheet *out);
void wsdbg_report_barrier_lines(const struct wsdbg_report *report, uint32_t index, const struct wsdbg_sheet *out);

#endif
