-- From schema version 2 to 3.  The views are made anew afterwards, from views.sql.
DROP VIEW IF EXISTS shown_snapshot;
DROP VIEW IF EXISTS warp_named;
DROP VIEW IF EXISTS stuck;
DROP VIEW IF EXISTS waits;
DROP VIEW IF EXISTS cycle;
DROP VIEW IF EXISTS event_named;
DROP VIEW IF EXISTS timeline;
DROP VIEW IF EXISTS wait;

ALTER TABLE source_file RENAME TO source_file_2;
CREATE TABLE source_file (
    id INTEGER PRIMARY KEY,
    module_id INTEGER NOT NULL UNIQUE REFERENCES module, path TEXT, text TEXT, text_missing TEXT, ptx TEXT,
    ptx_missing TEXT
);
INSERT INTO source_file (id, module_id, path, text) SELECT id, module_id, path, text FROM source_file_2;
DROP TABLE source_file_2;
