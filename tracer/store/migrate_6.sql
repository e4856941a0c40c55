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
