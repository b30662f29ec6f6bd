-- A deployment has a number within its project, which is never given twice, a title and the icon of its start page. What there
-- is gets its number by age; the titles of descriptions are filled in by code.
ALTER TABLE deployments ADD COLUMN number INTEGER NOT NULL DEFAULT 0 CHECK (number >= 0);
ALTER TABLE deployments ADD COLUMN title TEXT;
-- A path of the deployment, found when it is published.
ALTER TABLE deployments ADD COLUMN icon TEXT;
-- Null: the deployment was deleted before there were numbers.
ALTER TABLE alias_history ADD COLUMN number INTEGER;

-- The highest number that a project has given.
CREATE TABLE deployment_counters (
  project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  number     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

UPDATE deployments SET number = numbered.number
FROM (SELECT id, row_number() OVER (PARTITION BY project_id ORDER BY created_at, id) AS number FROM deployments) AS numbered
WHERE numbered.id = deployments.id;
UPDATE deployments SET icon = (
  SELECT path FROM assets WHERE deployment_id = deployments.id AND path IN (
    ltrim(base_path || '/favicon.ico', '/'), ltrim(base_path || '/favicon.svg', '/'), ltrim(base_path || '/favicon.png', '/'))
  ORDER BY path LIKE '%.ico' DESC, path LIKE '%.svg' DESC LIMIT 1);
UPDATE alias_history SET number = (SELECT number FROM deployments WHERE id = deployment_id);
INSERT INTO deployment_counters
  SELECT project_id, max(number) FROM deployments WHERE project_id IN (SELECT id FROM projects) GROUP BY project_id;

CREATE UNIQUE INDEX deployments_number ON deployments (project_id, number);

-- So that no writer can forget it, in the transaction that makes the deployment.
CREATE TRIGGER deployments_numbered AFTER INSERT ON deployments
BEGIN
  INSERT INTO deployment_counters VALUES (NEW.project_id, 1)
    ON CONFLICT (project_id) DO UPDATE SET number = number + 1;
  UPDATE deployments SET number = (SELECT number FROM deployment_counters WHERE project_id = NEW.project_id)
    WHERE id = NEW.id;
END;
