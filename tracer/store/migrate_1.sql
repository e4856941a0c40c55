-- From schema version 1 to 2.  The views are made anew afterwards, from views.sql.
DROP VIEW timeline;
DROP VIEW cycle;
DROP VIEW waits;
DROP VIEW stuck;
DROP VIEW warp_named;
DROP VIEW shown_snapshot;

ALTER TABLE warp ADD COLUMN event_first INTEGER;
ALTER TABLE warp ADD COLUMN event_count INTEGER NOT NULL DEFAULT 0;
UPDATE warp SET event_first = (SELECT min(id) FROM event WHERE warp_id = warp.id),
    event_count = (SELECT count(*) FROM event WHERE warp_id = warp.id);
DROP INDEX event_warp;

CREATE TABLE log (
    id INTEGER PRIMARY KEY,
    time_ns INTEGER NOT NULL, origin TEXT NOT NULL, text TEXT NOT NULL
);
CREATE TABLE source_file (
    id INTEGER PRIMARY KEY,
    module_id INTEGER NOT NULL UNIQUE REFERENCES module, path TEXT NOT NULL, text TEXT
);
