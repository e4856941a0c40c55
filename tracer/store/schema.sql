-- The tables of the session database, schema version 11; views.sql has the views.  docs/SCHEMA.md says what every
-- column means, its unit and its NULL.
-- A "snapshot" row is one picture of the device; kept are the newest one that was diagnosed, what the look before it
-- saw, and the newest one.  Contexts, modules, functions, launches, refusals and activities belong to the whole session.
PRAGMA user_version = 11;

CREATE TABLE session (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    command TEXT, wsdbg_version TEXT, device TEXT, observer TEXT, evidence TEXT, hostname TEXT,
    started_unix_ns INTEGER NOT NULL, started_ns INTEGER NOT NULL, stall_seconds REAL NOT NULL,
    ended_ns INTEGER, exit_status INTEGER, hang INTEGER, outcome TEXT, stalled_ns INTEGER, verdict_ns INTEGER,
    stall_proven INTEGER
);

CREATE TABLE snapshot (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    time_ns INTEGER NOT NULL, source TEXT, launches_total INTEGER NOT NULL, torn_events INTEGER NOT NULL,
    foreign_slots INTEGER NOT NULL, lost_rows INTEGER NOT NULL, progress_ns INTEGER,
    diagnosed INTEGER NOT NULL DEFAULT 0, hang INTEGER, names_inferred INTEGER NOT NULL DEFAULT 0, before_id INTEGER
);

-- The databases that `wsdbg merge` joined; a run writes none.
CREATE TABLE node (
    id INTEGER PRIMARY KEY,
    database TEXT NOT NULL, hostname TEXT, command TEXT, wsdbg_version TEXT, device TEXT, observer TEXT, evidence TEXT,
    started_unix_ns INTEGER NOT NULL, started_ns INTEGER NOT NULL, stall_seconds REAL NOT NULL, ended_ns INTEGER,
    exit_status INTEGER, hang INTEGER, outcome TEXT, stalled_ns INTEGER, verdict_ns INTEGER, shift_ns INTEGER NOT NULL,
    stall_proven INTEGER
);

CREATE TABLE process (
    process_id INTEGER PRIMARY KEY, first_seen_ns INTEGER NOT NULL,
    pid INTEGER, node_id INTEGER REFERENCES node, hostname TEXT, rank INTEGER, local_rank INTEGER, world_size INTEGER,
    rank_from TEXT, job TEXT, ended INTEGER, exit_status INTEGER, signal INTEGER
);

CREATE TABLE context (
    id INTEGER PRIMARY KEY,
    process_id INTEGER NOT NULL REFERENCES process, "row" INTEGER NOT NULL, handle INTEGER NOT NULL,
    device_ordinal INTEGER NOT NULL, device_name TEXT, sm_count INTEGER, compute_capability INTEGER,
    alive INTEGER NOT NULL, error INTEGER, state_age_ns INTEGER, history_depth INTEGER NOT NULL, history_read INTEGER NOT NULL,
    gpu_now_ns INTEGER, given_ns INTEGER, done_given_ns INTEGER, kernels INTEGER, graphs INTEGER, copies INTEGER,
    memsets INTEGER, others INTEGER, ring TEXT,
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
    arriving_roles INTEGER, waiting_roles INTEGER, inferred INTEGER,
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

-- Launches, modules and attributes that the driver refused.
CREATE TABLE refusal (
    id INTEGER PRIMARY KEY,
    process_id INTEGER NOT NULL REFERENCES process, number INTEGER NOT NULL, time_ns INTEGER NOT NULL,
    times INTEGER NOT NULL, call TEXT NOT NULL, result INTEGER NOT NULL, cause TEXT NOT NULL, kernel TEXT,
    subject TEXT NOT NULL, sentence TEXT NOT NULL, fix TEXT,
    UNIQUE (process_id, number)
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

-- What a process's threads did, read from outside: the process, its threads that matter, their frames, innermost first.
CREATE TABLE host_process (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE,
    process_id INTEGER NOT NULL REFERENCES process, threads INTEGER, python TEXT, obstacle TEXT,
    read_ns INTEGER NOT NULL
);
CREATE INDEX host_process_snapshot ON host_process (snapshot_id);

CREATE TABLE host_stack (
    id INTEGER PRIMARY KEY,
    host_process_id INTEGER NOT NULL REFERENCES host_process ON DELETE CASCADE, thread_id INTEGER NOT NULL, name TEXT,
    motion TEXT, system_call TEXT, ends TEXT
);
CREATE INDEX host_stack_process ON host_stack (host_process_id);

CREATE TABLE host_frame (
    id INTEGER PRIMARY KEY,
    host_stack_id INTEGER NOT NULL REFERENCES host_stack ON DELETE CASCADE, position INTEGER NOT NULL,
    kind TEXT NOT NULL, function TEXT, file TEXT, line INTEGER, module TEXT, offset_bytes INTEGER, left_out INTEGER
);
CREATE INDEX host_frame_stack ON host_frame (host_stack_id);

-- Memory that processes got from the driver.
CREATE TABLE allocation (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE,
    process_id INTEGER NOT NULL REFERENCES process, number INTEGER NOT NULL, context_id INTEGER REFERENCES context,
    kind TEXT, device_ordinal INTEGER, address INTEGER NOT NULL, bytes INTEGER, call TEXT NOT NULL,
    call_number INTEGER NOT NULL, time_ns INTEGER NOT NULL, freed_ns INTEGER, peer_devices INTEGER NOT NULL,
    exported INTEGER NOT NULL, host_access INTEGER NOT NULL
);
CREATE INDEX allocation_snapshot ON allocation (snapshot_id);

-- Communicators of NCCL, and the newest calls on each.
CREATE TABLE communicator (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE,
    process_id INTEGER NOT NULL REFERENCES process, number INTEGER NOT NULL, context_id INTEGER REFERENCES context,
    identity TEXT, rank INTEGER, rank_count INTEGER, device_ordinal INTEGER, made_by TEXT NOT NULL,
    began_ns INTEGER NOT NULL, ready_ns INTEGER, closed_ns INTEGER, state TEXT NOT NULL, error INTEGER,
    calls INTEGER NOT NULL, collectives INTEGER NOT NULL
);
CREATE INDEX communicator_snapshot ON communicator (snapshot_id);

CREATE TABLE collective (
    id INTEGER PRIMARY KEY,
    communicator_id INTEGER NOT NULL REFERENCES communicator ON DELETE CASCADE, call INTEGER NOT NULL, number INTEGER,
    operation TEXT, count INTEGER NOT NULL, datatype TEXT, reduction TEXT, peer INTEGER, stream INTEGER NOT NULL,
    thread_id INTEGER NOT NULL, launch_id INTEGER REFERENCES launch, time_ns INTEGER NOT NULL, issued_ns INTEGER,
    done INTEGER, captured INTEGER NOT NULL, grouped INTEGER NOT NULL, refused INTEGER NOT NULL
);
CREATE INDEX collective_communicator ON collective (communicator_id);
CREATE INDEX collective_launch ON collective (launch_id);

CREATE TABLE launch_site (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE,
    process_id INTEGER NOT NULL REFERENCES process, thread_id INTEGER, kind TEXT NOT NULL,
    grid_id INTEGER REFERENCES grid, collective_id INTEGER REFERENCES collective, launch_id INTEGER REFERENCES launch,
    launches INTEGER, function_id INTEGER REFERENCES function, before_id INTEGER REFERENCES function,
    after_id INTEGER REFERENCES function, time_ns INTEGER, place TEXT, ends TEXT
);
CREATE INDEX launch_site_snapshot ON launch_site (snapshot_id);
CREATE INDEX launch_site_grid ON launch_site (grid_id);
CREATE INDEX launch_site_collective ON launch_site (collective_id);
CREATE INDEX launch_site_launch ON launch_site (launch_id);

CREATE TABLE site_frame (
    id INTEGER PRIMARY KEY,
    launch_site_id INTEGER NOT NULL REFERENCES launch_site ON DELETE CASCADE, position INTEGER NOT NULL,
    kind TEXT NOT NULL, function TEXT, file TEXT, line INTEGER, module TEXT, offset_bytes INTEGER, left_out INTEGER
);
CREATE INDEX site_frame_site ON site_frame (launch_site_id);

CREATE TABLE note (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE, text TEXT NOT NULL
);
CREATE INDEX note_snapshot ON note (snapshot_id);

CREATE TABLE grid (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE,
    context_id INTEGER REFERENCES context, hardware_grid_id INTEGER NOT NULL, module_id INTEGER REFERENCES module,
    launch_id INTEGER REFERENCES launch, function_id INTEGER REFERENCES function, cta_total INTEGER,
    warps_per_cta INTEGER NOT NULL, warps_live INTEGER NOT NULL, warps_exited INTEGER NOT NULL,
    running INTEGER NOT NULL
);
CREATE INDEX grid_snapshot ON grid (snapshot_id);

-- What each process that uses CUDA does.
CREATE TABLE member (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE,
    process_id INTEGER NOT NULL REFERENCES process, state TEXT NOT NULL, grid_id INTEGER REFERENCES grid, call TEXT,
    since_ns INTEGER, polls_peers INTEGER NOT NULL, blame TEXT, seen_ns INTEGER,
    UNIQUE (snapshot_id, process_id)
);
CREATE INDEX member_grid ON member (grid_id);

CREATE TABLE cta (
    id INTEGER PRIMARY KEY,
    grid_id INTEGER NOT NULL REFERENCES grid ON DELETE CASCADE,
    x INTEGER NOT NULL, y INTEGER NOT NULL, z INTEGER NOT NULL, cluster_id INTEGER NOT NULL,
    cluster_rank INTEGER NOT NULL, cluster_size INTEGER NOT NULL, sm INTEGER
);
CREATE INDEX cta_grid ON cta (grid_id);

-- A place in a kernel's code.  `place` is `file` and `line`, or the function and the offset, short enough for a table.
CREATE TABLE site (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE,
    function_id INTEGER REFERENCES function, pc INTEGER NOT NULL, offset_bytes INTEGER, instruction TEXT, file TEXT,
    line INTEGER, inlined_at INTEGER REFERENCES site DEFERRABLE INITIALLY DEFERRED, place TEXT
);
CREATE INDEX site_snapshot ON site (snapshot_id);
CREATE INDEX site_inlined_at ON site (inlined_at);

CREATE TABLE barrier (
    id INTEGER PRIMARY KEY,
    cta_id INTEGER NOT NULL REFERENCES cta ON DELETE CASCADE, kind TEXT NOT NULL, identifier INTEGER, stage INTEGER,
    name_id INTEGER REFERENCES name, expected_arrivals INTEGER, phase INTEGER, pending_arrivals INTEGER,
    completed_phases INTEGER, pending_tx_bytes INTEGER, waiters INTEGER NOT NULL, shared_offset INTEGER, word INTEGER
);
CREATE INDEX barrier_cta ON barrier (cta_id);

CREATE TABLE event_kind (id INTEGER PRIMARY KEY, name TEXT NOT NULL);

CREATE TABLE warp (
    id INTEGER PRIMARY KEY,
    cta_id INTEGER NOT NULL REFERENCES cta ON DELETE CASCADE, warp INTEGER NOT NULL, state TEXT NOT NULL,
    role INTEGER, barrier_id INTEGER REFERENCES barrier, line INTEGER, lanes INTEGER, registers_held INTEGER,
    registers_asked INTEGER, changed_ns INTEGER, history_whole INTEGER NOT NULL,
    last_kind INTEGER REFERENCES event_kind, last_barrier INTEGER, last_stage INTEGER, last_parity INTEGER,
    last_iteration INTEGER, last_value INTEGER, last_gpu_time_ns INTEGER,
    event_first INTEGER, event_count INTEGER NOT NULL DEFAULT 0, site_id INTEGER REFERENCES site, parity INTEGER
);
CREATE INDEX warp_cta ON warp (cta_id);
CREATE INDEX warp_barrier ON warp (barrier_id);
CREATE INDEX warp_site ON warp (site_id);

-- The lanes of a warp that stand at one place.
CREATE TABLE part (
    id INTEGER PRIMARY KEY,
    warp_id INTEGER NOT NULL REFERENCES warp ON DELETE CASCADE, lanes INTEGER NOT NULL, state TEXT NOT NULL,
    site_id INTEGER REFERENCES site, barrier_id INTEGER REFERENCES barrier, parity INTEGER, count INTEGER,
    address INTEGER, width_bytes INTEGER, value INTEGER, seen INTEGER NOT NULL
);
CREATE INDEX part_warp ON part (warp_id);
CREATE INDEX part_site ON part (site_id);
CREATE INDEX part_barrier ON part (barrier_id);

-- An instruction that waits for a barrier or may complete one.
CREATE TABLE access (
    id INTEGER PRIMARY KEY,
    grid_id INTEGER NOT NULL REFERENCES grid ON DELETE CASCADE, site_id INTEGER REFERENCES site, kind TEXT NOT NULL,
    certain INTEGER NOT NULL, any_rank INTEGER NOT NULL, lanes TEXT, address INTEGER, stride INTEGER NOT NULL,
    places INTEGER NOT NULL, count INTEGER
);
CREATE INDEX access_grid ON access (grid_id);
CREATE INDEX access_site ON access (site_id);

-- Whether a warp came by an access and can still reach it.  One row a warp and access, so a reference that SQLite
-- checks would cost more than the rows; the writer keeps it.
CREATE TABLE reach (
    warp_id INTEGER NOT NULL REFERENCES warp ON DELETE CASCADE, access_id INTEGER NOT NULL,
    before_least INTEGER, before_most INTEGER, after TEXT NOT NULL,
    PRIMARY KEY (warp_id, access_id)
) WITHOUT ROWID;

-- Registers and memory as they were, one row a word.
CREATE TABLE excerpt (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE, kind TEXT NOT NULL,
    cta_id INTEGER REFERENCES cta, warp_id INTEGER REFERENCES warp, lane INTEGER, place INTEGER NOT NULL,
    value INTEGER NOT NULL
);
CREATE INDEX excerpt_snapshot ON excerpt (snapshot_id);
CREATE INDEX excerpt_cta ON excerpt (cta_id);
CREATE INDEX excerpt_warp ON excerpt (warp_id);

-- One look at the GPU that stopped it, of those a picture rests on.
CREATE TABLE look (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE, time_ns INTEGER, attach_ns INTEGER,
    suspend_ns INTEGER, read_ns INTEGER, resume_ns INTEGER, detach_ns INTEGER, warps INTEGER NOT NULL,
    warps_read INTEGER NOT NULL, moved INTEGER, barriers_changed INTEGER, held_nothing_back INTEGER
);
CREATE INDEX look_snapshot ON look (snapshot_id);

-- There may be ten million of them.  A warp's events have consecutive ids, so the warp says where they lie and no
-- index is needed; the references are kept by the writer, as checking them would cost more than the rows.
CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    warp_id INTEGER NOT NULL, kind INTEGER,
    barrier INTEGER, stage INTEGER, parity INTEGER, iteration INTEGER, value INTEGER, line INTEGER,
    gpu_time_ns INTEGER NOT NULL
);
CREATE TRIGGER warp_events AFTER DELETE ON warp WHEN old.event_count > 0 BEGIN
    DELETE FROM event WHERE id >= old.event_first AND id < old.event_first + old.event_count;
END;

CREATE TABLE finding (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE, cause TEXT NOT NULL, confidence TEXT NOT NULL,
    grid_id INTEGER REFERENCES grid, cta_id INTEGER REFERENCES cta, cta_count INTEGER NOT NULL, role INTEGER,
    barrier_id INTEGER REFERENCES barrier, sentence TEXT NOT NULL, fix TEXT, process_id INTEGER REFERENCES process
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

-- Lines are numbered from 1 without gaps.
CREATE TABLE log (
    id INTEGER PRIMARY KEY,
    time_ns INTEGER NOT NULL, origin TEXT NOT NULL, text TEXT NOT NULL
);

CREATE TABLE source_file (
    id INTEGER PRIMARY KEY,
    module_id INTEGER NOT NULL UNIQUE REFERENCES module, path TEXT, text TEXT, text_missing TEXT, ptx TEXT,
    ptx_missing TEXT
);

-- The machine code around the places where warps stand.
CREATE TABLE code (
    id INTEGER PRIMARY KEY,
    function_id INTEGER NOT NULL REFERENCES function, offset_bytes INTEGER NOT NULL, text TEXT, file TEXT, line INTEGER,
    UNIQUE (function_id, offset_bytes)
);
