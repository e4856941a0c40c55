/* report.h - the report between gathering and rendering: plain data, all text owned by it.
 *
 * Gathered from memory (the live verdict) or from a stored session; both give the same struct, so both
 * renderings are the same bytes.  Read by: the text and JSON renderers here, cmd, viewer.
 */
#ifndef WSDBG_STORE_REPORT_H
#define WSDBG_STORE_REPORT_H

#include "base/sheet.h"
#include "model/collective.h"
#include "model/fault.h"
#include "diagnose/blame.h"
#include "model/launch_site.h"
#include "model/place.h"
#include "model/process.h"
#include "store/store.h"

#define WSDBG_REPORT_LABEL_BYTES 64

/* A number that is the same in a whole folded group (low == high), or its range. */
struct wsdbg_range {
    bool known; /* false: not known for some member */
    int64_t low, high;
};

/* A set of warp indices or stages, 0..255. */
struct wsdbg_members {
    uint64_t bits[4];
};

/* Warps in one state: `cta_count` CTAs that each have the warps `members` in it. */
struct wsdbg_report_warps {
    uint32_t grid; /* index in report.grids */
    uint32_t cta_count;
    uint32_t cta[3]; /* the first of them */
    struct wsdbg_members members;
    enum wsdbg_warp_state state;
    struct wsdbg_optional_u32 role;
    char role_name[WSDBG_REPORT_LABEL_BYTES];           /* "" = not named */
    char barrier_kind[24];                              /* "" = waits for nothing known */
    char barrier_name[WSDBG_REPORT_LABEL_BYTES];        /* "" = not named */
    enum wsdbg_name_origin role_origin, barrier_origin; /* of these names */
    struct wsdbg_range barrier_id, stage, parity, iteration, line, registers_held, registers_asked, waiting_ns;
    struct wsdbg_range last_event;     /* enum wsdbg_event_kind */
    uint32_t site;                     /* index in report.sites where all stand at it, else WSDBG_NONE */
    char place[WSDBG_PLACE_BYTES];     /* of the site in a word or two, "" = not known */
    char file[WSDBG_PLACE_BYTES];      /* that `line` is in, without its folders, "" = not known */
    struct wsdbg_range address, value; /* polled, and last seen there */
    struct wsdbg_optional_u32 width_bytes;
    uint32_t part_first,
        part_count; /* in report.parts: those of the first warp, if the others are split the same way */
};

/* Barriers in one state: `cta_count` CTAs whose stages `members` are in it. */
struct wsdbg_report_barriers {
    uint32_t grid;
    uint32_t cta_count;
    uint32_t cta[3];
    struct wsdbg_members members;
    struct wsdbg_members waited; /* those at which a warp waits */
    enum wsdbg_barrier_kind kind;
    char name[WSDBG_REPORT_LABEL_BYTES];
    enum wsdbg_name_origin name_origin;
    struct wsdbg_range id, phase, pending_arrivals, expected_arrivals, completed_phases, pending_tx_bytes, waiters;
    struct wsdbg_range shared_offset;
    struct wsdbg_optional_u64 word; /* where all have the same */
    bool pending_tx_known;
};

struct wsdbg_report_launch {
    bool graph; /* it launched a graph, of which the grid is a node */
    bool known;
    uint32_t process_id;
    uint64_t sequence;
    char kernel[256]; /* "" = not known */
    uint32_t grid[3], block[3];
    struct wsdbg_optional_u32 cluster[3];
    uint32_t dynamic_shared_bytes;
    struct wsdbg_optional_u32 registers;
    uint64_t stream, time_ns;
    int32_t result;
};

struct wsdbg_report_grid {
    char kernel[256];
    char device_name[96];
    struct wsdbg_optional_u32 process_id;
    uint32_t process; /* index in report.processes, WSDBG_NONE */
    int32_t context_error;
    uint64_t grid_id;
    uint32_t cta_total; /* 0 = not known */
    uint32_t cta_seen, warps_per_cta, warps_seen, warps_live, warps_exited;
    struct wsdbg_optional_u32 registers;
    bool running;
    struct wsdbg_report_launch launch;
    char launched_at[WSDBG_SITE_TEXT_BYTES]; /* wsdbg_grid_site_text() */
};

/* Where in the program something began. */
struct wsdbg_report_launch_site {
    struct wsdbg_launch_site row; /* its grid and frames are the report's rows */
    char place[WSDBG_SITE_PLACE_BYTES];
    char kernel[256], before[256], after[256]; /* symbols, "" = not known */
    char call[WSDBG_COLLECTIVE_BYTES];         /* of NCCL, "" = none */
    struct wsdbg_optional_u64 sequence;        /* of the launch */
};

/* A process that uses CUDA, and what it does. */
struct wsdbg_report_process {
    uint32_t process_id;
    char name[WSDBG_PROCESS_BYTES];  /* "rank 1 of 2 (local 1, host a, process 17)" */
    char title[WSDBG_PROCESS_BYTES]; /* "rank 1" */
    struct wsdbg_process process;
    enum wsdbg_process_state state;
    enum wsdbg_blame blame;
    struct wsdbg_optional_u32 grid, finding; /* index in report.grids: that runs; in report.findings: the best of it */
    struct wsdbg_optional_u64 waiting_ns;    /* how long a thread of it has been in `call` */
    char does[256];                          /* "runs gemm", "killed by SIGKILL", "?" */
    char call[48];                           /* "" = none is known to be in one */
    char python[WSDBG_HOST_FUNCTION_BYTES + 96]; /* where its main thread is in Python, "" = not known */
    char waits_for[WSDBG_PROCESS_BYTES];         /* the processes that a victim waits for, "" = none is known */
    bool polls_peers;                            /* as struct wsdbg_process_work has it */
};

/* A context that an error of the GPU ended. */
struct wsdbg_report_fault {
    uint32_t process_id, context; /* number in its process */
    int32_t error;                /* as in struct wsdbg_context */
    char device_name[96];
    struct wsdbg_optional_u64 state_age_ns;
    char sentence[WSDBG_FAULT_BYTES];
};

/* A call that the driver refused, as it was said. */
struct wsdbg_report_refusal {
    uint32_t process_id;
    uint64_t time_ns, times;
    char call[48];
    int32_t result;
    char cause[32];   /* code */
    char kernel[256]; /* symbol, "" = not known */
    char subject[512], sentence[512], fix[512];
};

/* wgmma in flight when the warps of a role and warpgroup began to wait for all of them (store/overlap.h), over the
 * stages in the histories. */
struct wsdbg_report_overlap {
    uint32_t grid, warpgroup; /* index in report.grids; warps 4 * warpgroup and the three after it */
    struct wsdbg_optional_u32 role;
    char role_name[WSDBG_REPORT_LABEL_BYTES];  /* "" = not named */
    uint64_t stages, wait_ns;                  /* measured; the last wait of one */
    struct wsdbg_optional_u64 round_ns;        /* not known: there are no rounds, and nothing is known up to `most` */
    double rounds;                             /* of a stage */
    double in_flight, least, most;             /* rounds */
    uint64_t earlier_waits;                    /* in the stages, that left groups in flight */
    struct wsdbg_optional_u64 earlier_wait_ns; /* one of them */
};

/* One row a finding rests on, and where its warp stands. */
struct wsdbg_report_evidence {
    enum wsdbg_evidence_kind kind;
    char text[256];
    uint32_t site; /* index in report.sites, WSDBG_NONE */
    char place[WSDBG_PLACE_BYTES];
};

/* The words of a row of evidence from this snapshot. */
void wsdbg_report_evidence(const struct wsdbg_snapshot *snapshot, const struct wsdbg_evidence_row *row,
                           struct wsdbg_report_evidence *out);

/* Rows of evidence that say the same, or the same of several warps; it stands where the first of them does. */
struct wsdbg_evidence_line {
    struct wsdbg_members warps; /* their numbers, of rows that begin with one */
    size_t row_count;
    const struct wsdbg_report_evidence *first;
};

struct wsdbg_report_finding {
    enum wsdbg_cause cause;
    enum wsdbg_confidence confidence;
    struct wsdbg_optional_u32 grid; /* index in report.grids */
    uint32_t process;               /* index in report.processes, WSDBG_NONE */
    bool cta_known;
    uint32_t cta[3];
    uint32_t cta_count;
    struct wsdbg_optional_u32 role;
    char role_name[WSDBG_REPORT_LABEL_BYTES];
    char barrier[WSDBG_REPORT_LABEL_BYTES + 16]; /* "empty[0]", "" = none */
    char sentence[512];
    char fix[512];
    struct wsdbg_report_evidence *evidence;
    size_t evidence_count;
    struct wsdbg_evidence_line *lines; /* the same, folded */
    size_t line_count;
};

struct wsdbg_report_site {
    char function[256]; /* symbol, "" = not known */
    char place[WSDBG_PLACE_BYTES];
    char lines[512];        /* every level, as wsdbg_place_levels has them */
    struct wsdbg_site site; /* its `function` means nothing here; inlined_at is an index in report.sites */
};

struct wsdbg_report_part {
    char barrier[WSDBG_REPORT_LABEL_BYTES + 16]; /* "empty[0]", "" = none */
    char place[WSDBG_PLACE_BYTES];
    struct wsdbg_part part; /* warp and barrier mean nothing here */
};

struct wsdbg_report_thread {
    uint32_t process_id, thread_id;
    bool is_main;                      /* of its process */
    char process[WSDBG_PROCESS_BYTES]; /* "rank 1", "process 17" */
    char call[48];
    struct wsdbg_optional_u64 waiting_ns, stream;
};

/* A thread's stack that was read from outside. */
struct wsdbg_report_stack {
    struct wsdbg_host_stack row; /* its process and frames are the report's rows */
    uint32_t process_id;
    char process[WSDBG_PROCESS_BYTES]; /* "rank 1", "process 17" */
    bool is_main;                      /* of its process */
    char call[48];                     /* that waits for the GPU, "" = it is in none */
};

struct wsdbg_report_function {
    uint32_t process_id;
    char name[256];
    struct wsdbg_optional_u32 registers;
};

/* What CUPTI saw, summed over the activities in the picture. */
struct wsdbg_report_activity {
    uint64_t kernels, copies, sets, kernel_ns, copy_ns, copy_bytes;
};

struct wsdbg_report {
    char *command, *wsdbg_version, *device, *observer, *evidence, *hostname; /* NULL = not known */
    uint64_t started_unix_ns;
    double stall_seconds;
    bool stall_proven; /* by the simulator, so that nobody waited for stall_seconds */
    bool ended;        /* the fields up to verdict_delay_ns are set */
    int exit_status;
    bool ended_hang;
    char *outcome;
    uint64_t duration_ns;
    struct wsdbg_optional_u64 verdict_delay_ns; /* stall to verdict */

    bool has_snapshot;
    char *source;
    uint64_t time_ns, launches_total, torn_events, foreign_slots, lost_rows;
    bool diagnosed, hang;

    struct wsdbg_report_finding *findings;
    size_t finding_count;
    struct wsdbg_report_process *processes;
    size_t process_count;
    bool has_ranks; /* there are several, and more is known of them than their numbers */
    struct wsdbg_report_fault *faults;
    size_t fault_count;
    struct wsdbg_report_refusal *refusals; /* of a stored session alone: a live run says them as they happen */
    size_t refusal_count;
    char **schedules; /* that lead to a hang or fault, as sentences; of a stored session alone */
    size_t schedule_count;
    struct wsdbg_report_overlap *overlaps; /* of a stored session alone */
    size_t overlap_count;
    struct wsdbg_report_grid *grids;
    size_t grid_count;
    struct wsdbg_report_warps *warps;
    size_t warps_count; /* every distinct state */
    struct wsdbg_report_warps *rows;
    size_t row_count; /* folded until they fit a screen */
    struct wsdbg_report_barriers *barriers;
    size_t barriers_count; /* every distinct state */
    struct wsdbg_report_barriers *barrier_rows;
    size_t barrier_row_count; /* folded for a screen */
    struct wsdbg_report_site *sites;
    size_t site_count;
    struct wsdbg_report_part *parts;
    size_t part_count;
    struct wsdbg_access_row *accesses;
    size_t access_count;
    struct wsdbg_look_row *looks;
    size_t look_count;
    const char *ring; /* where warps recorded: "device", "mapped", "partly mapped"; NULL = nowhere, or not known */
    bool names_inferred;
    struct wsdbg_report_thread *threads;
    size_t thread_count;
    struct wsdbg_host_process *host_processes;
    size_t host_process_count;
    struct wsdbg_report_stack *stacks;
    size_t stack_count;
    struct wsdbg_host_frame *frames;
    size_t frame_count;
    struct wsdbg_report_launch_site *launch_sites;
    size_t launch_site_count;
    struct wsdbg_host_frame *site_frames;
    size_t site_frame_count;
    struct wsdbg_report_function *functions;
    size_t function_count; /* by process, in order of first launch */
    struct wsdbg_report_launch newest;
    struct wsdbg_report_activity activity;
    char (*notes)[256];
    size_t note_count;
};

/* "3", "3-17", "?" */
void wsdbg_range_text(struct wsdbg_range range, char *out, size_t bytes);
/* "0-3,8" */
void wsdbg_members_text(const struct wsdbg_members *members, char *out, size_t bytes);
/* "warp 4", "warps 0-3,8" */
void wsdbg_report_members_text(const struct wsdbg_members *members, char *out, size_t bytes);
/* "4 CTAs", "CTA (2,0,0)" */
void wsdbg_report_cta_text(uint32_t count, const uint32_t *cta, char *out, size_t bytes);
/* "producer", "role 3", "?" */
void wsdbg_report_role_text(const struct wsdbg_report_warps *warps, char *out, size_t bytes);
/* The same for where the warps are named beside it: "-" for a role of which only its warps are known ("warps 0-3"). */
void wsdbg_report_role_beside_warps(const struct wsdbg_report_warps *warps, char *out, size_t bytes);
/* "producer, warps 0-3"; of a role of which only its warps are known just these. */
void wsdbg_report_who_text(const struct wsdbg_report_warps *warps, char *out, size_t bytes);
/* "of roles and barriers are inferred from the code": of the names that the report for the terminal shows, one was
 * inferred.  "... may be inferred ..." where that is not known.  NULL: the author gave all of them. */
const char *wsdbg_report_names_text(const struct wsdbg_report *report);
/* Where warps are: "gemm.cu:132", "line 132" where the file is not known; "" = not known. */
void wsdbg_report_where_text(const struct wsdbg_report_warps *warps, char *out, size_t bytes);
/* "empty[0] parity 1", "named barrier 3", "asks 232, holds 168 registers", "last: wgmma issue"; "" for warps that left.
 */
void wsdbg_report_wait_text(const struct wsdbg_report_warps *warps, char *out, size_t bytes);
/* "empty[0-3]", "store 0 (id 1)", "register pool" */
void wsdbg_report_barrier_text(const struct wsdbg_report_barriers *barriers, char *out, size_t bytes);
/* Of merged stages, those at which warps wait: "[2]"; "" where warps wait at all of them or at none. */
void wsdbg_report_waited_text(const struct wsdbg_report_barriers *barriers, char *out, size_t bytes);
/* Both: "empty[0-3]: waits at [2]". */
void wsdbg_report_barrier_waited_text(const struct wsdbg_report_barriers *barriers, char *out, size_t bytes);
/* "phase 0, pending 4 of 8 arrivals, 0 bytes", "128 threads expected"; "" for kinds without such numbers. */
void wsdbg_report_barrier_state_text(const struct wsdbg_report_barriers *barriers, char *out, size_t bytes);
/* "0x400-0x418", "?" */
void wsdbg_report_offset_text(const struct wsdbg_report_barriers *barriers, char *out, size_t bytes);
/* "lanes 0-3,8" */
void wsdbg_report_lanes_text(uint32_t lanes, char *out, size_t bytes);
/* The words of part `index` of a snapshot. */
void wsdbg_report_part(const struct wsdbg_snapshot *snapshot, uint32_t index, struct wsdbg_report_part *out);
/* "lane 0: WAIT_MBARRIER full[1] parity 0, gemm.cu:88" */
void wsdbg_report_part_text(const struct wsdbg_report_part *part, char *out, size_t bytes);
/* Its text, and where its warp stands unless the text says so. */
void wsdbg_report_evidence_text(const struct wsdbg_report_evidence *evidence, char *out, size_t bytes);
/* "each of warps 8-11 (consumer 1) arrived", "second arrival, no wait between (4 times)" */
void wsdbg_report_evidence_line_text(const struct wsdbg_evidence_line *line, char *out, size_t bytes);
/* "2 looks 0.10 s apart, the GPU stopped for 31 ms in all" */
void wsdbg_report_looks_text(const struct wsdbg_look_row *looks, size_t count, char *out, size_t bytes);
/* Bytes still missing: "0", "16384", "512 early", "?" */
void wsdbg_report_tx_text(const struct wsdbg_report_barriers *barriers, char *out, size_t bytes);

/* What a process of the snapshot does: "runs gemm, polls memory of another process", "killed by SIGKILL", "?" */
void wsdbg_process_does(const struct wsdbg_snapshot *snapshot, uint32_t process, char *out, size_t bytes);

/* Gathers from memory.  snapshot NULL = none was taken; diagnosis NULL = nothing stalled; end NULL = still
 * running.  Copies all it needs.  `out` is owned by the caller. */
struct wsdbg_error *wsdbg_report_gather(const struct wsdbg_session_info *info, const struct wsdbg_snapshot *snapshot,
                                        const struct wsdbg_diagnosis *diagnosis, const struct wsdbg_session_end *end,
                                        struct wsdbg_report *out);
/* Gathers from a stored session. */
struct wsdbg_error *wsdbg_report_load(struct wsdbg_store *store, struct wsdbg_report *out);
void wsdbg_report_deinit(struct wsdbg_report *report);

/* One screen of text: no line over 120 columns, nor wider than a terminal; control characters escaped. */
void wsdbg_report_render_text(const struct wsdbg_report *report, const struct wsdbg_sheet *out);
/* Where every warp stands at this moment, and nothing of a stall. */
void wsdbg_report_render_picture(const struct wsdbg_report *report, const struct wsdbg_sheet *out);
/* One JSON object as docs/report.schema.json says, and a newline.  Fails when out of memory. */
struct wsdbg_error *wsdbg_report_render_json(const struct wsdbg_report *report, FILE *out);

#endif
