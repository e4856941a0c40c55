-- From schema version 4 to 5.  The views are made anew afterwards, from views.sql.
DROP VIEW IF EXISTS shown_snapshot;
DROP VIEW IF EXISTS warp_named;
DROP VIEW IF EXISTS stuck;
DROP VIEW IF EXISTS waits;
DROP VIEW IF EXISTS cycle;
DROP VIEW IF EXISTS event_named;
DROP VIEW IF EXISTS timeline;
DROP VIEW IF EXISTS wait;
DROP VIEW IF EXISTS part_named;

CREATE TABLE refusal (
    id INTEGER PRIMARY KEY,
    process_id INTEGER NOT NULL REFERENCES process, number INTEGER NOT NULL, time_ns INTEGER NOT NULL,
    times INTEGER NOT NULL, call TEXT NOT NULL, result INTEGER NOT NULL, cause TEXT NOT NULL, kernel TEXT,
    subject TEXT NOT NULL, sentence TEXT NOT NULL, fix TEXT,
    UNIQUE (process_id, number)
);
