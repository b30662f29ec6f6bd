-- What is checked before an alias moves: by the project, and by the .svc/checks.yaml that was published with a deployment.
CREATE TABLE release_checks (
  project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  checks     TEXT NOT NULL CHECK (json_valid(checks))
) STRICT;
CREATE TABLE deployment_checks (
  deployment_id TEXT NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
  path          TEXT NOT NULL,
  checks        TEXT NOT NULL CHECK (json_valid(checks)),
  PRIMARY KEY (deployment_id, path)
) STRICT;
-- How the release of a delta upload ended, for whoever sends the contents again; a crash leaves it undecided.
ALTER TABLE uploads ADD COLUMN release TEXT CHECK (json_valid(release));
-- A release that a check held back, with what it takes to move the alias all the same.
CREATE TABLE held_releases (
  deployment_id TEXT PRIMARY KEY REFERENCES deployments (id) ON DELETE CASCADE,
  held          TEXT NOT NULL CHECK (json_valid(held))
) STRICT;
