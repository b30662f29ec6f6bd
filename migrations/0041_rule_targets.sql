-- A proxy of a set that was written for another server keeps its target, the API of that server on its own machine, and is
-- never called. Until now it was stored as `https`, with ` http` behind it; a check cannot be changed in place.
CREATE TABLE proxy_rules_with_targets (
  id                  TEXT PRIMARY KEY,
  project_id          TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  alias_id            TEXT REFERENCES aliases (id) ON DELETE CASCADE,
  rule_set_id         TEXT REFERENCES rule_sets (id) ON DELETE CASCADE,
  path_pattern        TEXT NOT NULL CHECK (substr(path_pattern, 1, 1) IN ('/', '*')),
  method              TEXT,
  methods             TEXT CHECK (json_valid(methods)),
  proxy_type          TEXT NOT NULL CHECK (proxy_type IN ('external_proxy', 'internal_rewrite', 'pipeline', 'redirect')),
  target_url          TEXT NOT NULL,
  strip_prefix        INTEGER NOT NULL CHECK (strip_prefix IN (0, 1)),
  rule_order          INTEGER NOT NULL,
  timeout_ms          INTEGER NOT NULL CHECK (timeout_ms BETWEEN 100 AND 60000),
  preserve_host       INTEGER NOT NULL CHECK (preserve_host IN (0, 1)),
  forward_cookies     INTEGER NOT NULL CHECK (forward_cookies IN (0, 1)),
  header_config       TEXT CHECK (json_valid(header_config)),
  pipeline_config     TEXT CHECK (json_valid(pipeline_config)),
  is_enabled          INTEGER NOT NULL CHECK (is_enabled IN (0, 1)),
  debug_enabled       INTEGER NOT NULL CHECK (debug_enabled IN (0, 1)),
  description         TEXT,
  created_at          INTEGER NOT NULL,
  updated_at          INTEGER NOT NULL,
  is_written_by_admin INTEGER NOT NULL DEFAULT 0 CHECK (is_written_by_admin IN (0, 1)),
  -- The status of a redirect; null for every other kind.
  status              INTEGER CHECK (status IN (301, 302, 303, 307, 308)),
  CHECK (alias_id IS NULL OR rule_set_id IS NULL),
  CHECK (proxy_type <> 'pipeline' OR pipeline_config IS NOT NULL),
  CHECK (proxy_type <> 'external_proxy' OR substr(target_url, 1, 8) = 'https://'
    OR target_url LIKE 'http://localhost/api/%' OR target_url LIKE 'http://localhost:%/api/%'
    OR target_url LIKE 'http://127.0.0.1/api/%' OR target_url LIKE 'http://127.0.0.1:%/api/%'),
  CHECK (proxy_type <> 'internal_rewrite' OR substr(target_url, 1, 1) = '/'),
  CHECK ((proxy_type = 'redirect') = (status IS NOT NULL))
) STRICT;
INSERT INTO proxy_rules_with_targets
  SELECT id, project_id, alias_id, rule_set_id, path_pattern, method, methods, proxy_type,
         CASE WHEN target_url LIKE 'https://% http' THEN 'http' || substr(target_url, 6, length(target_url) - 10)
              ELSE target_url END,
         strip_prefix, rule_order, timeout_ms, preserve_host, forward_cookies, header_config, pipeline_config, is_enabled,
         debug_enabled, description, created_at, updated_at, is_written_by_admin, status
  FROM proxy_rules ORDER BY rowid;
DROP TABLE proxy_rules;
ALTER TABLE proxy_rules_with_targets RENAME TO proxy_rules;
CREATE INDEX proxy_rules_project ON proxy_rules (project_id);
CREATE INDEX proxy_rules_alias ON proxy_rules (alias_id) WHERE alias_id IS NOT NULL;
CREATE INDEX proxy_rules_set ON proxy_rules (rule_set_id) WHERE rule_set_id IS NOT NULL;
CREATE UNIQUE INDEX proxy_rules_identity ON proxy_rules (rule_set_id, path_pattern, coalesce(method, ''))
  WHERE rule_set_id IS NOT NULL;
CREATE TRIGGER generation_proxy_rules_insert AFTER INSERT ON proxy_rules BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_proxy_rules_update AFTER UPDATE ON proxy_rules BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_proxy_rules_delete AFTER DELETE ON proxy_rules BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER cdn_proxy_rules_insert AFTER INSERT ON proxy_rules BEGIN
  INSERT INTO cdn_stale SELECT 'p-' || NEW.project_id;
END;
CREATE TRIGGER cdn_proxy_rules_update AFTER UPDATE ON proxy_rules BEGIN
  INSERT INTO cdn_stale SELECT 'p-' || NEW.project_id;
END;
CREATE TRIGGER cdn_proxy_rules_delete AFTER DELETE ON proxy_rules BEGIN
  INSERT INTO cdn_stale SELECT 'p-' || OLD.project_id;
END;
