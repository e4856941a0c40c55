-- The session database, schema version 1.  docs/SCHEMA.md says what every column means, its unit and its NULL.
-- A "snapshot" row is one picture of the device; at most two are kept: the newest one that was diagnosed and
-- the newest one.  Contexts, modules, functions, launches and activities belong to the whole session.
PRAGMA application_id = 0x57534442;
PRAGMA user_version = 1;

CREATE TABLE session (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    command TEXT, wsdbg_version TEXT, device TEXT, observer TEXT, evidence TEXT, hostname TEXT,
    started_unix_ns INTEGER NOT NULL, started_ns INTEGER NOT NULL, stall_seconds REAL NOT NULL,
    ended_ns INTEGER, exit_status INTEGER, hang INTEGER, outcome TEXT, stalled_ns INTEGER, verdict_ns INTEGER
);

CREATE TABLE snapshot (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    time_ns INTEGER NOT NULL, source TEXT, launches_total INTEGER NOT NULL, torn_events INTEGER NOT NULL,
    foreign_slots INTEGER NOT NULL, lost_rows INTEGER NOT NULL, progress_ns INTEGER,
    diagnosed INTEGER NOT NULL DEFAULT 0, hang INTEGER
);

CREATE TABLE process (process_id INTEGER PRIMARY KEY, first_seen_ns INTEGER NOT NULL);

CREATE TABLE context (
    id INTEGER PRIMARY KEY,
    process_id INTEGER NOT NULL REFERENCES process, "row" INTEGER NOT NULL, handle INTEGER NOT NULL,
    device_ordinal INTEGER NOT NULL, device_name TEXT, sm_count INTEGER, compute_capability INTEGER,
    alive INTEGER NOT NULL, error INTEGER, state_age_ns INTEGER, history_depth INTEGER NOT NULL, history_read INTEGER NOT NULL,
    gpu_now_ns INTEGER,
    UNIQUE (process_id, "row")
);

CREATE TABLE module (
    id INTEGER PRIMARY KEY,
    process_id INTEGER NOT NULL REFERENCES process, context_id INTEGER REFERENCES context,
    "row" INTEGER NOT NULL, probed INTEGER NOT NULL, image_bytes INTEGER, image_hash INTEGER, image_path TEXT,
    UNIQUE (process_id, "row")
);

CREATE TABLE name (
    id INTEGER PRIMARY KEY,
    module_id INTEGER NOT NULL REFERENCES module, position INTEGER NOT NULL, kind TEXT NOT NULL,
    identifier INTEGER NOT NULL, name TEXT NOT NULL, stages INTEGER, first_free INTEGER NOT NULL,
    arriving_roles INTEGER, waiting_roles INTEGER,
    UNIQUE (module_id, position)
);

CREATE TABLE function (
    id INTEGER PRIMARY KEY,
    process_id INTEGER NOT NULL REFERENCES process, "row" INTEGER NOT NULL, module_id INTEGER REFERENCES module,
    name TEXT NOT NULL, registers INTEGER, static_shared_bytes INTEGER, local_bytes INTEGER, max_threads INTEGER,
    binary_version INTEGER,
    UNIQUE (process_id, "row")
);

CREATE TABLE launch (
    id INTEGER PRIMARY KEY,
    process_id INTEGER NOT NULL REFERENCES process, sequence INTEGER NOT NULL, time_ns INTEGER NOT NULL,
    stream INTEGER NOT NULL, function_id INTEGER REFERENCES function, context_id INTEGER REFERENCES context,
    thread_id INTEGER NOT NULL,
    grid_x INTEGER NOT NULL, grid_y INTEGER NOT NULL, grid_z INTEGER NOT NULL,
    block_x INTEGER NOT NULL, block_y INTEGER NOT NULL, block_z INTEGER NOT NULL,
    cluster_x INTEGER, cluster_y INTEGER, cluster_z INTEGER,
    dynamic_shared_bytes INTEGER NOT NULL, flags INTEGER NOT NULL, result INTEGER NOT NULL,
    first_snapshot INTEGER NOT NULL, last_snapshot INTEGER NOT NULL,
    UNIQUE (process_id, sequence)
);

CREATE TABLE activity (
    id INTEGER PRIMARY KEY,
    process_id INTEGER NOT NULL REFERENCES process, kind TEXT NOT NULL, device_ordinal INTEGER NOT NULL,
    correlation INTEGER NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, stream INTEGER NOT NULL,
    bytes INTEGER, name TEXT, first_snapshot INTEGER NOT NULL, last_snapshot INTEGER NOT NULL,
    UNIQUE (process_id, kind, correlation, start_ns)
);

CREATE TABLE host_thread (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE,
    process_id INTEGER NOT NULL REFERENCES process, thread_id INTEGER NOT NULL,
    context_id INTEGER REFERENCES context, call TEXT NOT NULL, since_ns INTEGER NOT NULL, stream INTEGER
);
CREATE INDEX host_thread_snapshot ON host_thread (snapshot_id);

CREATE TABLE note (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE, text TEXT NOT NULL
);
CREATE INDEX note_snapshot ON note (snapshot_id);

CREATE TABLE grid (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE,
    context_id INTEGER REFERENCES context, hardware_grid_id INTEGER NOT NULL, module_id INTEGER REFERENCES module,
    launch_id INTEGER REFERENCES launch, function_id INTEGER REFERENCES function, cta_total INTEGER NOT NULL,
    warps_per_cta INTEGER NOT NULL, warps_live INTEGER NOT NULL, warps_exited INTEGER NOT NULL,
    running INTEGER NOT NULL
);
CREATE INDEX grid_snapshot ON grid (snapshot_id);

CREATE TABLE cta (
    id INTEGER PRIMARY KEY,
    grid_id INTEGER NOT NULL REFERENCES grid ON DELETE CASCADE,
    x INTEGER NOT NULL, y INTEGER NOT NULL, z INTEGER NOT NULL, cluster_id INTEGER NOT NULL,
    cluster_rank INTEGER NOT NULL, cluster_size INTEGER NOT NULL, sm INTEGER
);
CREATE INDEX cta_grid ON cta (grid_id);

CREATE TABLE barrier (
    id INTEGER PRIMARY KEY,
    cta_id INTEGER NOT NULL REFERENCES cta ON DELETE CASCADE, kind TEXT NOT NULL, identifier INTEGER, stage INTEGER,
    name_id INTEGER REFERENCES name, expected_arrivals INTEGER, phase INTEGER, pending_arrivals INTEGER,
    completed_phases INTEGER, pending_tx_bytes INTEGER, waiters INTEGER NOT NULL
);
CREATE INDEX barrier_cta ON barrier (cta_id);

CREATE TABLE event_kind (id INTEGER PRIMARY KEY, name TEXT NOT NULL);

CREATE TABLE warp (
    id INTEGER PRIMARY KEY,
    cta_id INTEGER NOT NULL REFERENCES cta ON DELETE CASCADE, warp INTEGER NOT NULL, state TEXT NOT NULL,
    role INTEGER, barrier_id INTEGER REFERENCES barrier, line INTEGER, lanes INTEGER, registers_held INTEGER,
    registers_asked INTEGER, changed_ns INTEGER, history_whole INTEGER NOT NULL,
    last_kind INTEGER REFERENCES event_kind, last_barrier INTEGER, last_stage INTEGER, last_parity INTEGER,
    last_iteration INTEGER, last_value INTEGER, last_gpu_time_ns INTEGER
);
CREATE INDEX warp_cta ON warp (cta_id);
CREATE INDEX warp_barrier ON warp (barrier_id);

CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    warp_id INTEGER NOT NULL REFERENCES warp ON DELETE CASCADE, kind INTEGER NOT NULL REFERENCES event_kind,
    barrier INTEGER, stage INTEGER, parity INTEGER, iteration INTEGER, value INTEGER, line INTEGER,
    gpu_time_ns INTEGER NOT NULL
);
CREATE INDEX event_warp ON event (warp_id);

CREATE TABLE finding (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE, cause TEXT NOT NULL, confidence TEXT NOT NULL,
    grid_id INTEGER REFERENCES grid, cta_id INTEGER REFERENCES cta, cta_count INTEGER NOT NULL, role INTEGER,
    barrier_id INTEGER REFERENCES barrier, sentence TEXT NOT NULL, fix TEXT
);
CREATE INDEX finding_snapshot ON finding (snapshot_id);
CREATE INDEX finding_grid ON finding (grid_id);
CREATE INDEX finding_cta ON finding (cta_id);
CREATE INDEX finding_barrier ON finding (barrier_id);

CREATE TABLE evidence (
    id INTEGER PRIMARY KEY,
    finding_id INTEGER NOT NULL REFERENCES finding ON DELETE CASCADE, kind TEXT NOT NULL,
    warp_id INTEGER REFERENCES warp, barrier_id INTEGER REFERENCES barrier, event_id INTEGER REFERENCES event,
    text TEXT NOT NULL
);
CREATE INDEX evidence_finding ON evidence (finding_id);
CREATE INDEX evidence_warp ON evidence (warp_id);
CREATE INDEX evidence_barrier ON evidence (barrier_id);
CREATE INDEX evidence_event ON evidence (event_id);

CREATE TABLE edge (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE,
    warp_id INTEGER NOT NULL REFERENCES warp, barrier_id INTEGER REFERENCES barrier,
    waker_warp_id INTEGER REFERENCES warp, in_cycle INTEGER NOT NULL, why TEXT
);
CREATE INDEX edge_snapshot ON edge (snapshot_id);
CREATE INDEX edge_warp ON edge (warp_id);
CREATE INDEX edge_barrier ON edge (barrier_id);
CREATE INDEX edge_waker ON edge (waker_warp_id);

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
    coalesce(b.stage, w.last_stage) AS stage, w.last_parity AS parity, w.last_iteration AS iteration,
    (s.time_ns - w.changed_ns) / 1e9 AS quiet_seconds, w.line AS line,
    w.registers_held AS registers_held, w.registers_asked AS registers_asked,
    k.name AS last_event, x.gpu_now_ns - w.last_gpu_time_ns AS last_event_age_ns,
    s.time_ns - w.changed_ns AS quiet_ns
FROM shown_snapshot s
JOIN grid g ON g.snapshot_id = s.id
JOIN cta c ON c.grid_id = g.id
JOIN warp w ON w.cta_id = c.id
LEFT JOIN context x ON x.id = g.context_id
LEFT JOIN function f ON f.id = g.function_id
LEFT JOIN barrier b ON b.id = w.barrier_id
LEFT JOIN name n ON n.id = b.name_id
LEFT JOIN name r ON r.id = (SELECT min(id) FROM name WHERE module_id = g.module_id AND kind = 'role' AND identifier = w.role)
LEFT JOIN event_kind k ON k.id = w.last_kind;

CREATE VIEW stuck AS
SELECT warp_id, grid_id, kernel, cta_x, cta_y, cta_z, warp, role, state, barrier, stage, parity, iteration,
    quiet_seconds AS waiting_seconds, line, registers_held, registers_asked
FROM warp_named
WHERE state LIKE 'WAIT\_%' ESCAPE '\' OR state IN ('SPIN_GLOBAL', 'RECONVERGE');

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

CREATE VIEW timeline AS
SELECT v.gpu_time_ns AS gpu_time_ns, x.gpu_now_ns - v.gpu_time_ns AS before_now_ns, g.id AS grid_id, c.x AS cta_x, c.y AS cta_y,
    c.z AS cta_z, w.warp AS warp, coalesce(r.name, 'role ' || w.role) AS role, k.name AS event,
    coalesce(n.name, v.barrier) AS barrier, v.stage AS stage, v.parity AS parity, v.iteration AS iteration,
    v.value AS value, v.line AS line, v.id AS event_id
FROM shown_snapshot s
JOIN grid g ON g.snapshot_id = s.id
JOIN cta c ON c.grid_id = g.id
JOIN warp w ON w.cta_id = c.id
JOIN event v ON v.warp_id = w.id
JOIN event_kind k ON k.id = v.kind
LEFT JOIN context x ON x.id = g.context_id
LEFT JOIN name r ON r.id = (SELECT min(id) FROM name WHERE module_id = g.module_id AND kind = 'role' AND identifier = w.role)
LEFT JOIN name n ON n.id = (SELECT min(id) FROM name WHERE module_id = g.module_id AND identifier = v.barrier
    AND kind = CASE WHEN k.name LIKE 'named%' THEN 'named barrier' WHEN k.name = 'user mark' THEN 'mark' ELSE 'mbarrier' END)
ORDER BY v.gpu_time_ns, v.id;
