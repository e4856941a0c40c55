-- From schema version 6 to 7.  The views are made anew afterwards, from views.sql.
DROP VIEW IF EXISTS shown_snapshot;
DROP VIEW IF EXISTS warp_named;
DROP VIEW IF EXISTS stuck;
DROP VIEW IF EXISTS waits;
DROP VIEW IF EXISTS cycle;
DROP VIEW IF EXISTS event_named;
DROP VIEW IF EXISTS timeline;
DROP VIEW IF EXISTS wait;
DROP VIEW IF EXISTS part_named;

CREATE TABLE node (
    id INTEGER PRIMARY KEY,
    database TEXT NOT NULL, hostname TEXT, command TEXT, wsdbg_version TEXT, device TEXT, observer TEXT, evidence TEXT,
    started_unix_ns INTEGER NOT NULL, started_ns INTEGER NOT NULL, stall_seconds REAL NOT NULL, ended_ns INTEGER,
    exit_status INTEGER, hang INTEGER, outcome TEXT, stalled_ns INTEGER, verdict_ns INTEGER, shift_ns INTEGER NOT NULL
);

CREATE TABLE member (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE,
    process_id INTEGER NOT NULL REFERENCES process, state TEXT NOT NULL, grid_id INTEGER REFERENCES grid, call TEXT,
    since_ns INTEGER, polls_peers INTEGER NOT NULL, blame TEXT, seen_ns INTEGER,
    UNIQUE (snapshot_id, process_id)
);
CREATE INDEX member_grid ON member (grid_id);

ALTER TABLE process ADD COLUMN pid INTEGER;
ALTER TABLE process ADD COLUMN node_id INTEGER REFERENCES node;
ALTER TABLE process ADD COLUMN hostname TEXT;
ALTER TABLE process ADD COLUMN rank INTEGER;
ALTER TABLE process ADD COLUMN local_rank INTEGER;
ALTER TABLE process ADD COLUMN world_size INTEGER;
ALTER TABLE process ADD COLUMN rank_from TEXT;
ALTER TABLE process ADD COLUMN job TEXT;
ALTER TABLE process ADD COLUMN ended INTEGER;
ALTER TABLE process ADD COLUMN exit_status INTEGER;
ALTER TABLE process ADD COLUMN signal INTEGER;
UPDATE process SET pid = process_id, hostname = (SELECT hostname FROM session);

ALTER TABLE finding ADD COLUMN process_id INTEGER REFERENCES process;
UPDATE finding SET process_id = (SELECT x.process_id FROM grid g JOIN context x ON x.id = g.context_id
    WHERE g.id = finding.grid_id);

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
