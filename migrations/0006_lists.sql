-- Lists that are filtered by one of these and read newest first, and when a project was last published to: without an
-- index every row is looked at.
CREATE INDEX audit_log_action ON audit_log (action, at, id);
CREATE INDEX deployments_project_branch ON deployments (project_id, branch, created_at, id);
CREATE INDEX deployments_project_updated ON deployments (project_id, updated_at);
