-- From schema version 3 to 4.  The views are made anew afterwards, from views.sql.
DROP VIEW IF EXISTS shown_snapshot;
DROP VIEW IF EXISTS warp_named;
DROP VIEW IF EXISTS stuck;
DROP VIEW IF EXISTS waits;
DROP VIEW IF EXISTS cycle;
DROP VIEW IF EXISTS event_named;
DROP VIEW IF EXISTS timeline;
DROP VIEW IF EXISTS wait;

CREATE TABLE site (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE,
    function_id INTEGER REFERENCES function, pc INTEGER NOT NULL, offset_bytes INTEGER, instruction TEXT, file TEXT,
    line INTEGER, inlined_at INTEGER REFERENCES site DEFERRABLE INITIALLY DEFERRED, place TEXT
);
CREATE INDEX site_snapshot ON site (snapshot_id);
CREATE INDEX site_inlined_at ON site (inlined_at);

ALTER TABLE snapshot ADD COLUMN names_inferred INTEGER NOT NULL DEFAULT 0;
ALTER TABLE snapshot ADD COLUMN before_id INTEGER;
ALTER TABLE barrier ADD COLUMN shared_offset INTEGER;
ALTER TABLE barrier ADD COLUMN word INTEGER;
ALTER TABLE warp ADD COLUMN site_id INTEGER REFERENCES site;
ALTER TABLE warp ADD COLUMN parity INTEGER;
CREATE INDEX warp_site ON warp (site_id);

CREATE TABLE part (
    id INTEGER PRIMARY KEY,
    warp_id INTEGER NOT NULL REFERENCES warp ON DELETE CASCADE, lanes INTEGER NOT NULL, state TEXT NOT NULL,
    site_id INTEGER REFERENCES site, barrier_id INTEGER REFERENCES barrier, parity INTEGER, count INTEGER,
    address INTEGER, width_bytes INTEGER, value INTEGER, seen INTEGER NOT NULL
);
CREATE INDEX part_warp ON part (warp_id);
CREATE INDEX part_site ON part (site_id);
CREATE INDEX part_barrier ON part (barrier_id);

CREATE TABLE access (
    id INTEGER PRIMARY KEY,
    grid_id INTEGER NOT NULL REFERENCES grid ON DELETE CASCADE, site_id INTEGER REFERENCES site, kind TEXT NOT NULL,
    certain INTEGER NOT NULL, any_rank INTEGER NOT NULL, lanes TEXT, address INTEGER, stride INTEGER NOT NULL,
    places INTEGER NOT NULL, count INTEGER
);
CREATE INDEX access_grid ON access (grid_id);
CREATE INDEX access_site ON access (site_id);

CREATE TABLE reach (
    warp_id INTEGER NOT NULL REFERENCES warp ON DELETE CASCADE, access_id INTEGER NOT NULL,
    before_least INTEGER, before_most INTEGER, after TEXT NOT NULL,
    PRIMARY KEY (warp_id, access_id)
) WITHOUT ROWID;

CREATE TABLE excerpt (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE, kind TEXT NOT NULL,
    cta_id INTEGER REFERENCES cta, warp_id INTEGER REFERENCES warp, lane INTEGER, place INTEGER NOT NULL,
    value INTEGER NOT NULL
);
CREATE INDEX excerpt_snapshot ON excerpt (snapshot_id);
CREATE INDEX excerpt_cta ON excerpt (cta_id);
CREATE INDEX excerpt_warp ON excerpt (warp_id);

CREATE TABLE look (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE, time_ns INTEGER, attach_ns INTEGER,
    suspend_ns INTEGER, read_ns INTEGER, resume_ns INTEGER, detach_ns INTEGER, warps INTEGER NOT NULL,
    warps_read INTEGER NOT NULL, moved INTEGER, barriers_changed INTEGER
);
CREATE INDEX look_snapshot ON look (snapshot_id);

CREATE TABLE code (
    id INTEGER PRIMARY KEY,
    function_id INTEGER NOT NULL REFERENCES function, offset_bytes INTEGER NOT NULL, text TEXT, file TEXT, line INTEGER,
    UNIQUE (function_id, offset_bytes)
);
