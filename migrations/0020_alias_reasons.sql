-- Why an alias pointed where it did. Of moves from before only the first is known for sure: with it the alias was made.
ALTER TABLE alias_history ADD COLUMN reason TEXT NOT NULL DEFAULT 'move'
  CHECK (reason IN ('create', 'publish', 'move', 'rollback'));
UPDATE alias_history SET reason = 'create' WHERE id IN (
  SELECT id FROM (
    SELECT id, row_number() OVER (PARTITION BY alias_id ORDER BY moved_at, id) AS place FROM alias_history
  ) WHERE place = 1);
