-- Which deployments a project keeps, and its last run. NULL: the rule is not set.
CREATE TABLE retention_policies (
  project_id   TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  keep_last    INTEGER CHECK (keep_last BETWEEN 1 AND 10000),
  keep_days    INTEGER CHECK (keep_days BETWEEN 1 AND 3650),
  changed_at   INTEGER NOT NULL,
  last_run_at  INTEGER,
  last_removed INTEGER NOT NULL DEFAULT 0,
  last_bytes   INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- How much a project may store. NULL: no limit.
CREATE TABLE project_quotas (
  project_id  TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  bytes       INTEGER CHECK (bytes >= 0),
  deployments INTEGER CHECK (deployments >= 0),
  files       INTEGER CHECK (files >= 0)
) STRICT, WITHOUT ROWID;

-- A row: the hooks were told that the disk is low, and it was not ample since.
CREATE TABLE low_disk_notices (
  told_at INTEGER PRIMARY KEY
) STRICT;
