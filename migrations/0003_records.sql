-- What pipelines keep: schemas and their records, the log of runs, and what is still to be run after an answer.

-- `fields` is a JSON list of { name, type, required, unique, default? }.
CREATE TABLE schemas (
  id         TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name       TEXT NOT NULL,
  fields     TEXT NOT NULL CHECK (json_valid(fields)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (project_id, name)
) STRICT;

-- `data` is a JSON object with exactly the fields of the schema. Ids are made in the order of time: the greatest is the newest.
CREATE TABLE records (
  seq        INTEGER PRIMARY KEY,
  schema_id  TEXT NOT NULL REFERENCES schemas (id) ON DELETE CASCADE,
  id         TEXT NOT NULL,
  data       TEXT NOT NULL CHECK (json_valid(data)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (schema_id, id)
) STRICT;

-- The values of unique fields, as JSON. Null is not among them.
CREATE TABLE record_uniques (
  schema_id TEXT NOT NULL,
  field     TEXT NOT NULL,
  value     TEXT NOT NULL,
  record_id TEXT NOT NULL,
  PRIMARY KEY (schema_id, field, value),
  FOREIGN KEY (schema_id, record_id) REFERENCES records (schema_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX record_uniques_record ON record_uniques (schema_id, record_id);

-- `steps` is the JSON of each step's input and output, secrets masked; null unless the rule is being debugged.
CREATE TABLE pipeline_runs (
  project_id   TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  id           TEXT NOT NULL,
  rule_id      TEXT NOT NULL,
  rule_name    TEXT,
  phase        TEXT NOT NULL CHECK (phase IN ('steps', 'post_steps')),
  path_pattern TEXT NOT NULL,
  method       TEXT NOT NULL,
  path         TEXT NOT NULL,
  status       INTEGER NOT NULL,
  duration_ms  REAL NOT NULL,
  failed_step  TEXT,
  error        TEXT,
  steps        TEXT,
  started_at   INTEGER NOT NULL,
  PRIMARY KEY (project_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pipeline_runs_started ON pipeline_runs (started_at);

-- Steps to run after an answer that was given; the row goes when they have run. `work` is JSON: what they need to run.
CREATE TABLE post_steps (
  id         TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  work       TEXT NOT NULL CHECK (json_valid(work)),
  attempts   INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX post_steps_project ON post_steps (project_id);

-- Pipelines keep what they know of schemas for one generation.
CREATE TRIGGER generation_schemas_insert AFTER INSERT ON schemas BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_schemas_update AFTER UPDATE ON schemas BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_schemas_delete AFTER DELETE ON schemas BEGIN UPDATE site_generation SET sites = sites + 1; END;
