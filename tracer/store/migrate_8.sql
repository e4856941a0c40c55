-- From schema version 8 to 9.  The views are made anew afterwards, from views.sql.
DROP VIEW IF EXISTS shown_snapshot;
DROP VIEW IF EXISTS warp_named;
DROP VIEW IF EXISTS stuck;
DROP VIEW IF EXISTS waits;
DROP VIEW IF EXISTS cycle;
DROP VIEW IF EXISTS event_named;
DROP VIEW IF EXISTS timeline;
DROP VIEW IF EXISTS wait;
DROP VIEW IF EXISTS part_named;

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
