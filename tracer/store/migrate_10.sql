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
-- An author names roles and barriers only in a module with probes.  Such a module may have inferred names as well:
-- of these names version 10 did not say which the author gave, so they stay NULL.
UPDATE name SET inferred = 1 WHERE module_id IN (SELECT id FROM module WHERE NOT probed);
