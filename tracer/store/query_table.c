/* query_table.c - the canned queries: one row a query.  To add one, add a row; tests run every row. */
#include "store/query.h"

const struct wsdbg_canned_query wsdbg_canned_queries[] = {
    {"verdict", "What is the cause, and how sure is it?",
     "SELECT f.cause, f.confidence, f.sentence, f.fix, f.cta_count AS ctas FROM finding f "
     "JOIN shown_snapshot s ON s.id = f.snapshot_id ORDER BY f.id"},
    {"evidence", "What does the verdict rest on?",
     "SELECT f.cause, e.kind, e.text FROM evidence e JOIN finding f ON f.id = e.finding_id "
     "JOIN shown_snapshot s ON s.id = f.snapshot_id ORDER BY e.id"},
    {"stuck", "Which warps wait, where and for how long?", "SELECT * FROM stuck"},
    {"waits", "How many warps and CTAs wait, by role, state and barrier?", "SELECT * FROM waits"},
    {"cycle", "Who waits for whom in a circle?", "SELECT * FROM cycle"},
    {"longest-waits", "Which 20 warps have waited longest?",
     "SELECT kernel, cta_x, cta_y, cta_z, warp, role, state, barrier, stage, parity, iteration, waiting_seconds, line "
     "FROM stuck ORDER BY waiting_seconds DESC, warp_id LIMIT 20"},
    {"exited", "Which warps are gone?",
     "SELECT kernel, cta_x, cta_y, cta_z, warp, role, last_event_age_ns FROM warp_named WHERE state = 'EXITED'"},
    {"registers", "How many registers does each role hold and ask for, and how many warps of it?",
     "SELECT kernel, role, state, registers_held, registers_asked, count(*) AS warps FROM warp_named "
     "GROUP BY grid_id, role, state, registers_held, registers_asked ORDER BY grid_id, min(warp)"},
    {"barriers", "In what state is each barrier, and in how many CTAs?",
     "SELECT coalesce(n.name, b.kind) AS barrier, b.kind, b.identifier, b.stage, b.phase, b.pending_arrivals, "
     "b.expected_arrivals, b.completed_phases, b.pending_tx_bytes, b.waiters, count(*) AS ctas FROM shown_snapshot s "
     "JOIN grid g ON g.snapshot_id = s.id JOIN cta c ON c.grid_id = g.id JOIN barrier b ON b.cta_id = c.id "
     "LEFT JOIN name n ON n.id = b.name_id GROUP BY g.id, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ORDER BY g.id, b.kind, 3, 4"},
    {"timeline", "What happened, in time order? (the newest 200 events)",
     "SELECT * FROM timeline WHERE event_id IN (SELECT v.id FROM event v JOIN (SELECT min(event_first) AS first, "
     "max(event_first + event_count) AS beyond FROM warp_named n JOIN warp w ON w.id = n.warp_id) r "
     "ON v.id >= r.first AND v.id < r.beyond ORDER BY v.gpu_time_ns DESC, v.id DESC LIMIT 200) "
     "ORDER BY gpu_time_ns, event_id"},
    {"last-events", "What did each warp do last?",
     "SELECT kernel, cta_x, cta_y, cta_z, warp, role, state, last_event, stage, parity, iteration, last_event_age_ns "
     "FROM warp_named ORDER BY grid_id, cta_id, warp"},
    {"launches", "What was launched? (the newest 50)",
     "SELECT * FROM (SELECT l.process_id, l.sequence, l.time_ns - s.started_ns AS after_start_ns, f.name AS kernel, "
     "l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y, l.block_z, l.cluster_x, l.cluster_y, l.cluster_z, "
     "l.dynamic_shared_bytes, f.registers, l.stream, l.thread_id, l.result FROM launch l JOIN session s "
     "LEFT JOIN function f ON f.id = l.function_id ORDER BY l.time_ns DESC, l.sequence DESC LIMIT 50) "
     "ORDER BY after_start_ns, sequence"},
    {"kernels", "How often was each kernel launched?",
     "SELECT f.name AS kernel, count(*) AS launches, f.registers, f.static_shared_bytes, f.local_bytes FROM launch l "
     "LEFT JOIN function f ON f.id = l.function_id GROUP BY l.function_id ORDER BY launches DESC"},
    {"threads", "Which host threads are blocked, in which call, since when?",
     "SELECT t.process_id, t.thread_id, t.call, (s.time_ns - t.since_ns) / 1e9 AS waiting_seconds, t.stream "
     "FROM host_thread t JOIN shown_snapshot s ON s.id = t.snapshot_id ORDER BY waiting_seconds DESC"},
    {"activity", "What ran on the GPU and how long? (observer cupti)",
     "SELECT kind, name, count(*) AS count, sum(end_ns - start_ns) AS time_ns, sum(bytes) AS bytes FROM activity "
     "GROUP BY kind, name ORDER BY time_ns DESC"},
    {"notes", "What could not be seen?",
     "SELECT n.text FROM note n JOIN shown_snapshot s ON s.id = n.snapshot_id ORDER BY n.id"},
    {NULL, NULL, NULL},
};
