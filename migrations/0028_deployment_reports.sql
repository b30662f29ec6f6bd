-- What the last upload to a deployment did to the site: made in the background, after the upload was answered. `shown_*` is what
-- the alias showed just before it; `made` is null until the report is complete.
CREATE TABLE deployment_reports (
  deployment_id TEXT PRIMARY KEY REFERENCES deployments (id) ON DELETE CASCADE,
  upload_id     TEXT NOT NULL,
  alias         TEXT NOT NULL,
  shown_id      TEXT,
  shown_sha     TEXT,
  left_out      TEXT NOT NULL CHECK (json_valid(left_out)),
  status        TEXT NOT NULL CHECK (status IN ('running', 'complete', 'failed')),
  made          TEXT CHECK (json_valid(made)),
  created_at    INTEGER NOT NULL,
  completed_at  INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX deployment_reports_running ON deployment_reports (deployment_id) WHERE status = 'running';
