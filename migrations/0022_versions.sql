-- Every publish of a commit is a version of its own: what an alias has shown once is not changed by a publish. What was
-- published so far is version 1. Deployments and hosts are made anew, because the UNIQUE of a table cannot be dropped; the
-- rows that refer to a deployment stay as they are (see `rebuildsTables`).

-- They name the table that is away for a moment.
DROP TRIGGER assets_deleted_variants;
DROP TRIGGER assets_replaced_variants;

CREATE TABLE new_deployments (
  id              TEXT PRIMARY KEY,
  project_id      TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  commit_sha      TEXT NOT NULL,
  version         INTEGER NOT NULL DEFAULT 1 CHECK (version > 0),
  branch          TEXT,
  description     TEXT,
  workflow_name   TEXT,
  workflow_run_id TEXT,
  committed_at    INTEGER,
  tags            TEXT,
  -- The commit that a changed working tree stood on, whose SHA-256 is then `commit_sha`.
  base_sha        TEXT,
  -- The folder that the deployment's own hosts serve, as its last upload said; an alias has its own.
  base_path       TEXT NOT NULL DEFAULT '',
  file_count      INTEGER NOT NULL,
  total_size      INTEGER NOT NULL,
  -- Raised when what it serves is to be read again.
  revision        INTEGER NOT NULL DEFAULT 1,
  -- 1: an alias has pointed at it, now or before. Set by triggers.
  was_shown       INTEGER NOT NULL DEFAULT 0 CHECK (was_shown IN (0, 1)),
  created_by      TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  UNIQUE (project_id, commit_sha, version)
) STRICT;

-- The history of an alias goes with it; the audit log knows of those that were deleted.
CREATE TEMP TABLE shown_before AS
  SELECT deployment_id AS id FROM aliases
  UNION SELECT deployment_id FROM alias_history
  UNION SELECT json_extract(after, '$.deploymentId') FROM audit_log
    WHERE action IN ('alias.create', 'alias.move') AND json_valid(after);
INSERT INTO new_deployments
  SELECT id, project_id, commit_sha, 1, branch, description, workflow_name, workflow_run_id, committed_at, tags, NULL,
         base_path, file_count, total_size, version, id IN (SELECT id FROM shown_before), created_by, created_at, updated_at
  FROM deployments;
DROP TABLE shown_before;
DROP TABLE deployments;
ALTER TABLE new_deployments RENAME TO deployments;

CREATE INDEX deployments_project_branch ON deployments (project_id, branch, created_at, id);
CREATE INDEX deployments_project_updated ON deployments (project_id, updated_at);
CREATE INDEX deployments_created ON deployments (created_at, id);
CREATE INDEX deployments_project_created ON deployments (project_id, created_at, id);
CREATE INDEX deployments_commit_sha ON deployments (commit_sha);

-- A commit has one host, which shows its newest version, and each version has one for good.
CREATE TABLE new_host_labels (
  label         TEXT PRIMARY KEY,
  alias_id      TEXT UNIQUE REFERENCES aliases (id) ON DELETE CASCADE,
  deployment_id TEXT REFERENCES deployments (id) ON DELETE CASCADE,
  -- 1: the host of the commit, which goes on to the next version.
  is_newest     INTEGER NOT NULL DEFAULT 0 CHECK (is_newest IN (0, 1)),
  UNIQUE (deployment_id, is_newest),
  CHECK ((alias_id IS NULL) <> (deployment_id IS NULL)),
  CHECK (is_newest = 0 OR deployment_id IS NOT NULL)
) STRICT, WITHOUT ROWID;
INSERT INTO new_host_labels SELECT label, alias_id, deployment_id, deployment_id IS NOT NULL FROM host_labels;
DROP TABLE host_labels;
ALTER TABLE new_host_labels RENAME TO host_labels;

-- The highest number that a commit gave to a version which is deleted, so that none is given twice.
CREATE TABLE given_versions (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  commit_sha TEXT NOT NULL,
  version    INTEGER NOT NULL,
  PRIMARY KEY (project_id, commit_sha)
) STRICT, WITHOUT ROWID;

ALTER TABLE alias_history ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
-- What a delta upload published.
ALTER TABLE uploads ADD COLUMN deployment_id TEXT;

CREATE TRIGGER deployments_given AFTER DELETE ON deployments WHEN EXISTS (SELECT 1 FROM projects WHERE id = OLD.project_id)
BEGIN
  INSERT INTO given_versions VALUES (OLD.project_id, OLD.commit_sha, OLD.version)
    ON CONFLICT (project_id, commit_sha) DO UPDATE SET version = max(version, excluded.version);
END;
-- Before the host goes with its deployment.
CREATE TRIGGER deployments_newest BEFORE DELETE ON deployments
BEGIN
  UPDATE host_labels SET deployment_id = (
      SELECT id FROM deployments WHERE project_id = OLD.project_id AND commit_sha = OLD.commit_sha AND version < OLD.version
      ORDER BY version DESC LIMIT 1)
    WHERE deployment_id = OLD.id AND is_newest = 1 AND EXISTS (
      SELECT 1 FROM deployments WHERE project_id = OLD.project_id AND commit_sha = OLD.commit_sha AND version < OLD.version);
END;
CREATE TRIGGER aliases_shown_insert AFTER INSERT ON aliases
BEGIN UPDATE deployments SET was_shown = 1 WHERE id = NEW.deployment_id AND was_shown = 0; END;
CREATE TRIGGER aliases_shown_update AFTER UPDATE OF deployment_id ON aliases
BEGIN UPDATE deployments SET was_shown = 1 WHERE id = NEW.deployment_id AND was_shown = 0; END;

CREATE TRIGGER generation_deployments_update AFTER UPDATE ON deployments BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_deployments_delete AFTER DELETE ON deployments BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_labels_insert AFTER INSERT ON host_labels BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_labels_update AFTER UPDATE ON host_labels BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_labels_delete AFTER DELETE ON host_labels BEGIN UPDATE site_generation SET sites = sites + 1; END;

CREATE TRIGGER assets_deleted_variants AFTER DELETE ON assets
BEGIN
  DELETE FROM project_variants
  WHERE blob_id = OLD.blob_id
    AND project_id = (SELECT project_id FROM deployments WHERE id = OLD.deployment_id)
    AND NOT EXISTS (SELECT 1 FROM assets a JOIN deployments d ON d.id = a.deployment_id
                    WHERE a.blob_id = OLD.blob_id AND d.project_id = project_variants.project_id);
END;
CREATE TRIGGER assets_replaced_variants AFTER UPDATE OF blob_id ON assets WHEN OLD.blob_id <> NEW.blob_id
BEGIN
  DELETE FROM project_variants
  WHERE blob_id = OLD.blob_id
    AND project_id = (SELECT project_id FROM deployments WHERE id = OLD.deployment_id)
    AND NOT EXISTS (SELECT 1 FROM assets a JOIN deployments d ON d.id = a.deployment_id
                    WHERE a.blob_id = OLD.blob_id AND d.project_id = project_variants.project_id);
END;
