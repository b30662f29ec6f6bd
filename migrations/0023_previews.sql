-- A preview is an alias with an end. `expires_in`: how long its last publish asked for, in milliseconds; NULL: the project's days.
ALTER TABLE projects ADD COLUMN preview_days INTEGER NOT NULL DEFAULT 7 CHECK (preview_days BETWEEN 1 AND 365);
ALTER TABLE aliases ADD COLUMN expires_at INTEGER;
ALTER TABLE aliases ADD COLUMN expires_in INTEGER CHECK (expires_in > 0);
ALTER TABLE aliases ADD COLUMN pull_request INTEGER;
ALTER TABLE aliases ADD COLUMN pull_request_url TEXT;
CREATE INDEX aliases_ending ON aliases (expires_at) WHERE expires_at IS NOT NULL AND is_locked = 0;

-- The name of the preview that it was published as last.
ALTER TABLE deployments ADD COLUMN preview TEXT;

-- What was published as which preview, and goes with it. `is_kept`: an alias without an end has shown it, so it stays.
CREATE TABLE preview_deployments (
  alias_id      TEXT NOT NULL REFERENCES aliases (id) ON DELETE CASCADE,
  deployment_id TEXT NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
  published_at  INTEGER NOT NULL,
  is_kept       INTEGER NOT NULL DEFAULT 0 CHECK (is_kept IN (0, 1)),
  PRIMARY KEY (alias_id, deployment_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX preview_deployments_deployment ON preview_deployments (deployment_id);
CREATE INDEX alias_history_shown ON alias_history (deployment_id);

CREATE TRIGGER preview_deployments_kept AFTER INSERT ON alias_history
WHEN (SELECT expires_at FROM aliases WHERE id = new.alias_id) IS NULL
BEGIN UPDATE preview_deployments SET is_kept = 1 WHERE deployment_id = new.deployment_id; END;
