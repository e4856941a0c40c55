-- The views of the session database: names in place of ids.  docs/SCHEMA.md describes every column.
-- The picture that the report and the views show: the newest diagnosed one, else the newest one.
CREATE VIEW shown_snapshot AS
SELECT * FROM snapshot WHERE id = coalesce((SELECT max(id) FROM snapshot WHERE diagnosed), (SELECT max(id) FROM snapshot));

-- Every warp of the shown picture with the names of what it is and waits for.
CREATE VIEW warp_named AS
SELECT w.id AS warp_id, g.id AS grid_id, f.name AS kernel, c.id AS cta_id, c.x AS cta_x, c.y AS cta_y, c.z AS cta_z,
    w.warp AS warp, coalesce(r.name, 'role ' || w.role) AS role, w.state AS state,
    CASE WHEN b.kind = 'mbarrier' THEN coalesce(n.name, 'mbarrier ' || b.identifier)
         WHEN b.kind = 'named barrier' THEN coalesce(n.name, 'named barrier ' || b.identifier)
         ELSE b.kind END AS barrier,
    coalesce(b.stage, w.last_stage) AS stage, coalesce(w.parity, w.last_parity) AS parity, w.last_iteration AS iteration,
    (coalesce(m.seen_ns, s.time_ns) - w.changed_ns) / 1e9 AS quiet_seconds, w.line AS line,
    w.registers_held AS registers_held, w.registers_asked AS registers_asked,
    k.name AS last_event, x.gpu_now_ns - w.last_gpu_time_ns AS last_event_age_ns,
    coalesce(m.seen_ns, s.time_ns) - w.changed_ns AS quiet_ns, i.place AS place, i.instruction AS instruction
FROM shown_snapshot s
JOIN grid g ON g.snapshot_id = s.id
JOIN cta c ON c.grid_id = g.id
JOIN warp w ON w.cta_id = c.id
LEFT JOIN context x ON x.id = g.context_id
LEFT JOIN member m ON m.snapshot_id = s.id AND m.process_id = x.process_id
LEFT JOIN function f ON f.id = g.function_id
LEFT JOIN barrier b ON b.id = w.barrier_id
LEFT JOIN name n ON n.id = b.name_id
LEFT JOIN name r ON r.id = (SELECT min(id) FROM name WHERE module_id = g.module_id AND kind = 'role' AND identifier = w.role)
LEFT JOIN event_kind k ON k.id = w.last_kind
LEFT JOIN site i ON i.id = w.site_id;

CREATE VIEW stuck AS
SELECT warp_id, grid_id, kernel, cta_x, cta_y, cta_z, warp, role, state, barrier, stage, parity, iteration,
    quiet_seconds AS waiting_seconds, line, registers_held, registers_asked, place
FROM warp_named
WHERE state NOT IN ('RUNNING', 'EXITED', 'UNKNOWN');

CREATE VIEW waits AS
SELECT grid_id, role, state, barrier, count(*) AS warps, count(DISTINCT cta_id) AS ctas,
    min(waiting_seconds) AS waiting_seconds_min, max(waiting_seconds) AS waiting_seconds_max
FROM (SELECT s.*, w.cta_id FROM stuck s JOIN warp w ON w.id = s.warp_id)
GROUP BY grid_id, role, state, barrier;

CREATE VIEW cycle AS
SELECT e.id AS edge_id, a.cta_x AS cta_x, a.cta_y AS cta_y, a.cta_z AS cta_z, a.warp AS waiter_warp, a.role AS waiter_role,
    a.barrier AS barrier, a.stage AS stage, a.parity AS parity, b.warp AS waker_warp, b.role AS waker_role,
    b.state AS waker_state, e.why AS why
FROM edge e
JOIN shown_snapshot s ON s.id = e.snapshot_id
JOIN warp_named a ON a.warp_id = e.warp_id
LEFT JOIN warp_named b ON b.warp_id = e.waker_warp_id
WHERE e.in_cycle;

-- The events of the shown picture with names.
CREATE VIEW event_named AS
SELECT v.id AS event_id, w.id AS warp_id, g.id AS grid_id, f.name AS kernel, c.x AS cta_x, c.y AS cta_y, c.z AS cta_z,
    w.warp AS warp, coalesce(r.name, 'role ' || w.role) AS role, v.kind AS kind, k.name AS event,
    coalesce(n.name, v.barrier) AS barrier, v.stage AS stage, v.parity AS parity, v.iteration AS iteration,
    v.value AS value, v.line AS line, v.gpu_time_ns AS gpu_time_ns, x.gpu_now_ns - v.gpu_time_ns AS before_now_ns
FROM shown_snapshot s
JOIN grid g ON g.snapshot_id = s.id
JOIN cta c ON c.grid_id = g.id
JOIN warp w ON w.cta_id = c.id
-- The same said twice: whichever of warp and event is at hand leads to the other without a search.
JOIN event v ON v.warp_id = w.id AND v.id >= w.event_first AND v.id < w.event_first + w.event_count
LEFT JOIN event_kind k ON k.id = v.kind
LEFT JOIN context x ON x.id = g.context_id
LEFT JOIN function f ON f.id = g.function_id
LEFT JOIN name r ON r.id = (SELECT min(id) FROM name WHERE module_id = g.module_id AND kind = 'role' AND identifier = w.role)
LEFT JOIN name n ON n.id = (SELECT min(id) FROM name WHERE module_id = g.module_id AND identifier = v.barrier
    AND kind = CASE WHEN k.name LIKE 'named%' THEN 'named barrier' WHEN k.name = 'user mark' THEN 'mark'
        WHEN k.name LIKE 'poll%' THEN 'none' ELSE 'mbarrier' END);

CREATE VIEW timeline AS
SELECT gpu_time_ns, before_now_ns, grid_id, cta_x, cta_y, cta_z, warp, role, event, barrier, stage, parity, iteration,
    value, line, event_id
FROM event_named
ORDER BY gpu_time_ns, event_id;

-- One row a wait that did not end at the first look.  A wait leaves no event at its end where nothing is to be told,
-- but the warp's next event shows that it is over.
CREATE VIEW wait AS
SELECT b.event_id AS event_id, b.warp_id AS warp_id, b.grid_id AS grid_id, b.kernel AS kernel, b.cta_x AS cta_x,
    b.cta_y AS cta_y, b.cta_z AS cta_z, b.warp AS warp, b.role AS role, b.event AS event, b.barrier AS barrier,
    b.stage AS stage, b.parity AS parity, b.iteration AS iteration, b.line AS line, b.gpu_time_ns AS begin_gpu_ns,
    e.gpu_time_ns AS next_gpu_ns, e.gpu_time_ns - b.gpu_time_ns AS at_most_ns
FROM event_named b
LEFT JOIN event e ON e.id = b.event_id + 1 AND e.warp_id = b.warp_id
WHERE b.kind IN (3, 7, 15, 19, 22, 25, 27); -- wsdbg/ring.h: register request, and what ends in WAIT_BEGIN or SYNC_BEGIN

-- Every part of a warp of the shown picture, with names; a warp whose lanes stand together has one.
CREATE VIEW part_named AS
SELECT p.id AS part_id, n.warp_id AS warp_id, n.grid_id AS grid_id, n.kernel AS kernel, n.cta_id AS cta_id,
    n.cta_x AS cta_x, n.cta_y AS cta_y, n.cta_z AS cta_z, n.warp AS warp, n.role AS role,
    printf('%08x', p.lanes) AS lanes, p.state AS state, i.place AS place, i.instruction AS instruction,
    CASE WHEN b.kind IN ('mbarrier', 'named barrier') THEN coalesce(m.name, b.kind || ' ' || b.identifier)
         ELSE b.kind END AS barrier,
    b.stage AS stage, p.parity AS parity, p.count AS count, iif(p.address IS NULL, NULL, printf('0x%x', p.address)) AS address,
    p.width_bytes AS width_bytes, p.value AS value, p.seen AS seen
FROM warp_named n
JOIN part p ON p.warp_id = n.warp_id
LEFT JOIN site i ON i.id = p.site_id
LEFT JOIN barrier b ON b.id = p.barrier_id
LEFT JOIN name m ON m.id = b.name_id;
