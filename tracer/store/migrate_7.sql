-- From schema version 7 to 8.  The views are made anew afterwards, from views.sql.
DROP VIEW IF EXISTS shown_snapshot;
DROP VIEW IF EXISTS warp_named;
DROP VIEW IF EXISTS stuck;
DROP VIEW IF EXISTS waits;
DROP VIEW IF EXISTS cycle;
DROP VIEW IF EXISTS event_named;
DROP VIEW IF EXISTS timeline;
DROP VIEW IF EXISTS wait;
DROP VIEW IF EXISTS part_named;

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
