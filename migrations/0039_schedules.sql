-- When a rule's pipeline runs without a visitor. `next_run_at`: null while it is paused, and of a preview copy. `fired_at`: of
-- the run that is under way, committed before it begins, so that after a crash it is known that it did not end. `is_missed`: a
-- time came while it was running. `interruptions`: how often in a row a run did not end.
CREATE TABLE schedules (
  id               TEXT PRIMARY KEY,
  project_id       TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  rule_set_id      TEXT REFERENCES rule_sets (id) ON DELETE CASCADE,
  rule_id          TEXT NOT NULL REFERENCES proxy_rules (id) ON DELETE CASCADE,
  method           TEXT NOT NULL,
  name             TEXT NOT NULL,
  cron             TEXT NOT NULL,
  timezone         TEXT NOT NULL,
  is_enabled       INTEGER NOT NULL CHECK (is_enabled IN (0, 1)),
  catch_up         TEXT NOT NULL CHECK (catch_up IN ('none', 'once')),
  description      TEXT,
  is_pushed        INTEGER NOT NULL CHECK (is_pushed IN (0, 1)),
  next_run_at      INTEGER,
  fired_at         INTEGER,
  is_missed        INTEGER NOT NULL DEFAULT 0 CHECK (is_missed IN (0, 1)),
  interruptions    INTEGER NOT NULL DEFAULT 0,
  last_run_at      INTEGER,
  last_status      TEXT CHECK (last_status IN ('ok', 'failed', 'skipped', 'interrupted')),
  last_error       TEXT,
  last_duration_ms REAL,
  created_at       INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL,
  CHECK (is_pushed = 0 OR rule_set_id IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX schedules_name ON schedules (rule_set_id, name) WHERE rule_set_id IS NOT NULL;
CREATE UNIQUE INDEX schedules_made_by_hand ON schedules (project_id, name) WHERE is_pushed = 0;
CREATE INDEX schedules_project ON schedules (project_id);
CREATE INDEX schedules_rule ON schedules (rule_id);
CREATE INDEX schedules_due ON schedules (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE INDEX schedules_running ON schedules (fired_at) WHERE fired_at IS NOT NULL;

-- What asked for a run.
ALTER TABLE pipeline_runs ADD COLUMN triggered_by TEXT NOT NULL DEFAULT 'request'
  CHECK (triggered_by IN ('request', 'schedule', 'mcp'));
ALTER TABLE pipeline_runs ADD COLUMN schedule_id TEXT;
