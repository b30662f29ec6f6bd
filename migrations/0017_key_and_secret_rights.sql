-- A key keeps the id of the person who made it when the account is gone, so its reference goes: null means that it was
-- made on the command line. Of accounts deleted before, the audit log knows the id. Keys whose maker may not make them
-- any more are suspended.
CREATE TABLE new_api_keys (
  id               TEXT PRIMARY KEY,
  name             TEXT NOT NULL,
  prefix           TEXT NOT NULL,
  token_hash       TEXT NOT NULL UNIQUE,
  project_id       TEXT REFERENCES projects (id) ON DELETE CASCADE,
  is_global        INTEGER NOT NULL CHECK (is_global IN (0, 1)),
  created_by       TEXT,
  created_at       INTEGER NOT NULL,
  expires_at       INTEGER,
  last_used_at     INTEGER,
  suspended_at     INTEGER,
  suspended_reason TEXT,
  CHECK (is_global = (project_id IS NULL)),
  CHECK ((suspended_at IS NULL) = (suspended_reason IS NULL))
) STRICT;
INSERT INTO new_api_keys
  SELECT k.id, k.name, k.prefix, k.token_hash, k.project_id, k.is_global, coalesce(k.created_by, made.by_user),
         k.created_at, k.expires_at, k.last_used_at, NULL, NULL
  FROM api_keys k LEFT JOIN (
    SELECT target_id, max(actor_id) AS by_user FROM audit_log
    WHERE action = 'api-key.create' AND actor_kind = 'user' GROUP BY target_id
  ) made ON made.target_id = k.id;
UPDATE new_api_keys SET
    suspended_at = unixepoch() * 1000,
    suspended_reason = iif(created_by IN (SELECT id FROM users), 'maker_demoted', 'maker_deleted')
  WHERE created_by NOT IN (SELECT id FROM users WHERE role = 'admin');
DROP TABLE api_keys;
ALTER TABLE new_api_keys RENAME TO api_keys;
CREATE INDEX api_keys_project ON api_keys (project_id);
CREATE INDEX api_keys_maker ON api_keys (created_by);
CREATE TRIGGER generation_api_keys_update AFTER UPDATE OF project_id, is_global, expires_at, token_hash, created_by, suspended_at ON api_keys BEGIN UPDATE site_generation SET access = access + 1; END;
CREATE TRIGGER generation_api_keys_delete AFTER DELETE ON api_keys BEGIN UPDATE site_generation SET access = access + 1; END;

-- The ids are UUIDs (v7).
INSERT INTO audit_log (id, at, actor_kind, credential, action, target_kind, target_id, target_name, project_id, after)
  SELECT lower(substr(time, 1, 8) || '-' || substr(time, 9) || '-7' || substr(chance, 1, 3) || '-8' || substr(chance, 4, 3)
               || '-' || substr(chance, 7, 12)),
         suspended_at, 'operator', 'data directory', 'api-key.suspend', 'api-key', id, name, project_id,
         json_object('suspendedReason', suspended_reason)
  FROM (SELECT *, printf('%012x', suspended_at) AS time, hex(randomblob(9)) AS chance
        FROM api_keys WHERE suspended_at IS NOT NULL);

ALTER TABLE project_secrets ADD COLUMN usable_by TEXT NOT NULL DEFAULT 'contributor'
  CHECK (usable_by IN ('contributor', 'admin'));
-- Whether a project admin, or somebody above, wrote the rule last. Of rules from before nobody knows.
ALTER TABLE proxy_rules ADD COLUMN is_written_by_admin INTEGER NOT NULL DEFAULT 0 CHECK (is_written_by_admin IN (0, 1));
-- Whether the pipeline named a secret when it ran. Of runs from before nobody knows.
ALTER TABLE pipeline_runs ADD COLUMN names_secret INTEGER NOT NULL DEFAULT 1 CHECK (names_secret IN (0, 1));
