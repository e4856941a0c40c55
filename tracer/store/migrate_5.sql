-- From schema version 5 to 6.  The views are made anew afterwards, from views.sql.
DROP VIEW IF EXISTS shown_snapshot;
DROP VIEW IF EXISTS warp_named;
DROP VIEW IF EXISTS stuck;
DROP VIEW IF EXISTS waits;
DROP VIEW IF EXISTS cycle;
DROP VIEW IF EXISTS event_named;
DROP VIEW IF EXISTS timeline;
DROP VIEW IF EXISTS wait;
DROP VIEW IF EXISTS part_named;

CREATE TABLE allocation (
    id INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES snapshot ON DELETE CASCADE,
    process_id INTEGER NOT NULL REFERENCES process, number INTEGER NOT NULL, context_id INTEGER REFERENCES context,
    kind TEXT, device_ordinal INTEGER, address INTEGER NOT NULL, bytes INTEGER, call TEXT NOT NULL,
    call_number INTEGER NOT NULL, time_ns INTEGER NOT NULL, freed_ns INTEGER, peer_devices INTEGER NOT NULL,
    exported INTEGER NOT NULL, host_access INTEGER NOT NULL
);
CREATE INDEX allocation_snapshot ON allocation (snapshot_id);

ALTER TABLE context ADD COLUMN given_ns INTEGER;
ALTER TABLE context ADD COLUMN done_given_ns INTEGER;
ALTER TABLE context ADD COLUMN kernels INTEGER;
ALTER TABLE context ADD COLUMN graphs INTEGER;
ALTER TABLE context ADD COLUMN copies INTEGER;
ALTER TABLE context ADD COLUMN memsets INTEGER;
ALTER TABLE context ADD COLUMN others INTEGER;
ALTER TABLE look ADD COLUMN held_nothing_back INTEGER;
