/* query_table.c - the canned queries: one row a query.  To add one, add a row: a test runs every row, and another
 * compares docs/QUERIES.md, which is made from this table, with it. */
#include "store/overlap.h"
#include "store/query.h"

const char *const wsdbg_queries_of_histories[] = {"barrier-waits", "tiles",  "tails", "timeline",
                                                  "overlap",       "stages", NULL};

/* The place where a row of `stuck` waits: from the machine's state, or, where that has none, the line of its probe. */
#define WHERE_STUCK                                                                                              \
    "coalesce(t.place, (SELECT replace(s.path, rtrim(s.path, replace(s.path, '/', '')), '') FROM source_file s " \
    "JOIN grid g ON g.module_id = s.module_id WHERE g.id = t.grid_id) || ':' || t.line, 'line ' || t.line)"

const struct wsdbg_canned_query wsdbg_canned_queries[] = {
    {"verdict", "What is the cause, and how sure is it?", "First, after a hang.",
     "SELECT f.cause, f.confidence, f.sentence, f.fix, f.cta_count AS ctas FROM finding f "
     "JOIN shown_snapshot s ON s.id = f.snapshot_id ORDER BY f.id",
     NULL},
    {"evidence", "What does the verdict rest on?", "To check the verdict against your own idea of the kernel.",
     "SELECT f.cause, e.kind, e.text FROM evidence e JOIN finding f ON f.id = e.finding_id "
     "JOIN shown_snapshot s ON s.id = f.snapshot_id ORDER BY e.id",
     NULL},
    {"ranks", "Which rank is where, and what does it do?",
     "For a run of several processes: `blame` says whose own fault the hang is (origin) and who only waits for that "
     "one "
     "(victim), as far as it is known. A process without a rank has not said any; other tables name it by process_id.",
     "SELECT p.rank, p.local_rank, p.world_size, p.hostname AS host, p.pid AS process, m.state, f.name AS kernel, "
     "m.call, (coalesce(m.seen_ns, s.time_ns) - m.since_ns) / 1e9 AS in_call_seconds, d.cause, d.confidence, m.blame, "
     "p.exit_status, p.signal, p.process_id, "
     "(SELECT coalesce(h.file, '?') || ':' || coalesce(h.line, '?') || coalesce(' in ' || h.function, '') FROM "
     "host_process o JOIN host_stack k ON k.host_process_id = o.id JOIN host_frame h ON h.host_stack_id = k.id "
     "WHERE o.snapshot_id = s.id AND o.process_id = m.process_id AND k.thread_id = p.pid AND h.kind = 'python' "
     "ORDER BY h.position LIMIT 1) AS python_line, "
     "CASE m.blame WHEN 'victim' THEN (SELECT group_concat(coalesce('rank ' || q.rank, 'process ' || q.pid), ', ') "
     "FROM member o JOIN process q ON q.process_id = o.process_id WHERE o.snapshot_id = s.id AND o.blame = 'origin') "
     "END AS waits_for FROM shown_snapshot s JOIN member m ON m.snapshot_id = s.id "
     "JOIN process p ON p.process_id = m.process_id LEFT JOIN grid g ON g.id = m.grid_id "
     "LEFT JOIN function f ON f.id = g.function_id LEFT JOIN finding d ON d.id = (SELECT min(id) FROM finding "
     "WHERE snapshot_id = s.id AND process_id = m.process_id) "
     "ORDER BY p.rank IS NULL, p.rank, p.hostname, p.pid",
     NULL},
    {"victims", "Which ranks only wait for the one at fault?",
     "After `@ranks` shows an origin: a victim's kernel polls memory that another process may write. Ranks of which no "
     "such memory is known are not here, whatever they wait for.",
     "SELECT p.rank, p.hostname AS host, p.pid AS process, f.name AS kernel, d.cause, d.sentence, "
     "(SELECT group_concat(coalesce('rank ' || q.rank, 'process ' || q.pid), ', ') FROM member o "
     "JOIN process q ON q.process_id = o.process_id WHERE o.snapshot_id = s.id AND o.blame = 'origin') AS waits_for "
     "FROM shown_snapshot s JOIN member m ON m.snapshot_id = s.id JOIN process p ON p.process_id = m.process_id "
     "LEFT JOIN grid g ON g.id = m.grid_id LEFT JOIN function f ON f.id = g.function_id "
     "LEFT JOIN finding d ON d.id = (SELECT min(id) FROM finding WHERE snapshot_id = s.id "
     "AND process_id = m.process_id) WHERE m.blame = 'victim' ORDER BY p.rank IS NULL, p.rank, p.process_id",
     NULL},
    {"collectives", "Which collective of NCCL is each rank in, and which has it not entered?",
     "For ranks that wait for each other: one row a rank and communicator that is not done with its newest call. "
     "`behind` says how many collectives fewer than the others it has entered; a rank that is behind is the one that "
     "the "
     "others wait for. It is NULL where calls of a rank went into graphs or were refused. Ranks of several nodes stand "
     "together once their databases are merged.",
     "WITH shown AS (SELECT c.*, max(c.collectives) OVER (PARTITION BY c.identity) AS most, "
     "sum(EXISTS (SELECT 1 FROM collective u WHERE u.communicator_id = c.id AND (u.number IS NULL OR u.captured OR "
     "u.refused))) OVER (PARTITION BY c.identity) AS unsure FROM communicator c "
     "JOIN shown_snapshot s ON s.id = c.snapshot_id) "
     "SELECT c.identity AS communicator, p.rank, c.rank AS communicator_rank, c.rank_count, c.state, c.collectives, "
     "CASE WHEN c.identity IS NOT NULL AND NOT c.unsure THEN c.most - c.collectives END AS behind, k.operation, "
     "k.number, k.count, "
     "k.datatype, k.reduction, k.peer, k.captured, (coalesce(m.seen_ns, s.time_ns) - k.time_ns) / 1e9 AS seconds_ago, "
     "k.done, p.process_id FROM shown c JOIN shown_snapshot s JOIN process p ON p.process_id = c.process_id "
     "LEFT JOIN member m ON m.snapshot_id = s.id AND m.process_id = c.process_id "
     "LEFT JOIN collective k ON k.id = (SELECT id FROM collective WHERE communicator_id = c.id ORDER BY call DESC "
     "LIMIT 1) "
     "ORDER BY c.identity, c.rank, c.number",
     NULL},
    {"nccl-calls", "What did each rank ask of NCCL, in order?",
     "To compare what ranks called: the newest 64 calls of each communicator. A send and the receive that it meets "
     "have "
     "one number.",
     "SELECT p.rank, c.identity AS communicator, c.rank AS communicator_rank, k.operation, k.number, k.count, "
     "k.datatype, "
     "k.reduction, k.peer, printf('0x%x', k.stream) AS stream, k.grouped, k.captured, k.refused, k.done, l.sequence AS "
     "launch, "
     "(s.time_ns - k.time_ns) / 1e9 AS seconds_ago FROM collective k JOIN communicator c ON c.id = k.communicator_id "
     "JOIN shown_snapshot s ON s.id = c.snapshot_id JOIN process p ON p.process_id = c.process_id "
     "LEFT JOIN launch l ON l.id = k.launch_id ORDER BY k.time_ns, k.id",
     NULL},
    {"peer-waits", "Which rank's kernel polls memory that it shares with other ranks, and where?",
     "When `@ranks` shows kernels that poll. `shared` says how: `imported` memory is another process's, `exported` is "
     "its "
     "own. Which processes share one piece of memory no table says: `may_be_of` has those of the run that gave away "
     "(took) as many bytes at once as this one took (gave away), of cudaIpc on the same host. NULL: none is known, or "
     "the size is not.",
     "WITH polled AS (SELECT x.process_id, g.function_id, t.place, p.address, count(DISTINCT p.warp_id) AS warps "
     "FROM shown_snapshot s JOIN grid g ON g.snapshot_id = s.id JOIN context x ON x.id = g.context_id "
     "JOIN cta c ON c.grid_id = g.id JOIN warp w ON w.cta_id = c.id JOIN part p ON p.warp_id = w.id "
     "LEFT JOIN site t ON t.id = p.site_id WHERE p.state = 'SPIN_GLOBAL' AND p.address IS NOT NULL GROUP BY 1, 2, 3, "
     "4), "
     "shared AS (SELECT a.*, CASE WHEN a.kind IN ('imported', 'mapped import') THEN 'imported' ELSE 'exported' END AS "
     "how "
     "FROM allocation a JOIN shown_snapshot s ON s.id = a.snapshot_id WHERE a.freed_ns IS NULL "
     "AND (a.exported OR a.kind IN ('imported', 'mapped import'))) "
     "SELECT r.rank, r.hostname AS host, r.pid AS process, f.name AS kernel, p.place, p.warps, "
     "printf('0x%x', p.address) AS address, a.how AS shared, a.call || ' #' || a.call_number AS made_by, "
     "p.address - a.address AS offset_bytes, (SELECT group_concat(coalesce('rank ' || q.rank, 'process ' || q.pid), ', "
     "') "
     "FROM process q WHERE q.process_id IN (SELECT b.process_id FROM shared b WHERE b.process_id != a.process_id "
     "AND b.how != a.how AND b.bytes = a.bytes AND (q.hostname IS r.hostname OR 'imported' NOT IN (a.kind, b.kind)))) "
     "AS may_be_of "
     "FROM polled p JOIN shared a ON a.process_id = p.process_id AND p.address >= a.address "
     "AND p.address < a.address + coalesce(a.bytes, 1) JOIN process r ON r.process_id = p.process_id "
     "LEFT JOIN function f ON f.id = p.function_id ORDER BY r.rank IS NULL, r.rank, r.process_id, p.address, p.place",
     NULL},
    {"waits", "How many warps and CTAs wait, by role, state and barrier?",
     "For the whole picture on a few lines; `@stuck` has the single warps.", "SELECT * FROM waits", NULL},
    {"stuck", "Which warps wait, where and for how long?", "To find one warp, or to filter further: the view stuck.",
     "SELECT warp_id, grid_id, kernel, cta_x, cta_y, cta_z, warp, role, state, barrier, stage, parity, iteration, "
     "waiting_seconds, registers_held, registers_asked, " WHERE_STUCK " AS place FROM stuck t",
     NULL},
    {"edges", "Who waits on what, and who could end it?",
     "When the one that waits is not the one at fault: the last columns say what those are doing who should arrive.",
     "SELECT a.kernel, a.role AS waits, a.barrier, a.stage, a.parity, b.role AS waits_for, b.state AS which_is_in, "
     "count(DISTINCT e.warp_id) AS waiting_warps, count(DISTINCT e.waker_warp_id) AS awaited_warps, e.why FROM edge e "
     "JOIN shown_snapshot s ON s.id = e.snapshot_id JOIN warp_named a ON a.warp_id = e.warp_id "
     "LEFT JOIN warp_named b ON b.warp_id = e.waker_warp_id "
     "GROUP BY a.grid_id, 2, 3, 4, 5, 6, 7, e.why ORDER BY a.grid_id, 2, 3, 4, 6, 7",
     NULL},
    {"cycle", "Who waits for whom in a circle?", "When the verdict speaks of a cycle, warp by warp.",
     "SELECT * FROM cycle", NULL},
    {"longest-waits", "Which 20 warps have waited longest?",
     "When many wait: the one that stopped first is often nearest to the cause.",
     "SELECT kernel, cta_x, cta_y, cta_z, warp, role, state, barrier, stage, parity, iteration, "
     "waiting_seconds, " WHERE_STUCK " AS place FROM stuck t ORDER BY waiting_seconds DESC, warp_id LIMIT 20",
     NULL},
    {"barriers", "In what state is each barrier, and in how many CTAs?",
     "To compare phase, arrivals and bytes with what the protocol says they must be.",
     "SELECT coalesce(n.name, b.kind) AS barrier, b.kind, b.identifier, b.stage, b.phase, b.pending_arrivals, "
     "b.expected_arrivals, b.completed_phases, b.pending_tx_bytes, b.waiters, count(DISTINCT c.id) AS ctas "
     "FROM shown_snapshot s JOIN grid g ON g.snapshot_id = s.id JOIN cta c ON c.grid_id = g.id "
     "JOIN barrier b ON b.cta_id = c.id LEFT JOIN name n ON n.id = b.name_id "
     "GROUP BY g.id, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ORDER BY g.id, b.kind, 3, 4",
     NULL},
    {"bytes", "Which mbarriers still wait for bytes, and how many?",
     "When a consumer waits although the copy was issued: too few bytes announced or too few sent. Below zero: they "
     "came "
     "before they were announced.",
     "SELECT coalesce(n.name, 'mbarrier ' || b.identifier) AS barrier, b.stage, b.pending_tx_bytes, "
     "b.pending_arrivals, b.waiters, count(*) AS ctas FROM shown_snapshot s JOIN grid g ON g.snapshot_id = s.id "
     "JOIN cta c ON c.grid_id = g.id JOIN barrier b ON b.cta_id = c.id LEFT JOIN name n ON n.id = b.name_id "
     "WHERE b.kind = 'mbarrier' AND (b.pending_tx_bytes <> 0 OR (b.pending_tx_bytes IS NULL AND b.waiters > 0)) "
     "GROUP BY g.id, 1, 2, 3, 4, 5 ORDER BY g.id, 1, 2",
     NULL},
    {"arrivals", "Who arrived last on the barriers that are waited on, before the stall?",
     "To see which of the arriving warps is missing from the newest round, in the first CTA that is stuck. Arrivals "
     "from other CTAs of a cluster are in those CTAs' histories.",
     "WITH first AS (SELECT cta_id FROM warp WHERE id IN (SELECT min(warp_id) FROM stuck GROUP BY grid_id)), "
     "waited AS (SELECT DISTINCT n.cta_id, n.barrier, n.stage FROM first JOIN warp w ON w.cta_id = first.cta_id "
     "JOIN stuck t ON t.warp_id = w.id JOIN warp_named n ON n.warp_id = w.id), "
     "arrival AS (SELECT w.cta_id, v.*, row_number() OVER (PARTITION BY w.id, v.barrier, v.stage "
     "ORDER BY v.event_id DESC) AS newest FROM first JOIN warp w ON w.cta_id = first.cta_id "
     "JOIN event_named v ON v.warp_id = w.id AND v.kind IN (9, 10, 21)) "
     "SELECT a.barrier, a.stage, a.warp, a.role, a.event, a.iteration, a.line, a.before_now_ns FROM arrival a "
     "JOIN waited b ON b.cta_id = a.cta_id AND b.barrier = a.barrier AND b.stage IS a.stage WHERE a.newest = 1 "
     "ORDER BY a.cta_id, a.barrier, a.stage, a.gpu_time_ns DESC, a.event_id DESC",
     NULL},
    {"barrier-waits", "How long did the waits on each barrier take, and which was the longest?",
     "When the kernel is slow rather than stuck. Only waits that did not end at the first look leave an event; the "
     "next "
     "event of the warp says by when they were over, so the times are upper bounds.",
     "SELECT kernel, role, event, barrier, count(*) AS waits, count(*) - count(at_most_ns) AS not_over, "
     "CAST(avg(at_most_ns) AS INTEGER) AS average_ns, max(at_most_ns) AS longest_ns FROM wait "
     "GROUP BY grid_id, role, event, barrier ORDER BY longest_ns DESC",
     NULL},
    {"tiles", "Which role is slowest, per tile?",
     "When roles should keep pace: the slowest one sets the speed. From one tile's begin to the next, in the "
     "histories.",
     "SELECT kernel, role, count(*) AS tiles, CAST(avg(tile_ns) AS INTEGER) AS average_ns, max(tile_ns) AS longest_ns, "
     "count(DISTINCT warp_id) AS warps FROM (SELECT kernel, grid_id, role, warp_id, kind, "
     "lead(gpu_time_ns) OVER (PARTITION BY warp_id ORDER BY event_id) - gpu_time_ns AS tile_ns FROM event_named "
     "WHERE kind IN (29, 31)) WHERE kind = 29 AND tile_ns IS NOT NULL GROUP BY grid_id, role ORDER BY average_ns DESC",
     NULL},
    {"iterations", "How far is each role, and how far apart are its warps?",
     "To see drift: a role that is behind, or warps of one role that should be in step and are not.",
     "SELECT kernel, role, count(*) AS warps, count(iteration) AS warps_with_iteration, min(iteration) AS least, "
     "max(iteration) AS most, max(iteration) - min(iteration) AS apart FROM warp_named "
     "GROUP BY grid_id, role ORDER BY grid_id, min(warp)",
     NULL},
    {"odd-ctas", "Which warps are not where the same warp of most other CTAs is?",
     "When some CTAs of a grid hang and others do not, or one of many is different.",
     "WITH place AS (SELECT *, coalesce(state, '?') || coalesce(' ' || barrier, '') "
     "|| coalesce(' stage ' || stage, '') || coalesce(' parity ' || parity, '') AS spot FROM warp_named), "
     "counted AS (SELECT *, count(*) OVER (PARTITION BY grid_id, warp, spot) AS ctas FROM place) "
     "SELECT kernel, cta_x, cta_y, cta_z, warp, role, state, barrier, stage, parity, iteration, most_are, in_ctas "
     "FROM (SELECT *, first_value(spot) OVER crowd AS most_are, first_value(ctas) OVER crowd AS in_ctas FROM counted "
     "WINDOW crowd AS (PARTITION BY grid_id, warp ORDER BY ctas DESC, spot)) "
     "WHERE spot <> most_are ORDER BY grid_id, cta_id, warp",
     NULL},
    {"diff", "In which warps do two CTAs differ that should be equal?", "With the CTAs as X or X,Y,Z: `@diff 0 3`.",
     "SELECT a.kernel, a.warp, a.role, a.state AS state_a, b.state AS state_b, a.barrier AS barrier_a, "
     "b.barrier AS barrier_b, a.stage AS stage_a, b.stage AS stage_b, a.parity AS parity_a, b.parity AS parity_b, "
     "a.iteration AS iteration_a, b.iteration AS iteration_b FROM warp_named a JOIN warp_named b "
     "ON b.grid_id = a.grid_id AND b.warp = a.warp "
     "WHERE (?1 = a.cta_x || ',' || a.cta_y || ',' || a.cta_z OR (?1 = CAST(a.cta_x AS TEXT) AND a.cta_y + a.cta_z = "
     "0)) "
     "AND (?2 = b.cta_x || ',' || b.cta_y || ',' || b.cta_z OR (?2 = CAST(b.cta_x AS TEXT) AND b.cta_y + b.cta_z = 0)) "
     "AND (a.role IS NOT b.role OR a.state IS NOT b.state OR a.barrier IS NOT b.barrier OR a.stage IS NOT b.stage "
     "OR a.parity IS NOT b.parity OR a.iteration IS NOT b.iteration) ORDER BY a.grid_id, a.warp",
     "CTA CTA"},
    {"tails", "What were the last eight events of the warps that are stuck?",
     "To read, warp by warp, how they came to where they are; of the first stuck CTA of each grid.",
     "SELECT v.warp, v.role, v.before_now_ns, v.event, v.barrier, v.stage, v.parity, v.iteration, v.line FROM stuck t "
     "JOIN (SELECT grid_id, min(warp_id) AS warp_id FROM stuck GROUP BY grid_id) f ON f.grid_id = t.grid_id "
     "JOIN warp w ON w.id = t.warp_id AND w.cta_id = (SELECT cta_id FROM warp WHERE id = f.warp_id) "
     "JOIN event_named v ON v.event_id >= w.event_first + w.event_count - 8 "
     "AND v.event_id < w.event_first + w.event_count AND v.warp_id = w.id ORDER BY v.warp_id, v.event_id",
     NULL},
    {"last-events", "What did each warp do last?", "For all warps, also those that run or are gone.",
     "SELECT kernel, cta_x, cta_y, cta_z, warp, role, state, last_event, stage, parity, iteration, last_event_age_ns "
     "FROM warp_named ORDER BY grid_id, cta_id, warp",
     NULL},
    {"timeline", "What happened, in time order? (the newest 200 events)",
     "To see what warps of all CTAs did just before the stall.",
     "SELECT * FROM timeline WHERE event_id IN (SELECT v.id FROM event v JOIN (SELECT min(event_first) AS first, "
     "max(event_first + event_count) AS beyond FROM warp_named n JOIN warp w ON w.id = n.warp_id) r "
     "ON v.id >= r.first AND v.id < r.beyond ORDER BY v.gpu_time_ns DESC, v.id DESC LIMIT 200) "
     "ORDER BY gpu_time_ns, event_id",
     NULL},
    {"exited", "Which warps are gone?", "To see who cannot arrive any more.",
     "SELECT kernel, cta_x, cta_y, cta_z, warp, role, last_event_age_ns FROM warp_named WHERE state = 'EXITED'", NULL},
    {"exited-early", "Who exited although others still wait for that role to arrive?",
     "When a warp left a loop too soon: where nobody of the role is left in the CTA, nobody can arrive. Needs the "
     "roles "
     "in the barrier's WSDBG_MBARRIER row.",
     "SELECT e.kernel, e.role, t.barrier, t.stage, count(DISTINCT e.warp_id) AS exited_warps, "
     "count(DISTINCT l.id) AS warps_left, count(DISTINCT t.warp_id) AS waiting_warps, count(DISTINCT e.cta_id) AS ctas "
     "FROM warp_named e JOIN warp x ON x.id = e.warp_id JOIN warp y ON y.cta_id = e.cta_id "
     "JOIN barrier b ON b.id = y.barrier_id JOIN name n ON n.id = b.name_id AND n.arriving_roles >> x.role & 1 "
     "JOIN stuck t ON t.warp_id = y.id "
     "LEFT JOIN warp l ON l.cta_id = x.cta_id AND l.role = x.role AND l.state <> 'EXITED' "
     "WHERE e.state = 'EXITED' GROUP BY e.grid_id, 2, 3, 4 ORDER BY e.grid_id, warps_left, 2, 3, 4",
     NULL},
    {"registers", "How many registers does each role hold and ask for, and how many warps of it?",
     "When warps wait in setmaxnreg.inc.",
     "SELECT kernel, role, state, registers_held, registers_asked, count(*) AS warps FROM warp_named "
     "GROUP BY grid_id, role, state, registers_held, registers_asked ORDER BY grid_id, min(warp)",
     NULL},
    {"never-released", "Who never gave registers back?",
     "When warps wait in setmaxnreg.inc: these still hold at least what the launch gave them, so they left nothing for "
     "others.",
     "SELECT n.kernel, n.role, n.state, f.registers AS at_launch, n.registers_held, n.registers_asked, "
     "count(*) AS warps, count(DISTINCT n.cta_id) AS ctas FROM warp_named n JOIN grid g ON g.id = n.grid_id "
     "JOIN function f ON f.id = g.function_id WHERE n.registers_held >= f.registers "
     "GROUP BY n.grid_id, 2, 3, 4, 5, 6 ORDER BY n.grid_id, min(n.warp)",
     NULL},
    {"sites", "Where in the code does each role stand, and at which instruction?",
     "For kernels that nobody instrumented; `@parts` has warps whose lanes stand at different places.",
     "SELECT kernel, role, state, place, instruction, count(*) AS warps, count(DISTINCT cta_id) AS ctas FROM "
     "warp_named "
     "WHERE state <> 'EXITED' GROUP BY grid_id, 2, 3, 4, 5 ORDER BY grid_id, min(warp), 3, 4",
     NULL},
    {"parts", "Whose lanes stand at different places, and where?",
     "When a warp has split: one row a part, with the lanes as a mask; the address and the value of what a loop polls.",
     "SELECT kernel, cta_x, cta_y, cta_z, warp, role, lanes, state, place, barrier, stage, parity, address, "
     "width_bytes, "
     "value FROM part_named WHERE warp_id IN (SELECT warp_id FROM part GROUP BY warp_id HAVING count(*) > 1) "
     "OR address IS NOT NULL ORDER BY warp_id, part_id",
     NULL},
    {"looks", "When was the GPU looked at, what did it cost, and what had moved?",
     "For evidence live: the GPU stands still for suspend, read and resume; attaching and detaching stop only the "
     "host.",
     "SELECT (l.time_ns - e.started_ns) / 1e9 AS seconds, (l.time_ns - lag(l.time_ns) OVER (ORDER BY l.id)) / 1e9 AS "
     "after_seconds, l.attach_ns / 1e6 AS attach_ms, (l.suspend_ns + l.read_ns + l.resume_ns) / 1e6 AS stopped_ms, "
     "l.detach_ns / 1e6 AS detach_ms, l.warps, l.warps_read, "
     "l.moved, l.barriers_changed FROM look l "
     "JOIN shown_snapshot s ON s.id = l.snapshot_id JOIN session e ORDER BY l.id",
     NULL},
    {"compare-looks", "What moved between the last two looks?",
     "To see for yourself that nothing did (no rows), or which warps still go on. Needs two looks: see `@looks`.",
     "WITH pair AS (SELECT g.id AS grid_id, b.id AS before_grid, f.name AS kernel FROM shown_snapshot s "
     "JOIN grid g ON g.snapshot_id = s.id JOIN grid b ON b.snapshot_id = s.before_id "
     "AND b.hardware_grid_id = g.hardware_grid_id AND b.context_id IS g.context_id "
     "LEFT JOIN function f ON f.id = g.function_id), "
     "ctas AS (SELECT p.kernel, c.*, d.id AS before_cta FROM pair p JOIN cta c ON c.grid_id = p.grid_id "
     "JOIN cta d ON d.grid_id = p.before_grid AND d.x = c.x AND d.y = c.y AND d.z = c.z) "
     "SELECT kernel, x AS cta_x, y AS cta_y, z AS cta_z, 'warp ' || w.warp AS what, v.state AS state_before, "
     "w.state AS state_now, j.place AS before, i.place AS now FROM ctas JOIN warp w ON w.cta_id = ctas.id "
     "JOIN warp v ON v.cta_id = before_cta AND v.warp = w.warp LEFT JOIN site i ON i.id = w.site_id "
     "LEFT JOIN site j ON j.id = v.site_id "
     "WHERE v.state <> w.state OR i.pc IS NOT j.pc OR v.parity IS NOT w.parity UNION ALL "
     "SELECT kernel, x, y, z, coalesce(n.name, b.kind || ' ' || b.identifier) || coalesce('[' || b.stage || ']', ''), "
     "NULL, NULL, printf('%016x', a.word), printf('%016x', b.word) FROM ctas JOIN barrier b ON b.cta_id = ctas.id "
     "JOIN barrier a ON a.cta_id = before_cta AND a.kind = b.kind AND a.identifier IS b.identifier "
     "AND a.stage IS b.stage LEFT JOIN name n ON n.id = b.name_id WHERE a.word <> b.word",
     NULL},
    {"wakers", "Who may complete what is waited on, and can they still come there?",
     "For kernels that nobody instrumented: each instruction that may complete a barrier somebody waits on, and how "
     "the "
     "warps stand to it. `never`: gone, or past the last of them; `certain` 0: it may be another barrier.",
     /* Numbers are joined first and words put to what is left: a full chip has a hundred thousand such rows. */
     "WITH waited AS MATERIALIZED (SELECT DISTINCT c.grid_id, c.id AS cta_id, b.kind, b.identifier, b.stage, "
     "b.shared_offset, b.name_id, min(b.id) OVER (PARTITION BY c.grid_id, b.kind, b.identifier, b.stage) AS alike "
     "FROM stuck t JOIN warp w ON w.id = t.warp_id JOIN barrier b ON b.id = w.barrier_id JOIN cta c ON c.id = "
     "b.cta_id), "
     "act AS MATERIALIZED (SELECT a.*, min(a.id) OVER (PARTITION BY a.grid_id, a.kind, a.certain, i.place) AS alike "
     "FROM access a LEFT JOIN site i ON i.id = a.site_id), "
     "waker AS MATERIALIZED (SELECT w.cta_id, w.alike AS barrier, a.alike AS act, a.id AS access_id, a.any_rank "
     "FROM waited w JOIN act a ON a.grid_id = w.grid_id AND CASE w.kind WHEN 'mbarrier' THEN a.kind IN ('arrive', "
     "'arrive.expect_tx', 'complete_tx', 'arrive_drop', 'cp.async.mbarrier.arrive', 'TMA load') "
     "WHEN 'named barrier' THEN a.kind IN ('bar.sync', 'bar.arrive') "
     "WHEN 'cluster barrier' THEN a.kind = 'barrier.cluster.arrive' "
     "WHEN 'register pool' THEN a.kind IN ('setmaxnreg.dec', 'exit') ELSE 0 END "
     "AND (a.address IS NULL OR coalesce(w.shared_offset, w.identifier) IS NULL "
     "OR w.kind NOT IN ('mbarrier', 'named barrier') "
     "OR a.address = iif(w.kind = 'mbarrier', w.shared_offset, w.identifier) "
     "OR (w.kind = 'mbarrier' AND a.stride > 0 AND w.shared_offset > a.address "
     "AND (w.shared_offset - a.address) % a.stride = 0 "
     "AND (a.places = 0 OR (w.shared_offset - a.address) / a.stride < a.places)))), "
     "near AS MATERIALIZED (SELECT c.id AS cta_id, d.id AS other FROM cta c JOIN cta d ON d.grid_id = c.grid_id "
     "AND d.cluster_id = c.cluster_id), "
     "pair AS MATERIALIZED (SELECT DISTINCT k.barrier, k.act, r.warp_id, r.after FROM waker k "
     "JOIN near p ON p.cta_id = k.cta_id AND (k.any_rank OR p.other = k.cta_id) JOIN warp w ON w.cta_id = p.other "
     "JOIN reach r ON r.warp_id = w.id AND r.access_id = k.access_id), "
     "named AS MATERIALIZED (SELECT warp_id, warp, role, state FROM warp_named), "
     "tally AS MATERIALIZED (SELECT p.barrier, p.act, n.role, n.state, p.after, count(*) AS warps, min(n.warp) AS "
     "first "
     "FROM pair p JOIN named n ON n.warp_id = p.warp_id GROUP BY 1, 2, 3, 4, 5) "
     "SELECT coalesce(n.name, b.kind || coalesce(' ' || b.identifier, '')) AS barrier, b.stage, a.kind AS by, "
     "i.place AS at, a.certain, t.role, t.state, t.after AS comes_there, t.warps FROM tally t "
     "JOIN barrier b ON b.id = t.barrier LEFT JOIN name n ON n.id = b.name_id JOIN access a ON a.id = t.act "
     "LEFT JOIN site i ON i.id = a.site_id ORDER BY a.grid_id, 1, 2, 3, 4, 8, t.first",
     NULL},
    {"words", "What do the mbarriers' 64 bits say, and where in shared memory do they lie?",
     "To check the fields yourself, or against a debugger: docs/SCHEMA.md, barrier.word, says which bits are which.",
     "SELECT c.x AS cta_x, c.y AS cta_y, c.z AS cta_z, coalesce(n.name, 'mbarrier ' || b.identifier) AS barrier, "
     "b.stage, "
     "printf('0x%x', b.shared_offset) AS shared_offset, printf('%016x', b.word) AS word, b.phase, b.pending_arrivals, "
     "b.expected_arrivals, b.pending_tx_bytes FROM shown_snapshot s JOIN grid g ON g.snapshot_id = s.id "
     "JOIN cta c ON c.grid_id = g.id JOIN barrier b ON b.cta_id = c.id LEFT JOIN name n ON n.id = b.name_id "
     "WHERE b.word IS NOT NULL ORDER BY b.id",
     NULL},
    {"excerpts", "Which registers and memory were kept?",
     "To see the operands that a wait's address, parity or count came from.",
     "SELECT e.kind, c.x AS cta_x, c.y AS cta_y, c.z AS cta_z, w.warp, e.lane, "
     "CASE e.kind WHEN 'register' THEN 'R' || e.place WHEN 'uniform register' THEN 'UR' || e.place "
     "ELSE printf('0x%x', e.place) END AS place, printf('%08x', e.value) AS value FROM excerpt e "
     "JOIN shown_snapshot s ON s.id = e.snapshot_id LEFT JOIN warp w ON w.id = e.warp_id "
     "LEFT JOIN cta c ON c.id = coalesce(e.cta_id, w.cta_id) ORDER BY e.id",
     NULL},
    {"log", "What was said around the stall?",
     "To set the hang against the program's own output, which is there after `wsdbg run --tui`: from ten seconds "
     "before "
     "the stall was noticed (before the end, if there was none) to the end.",
     "SELECT (l.time_ns - s.started_ns) / 1e9 AS seconds, l.origin, l.text FROM log l JOIN session s "
     "WHERE l.time_ns >= coalesce(s.stalled_ns, s.ended_ns, (SELECT max(time_ns) FROM log)) - 10000000000 ORDER BY "
     "l.id",
     NULL},
    {"overlap", "Were wgmma still in flight when their warps began to wait for them?",
     "To confirm what `wsdbg lint` says of serialized wgmma: of kernels with probes, stages from the first issue "
     "recorded to the end of the wait for all. A round is an iteration, or a commit; about 1 round in flight is one "
     "group that overlaps, and close to 0 means that the tensor cores were done before anybody waited. Earlier waits "
     "are those in a stage that leave groups in flight. Without histories (no stall, and a run without --keep-history) "
     "there are no "
     "rows.",
     WSDBG_OVERLAP_SQL
     "SELECT f.name AS kernel, coalesce((SELECT name FROM name n WHERE n.module_id = g.module_id AND n.kind = 'role' "
     "AND n.identifier = o.role ORDER BY n.id LIMIT 1), 'role ' || o.role) AS role, o.warpgroup, o.stages, o.rounds, "
     "o.round_ns, o.wait_ns, round(o.in_flight, 2) AS rounds_in_flight, round(o.least, 2) AS least, round(o.most, 2) "
     "AS most, o.earlier_waits, o.earlier_wait_ns FROM overlap o JOIN grid g ON g.id = o.grid_id "
     "LEFT JOIN function f ON f.id = g.function_id ORDER BY o.grid_id, o.warpgroup, o.role",
     NULL},
    {"stages", "How long did warps wait for each stage of wgmma?",
     "To see which stages @overlap sums up: the table wgmma_stage, with names.",
     "SELECT n.kernel, n.cta_x, n.cta_y, n.cta_z, n.warp, n.role, t.issued_gpu_ns, t.wait_end_gpu_ns - t.issued_gpu_ns "
     "AS stage_ns, t.wait_end_gpu_ns - t.wait_begin_gpu_ns AS wait_ns, t.rounds, t.earlier_waits, t.earlier_wait_ns "
     "FROM wgmma_stage t JOIN warp_named n ON n.warp_id = t.warp_id ORDER BY t.warp_id, t.issued_gpu_ns",
     NULL},
    {"memory", "What memory did the program get, who else may write it, and which is polled?",
     "When warps poll a word: whose memory it is says who could still write it. `device`, `pitched` and `pool` are "
     "only "
     "this GPU's, unless they were exported or other devices (`peer_devices`, bit n is device n) were let in; `host` "
     "and "
     "`managed` any thread may write; of what was imported only its process knows.",
     "WITH polled AS MATERIALIZED (SELECT x.process_id, p.address, count(DISTINCT p.warp_id) AS warps FROM "
     "shown_snapshot "
     "s JOIN grid g ON g.snapshot_id = s.id JOIN context x ON x.id = g.context_id JOIN cta c ON c.grid_id = g.id "
     "JOIN warp w ON w.cta_id = c.id JOIN part p ON p.warp_id = w.id WHERE p.state = 'SPIN_GLOBAL' "
     "AND p.address IS NOT NULL GROUP BY 1, 2) "
     "SELECT a.process_id, a.call || ' #' || a.call_number AS made_by, a.kind, a.device_ordinal AS device, "
     "printf('0x%x', a.address) AS address, a.bytes, (s.time_ns - a.time_ns) / 1e9 AS seconds_ago, "
     "a.freed_ns IS NOT NULL AS freed, a.exported, a.host_access, a.peer_devices, "
     "(SELECT sum(warps) FROM polled WHERE polled.process_id = a.process_id AND polled.address >= a.address "
     "AND polled.address < a.address + coalesce(a.bytes, 1)) AS polling_warps "
     "FROM allocation a JOIN shown_snapshot s ON s.id = a.snapshot_id "
     "ORDER BY polling_warps IS NULL, a.freed_ns IS NOT NULL, a.process_id, a.number",
     NULL},
    {"work", "What was each context given to do, and is that done?",
     "To see whether another GPU may still write: `given_ago` says when it was last given a kernel, a graph, a copy, a "
     "memset or the like, `done_up_to` what was seen done.",
     "SELECT x.process_id, p.rank, x.device_ordinal AS device, x.alive, x.kernels, x.graphs, x.copies, x.memsets, "
     "x.others, "
     "(s.time_ns - nullif(x.given_ns, 0)) / 1e9 AS given_ago, (s.time_ns - x.done_given_ns) / 1e9 AS done_up_to "
     "FROM context x JOIN shown_snapshot s LEFT JOIN process p ON p.process_id = x.process_id ORDER BY x.id",
     NULL},
    {"threads", "Which host threads are blocked, in which call, since when?", "To find the call that never came back.",
     "SELECT t.process_id, p.rank, t.thread_id, t.call, (coalesce(m.seen_ns, s.time_ns) - t.since_ns) / 1e9 AS "
     "waiting_seconds, t.stream FROM host_thread t JOIN shown_snapshot s ON s.id = t.snapshot_id "
     "LEFT JOIN process p ON p.process_id = t.process_id LEFT JOIN member m ON m.snapshot_id = s.id "
     "AND m.process_id = t.process_id ORDER BY waiting_seconds DESC",
     NULL},
    {"host-stacks", "What does each host thread do: which frames, Python and native, innermost first?",
     "To see which line of the program waits, and what other threads do.  A row without a frame says why there is "
     "none.",
     "SELECT p.process_id, k.thread_id, k.name AS thread, k.motion, coalesce(t.call, k.system_call) AS call, "
     "f.position, f.kind, f.function, f.file, f.line, f.module, printf('0x%x', f.offset_bytes) AS offset, f.left_out, "
     "coalesce(k.ends, p.obstacle) AS obstacle "
     "FROM host_process p JOIN shown_snapshot s ON s.id = p.snapshot_id "
     "LEFT JOIN host_stack k ON k.host_process_id = p.id LEFT JOIN host_frame f ON f.host_stack_id = k.id "
     "LEFT JOIN host_thread t ON t.id = (SELECT min(id) FROM host_thread WHERE snapshot_id = s.id "
     "AND process_id = p.process_id AND thread_id = k.thread_id) ORDER BY p.id, k.id, f.position",
     NULL},
    {"launch-sites", "Which line of the program launched the kernel that hangs, or called NCCL?",
     "After a hang: `place` is the first frame of the program and its caller. Each of the `launches` may be the one "
     "that "
     "hangs; all have the same place. A row without a place says why. Table site_frame has all frames.",
     "SELECT l.process_id, p.rank, l.kind, coalesce(f.name, k.operation || coalesce(' #' || k.number, '')) AS subject, "
     "l.place, l.launches, n.sequence AS launch, a.name AS after_kernel, b.name AS before_kernel, l.thread_id, "
     "(s.time_ns - l.time_ns) / 1e9 AS seconds_before, l.ends FROM launch_site l "
     "JOIN shown_snapshot s ON s.id = l.snapshot_id LEFT JOIN process p ON p.process_id = l.process_id "
     "LEFT JOIN function f ON f.id = l.function_id LEFT JOIN function a ON a.id = l.before_id "
     "LEFT JOIN function b ON b.id = l.after_id LEFT JOIN collective k ON k.id = l.collective_id "
     "LEFT JOIN launch n ON n.id = l.launch_id ORDER BY p.rank IS NULL, p.rank, l.process_id, l.id",
     NULL},
    {"launches", "What was launched? (the newest 50)", "To see what led up to the stuck kernel, with its shapes.",
     "SELECT * FROM (SELECT l.process_id, p.rank, l.sequence, l.time_ns - s.started_ns AS after_start_ns, f.name AS "
     "kernel, "
     "l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y, l.block_z, l.cluster_x, l.cluster_y, l.cluster_z, "
     "l.dynamic_shared_bytes, f.registers, l.stream, l.thread_id, l.result FROM launch l JOIN session s "
     "LEFT JOIN function f ON f.id = l.function_id LEFT JOIN process p ON p.process_id = l.process_id "
     "ORDER BY l.time_ns DESC, l.sequence DESC LIMIT 50) "
     "ORDER BY after_start_ns, sequence",
     NULL},
    {"refused", "What did the driver refuse, and why?",
     "When a kernel never ran: launches, modules and attributes, each different one once.",
     "SELECT cause, times, call, result, subject, sentence, fix FROM refusal ORDER BY time_ns, id", NULL},
    {"kernels", "How often was each kernel launched?", "For an overview of a program that you do not know.",
     "SELECT f.name AS kernel, count(*) AS launches, f.registers, f.static_shared_bytes, f.local_bytes FROM launch l "
     "LEFT JOIN function f ON f.id = l.function_id GROUP BY l.function_id ORDER BY launches DESC",
     NULL},
    {"activity", "What ran on the GPU and how long? (observer cupti)",
     "After `wsdbg run --observer cupti`; empty otherwise.",
     "SELECT kind, name, count(*) AS count, sum(end_ns - start_ns) AS time_ns, sum(bytes) AS bytes FROM activity "
     "GROUP BY kind, name ORDER BY time_ns DESC",
     NULL},
    {"notes", "What could not be seen?", "Before you believe that something is not there.",
     "SELECT n.text FROM note n JOIN shown_snapshot s ON s.id = n.snapshot_id ORDER BY n.id", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
