-- Lists of large installations, read in the order of an index: with the id in it, so that rows are skipped and counted
-- in the index alone.
DROP INDEX audit_log_at;
CREATE INDEX audit_log_at ON audit_log (at, id);
DROP INDEX audit_log_project;
CREATE INDEX audit_log_project ON audit_log (project_id, at, id);
CREATE INDEX audit_log_project_action ON audit_log (project_id, action, at, id);
-- After the others: among equally good indexes SQLite takes the last, and one actor has fewer rows than one project.
CREATE INDEX audit_log_actor ON audit_log (actor_id, at, id);

DROP INDEX deployments_created;
CREATE INDEX deployments_created ON deployments (created_at, id);
DROP INDEX deployments_project_created;
CREATE INDEX deployments_project_created ON deployments (project_id, created_at, id);

CREATE INDEX users_created ON users (created_at, id);
CREATE INDEX aliases_created ON aliases (created_at, id);
CREATE INDEX aliases_project_created ON aliases (project_id, created_at, id);

-- Upkeep removes those that expired long ago.
CREATE INDEX invitations_expiry ON invitations (expires_at) WHERE accepted_at IS NULL;
