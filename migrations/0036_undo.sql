-- Of an undo: the entry that it undoes, the first one if that is an undo itself, how far away that is, and what it did as
-- the action of a change by hand. Null for all other entries.
ALTER TABLE audit_log ADD COLUMN undo_of TEXT;
ALTER TABLE audit_log ADD COLUMN undo_root TEXT;
ALTER TABLE audit_log ADD COLUMN undo_depth INTEGER;
ALTER TABLE audit_log ADD COLUMN undo_action TEXT;
CREATE UNIQUE INDEX audit_log_undo_of ON audit_log (undo_of) WHERE undo_of IS NOT NULL;

-- The state before a change that can be undone, as JSON; never shown. Header values are sealed as in their table.
CREATE TABLE undo_states (
  entry_id   TEXT PRIMARY KEY REFERENCES audit_log (id),
  project_id TEXT REFERENCES projects (id) ON DELETE CASCADE,
  at         INTEGER NOT NULL,
  state      TEXT NOT NULL CHECK (json_valid(state))
) STRICT;
CREATE INDEX undo_states_at ON undo_states (at);
CREATE INDEX undo_states_project ON undo_states (project_id);
