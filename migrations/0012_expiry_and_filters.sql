-- Upkeep finds what expired without reading the manifests.
CREATE INDEX uploads_expiry ON uploads (expires_at);
CREATE INDEX upload_blobs_expiry ON upload_blobs (expires_at);

-- Lists of all projects, filtered.
CREATE INDEX aliases_name ON aliases (name, created_at, id);
CREATE INDEX deployments_commit_sha ON deployments (commit_sha);
