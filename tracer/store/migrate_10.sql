-- From schema version 10 to 11.  The views are made anew afterwards, from views.sql.
DROP VIEW IF EXISTS shown_snapshot;
DROP VIEW IF EXISTS warp_named;
DROP VIEW IF EXISTS stuck;
DROP VIEW IF EXISTS waits;
DROP VIEW IF EXISTS cycle;
DROP VIEW IF EXISTS event_named;
DROP VIEW IF EXISTS timeline;
DROP VIEW IF EXISTS wait;
DROP VIEW IF EXISTS part_named;

ALTER TABLE session ADD COLUMN stall_proven INTEGER;
ALTER TABLE node ADD COLUMN stall_proven INTEGER;
ALTER TABLE name ADD COLUMN inferred INTEGER;
-- Before, a picture only told whether it has names that were inferred.
UPDATE name SET inferred = EXISTS (SELECT 1 FROM snapshot WHERE names_inferred);
