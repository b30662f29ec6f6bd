-- Accounts, projects, deployments, keys and the log of changes.
-- Times are milliseconds since 1970 in UTC, ids UUIDs, booleans 0 or 1, hashes lower-case hex SHA-256.

CREATE TABLE settings (
  key        TEXT PRIMARY KEY,
  value      TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
  id             TEXT PRIMARY KEY,
  email          TEXT NOT NULL UNIQUE CHECK (email = lower(email)),
  password_hash  TEXT,
  role           TEXT NOT NULL CHECK (role IN ('admin', 'user', 'member')),
  totp_secret    TEXT,
  totp_last_step INTEGER NOT NULL DEFAULT 0,
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL
) STRICT;

-- The last admin stays: neither demoted nor deleted.
CREATE TRIGGER users_last_admin_demoted BEFORE UPDATE OF role ON users
WHEN OLD.role = 'admin' AND NEW.role <> 'admin' AND (SELECT count(*) FROM users WHERE role = 'admin') = 1
BEGIN SELECT RAISE(ABORT, 'last admin'); END;
CREATE TRIGGER users_last_admin_deleted BEFORE DELETE ON users
WHEN OLD.role = 'admin' AND (SELECT count(*) FROM users WHERE role = 'admin') = 1
BEGIN SELECT RAISE(ABORT, 'last admin'); END;

CREATE TABLE sessions (
  id           TEXT PRIMARY KEY,
  user_id      TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  ip           TEXT NOT NULL,
  user_agent   TEXT NOT NULL,
  -- The only host where it counts; null for wherever its cookies reach.
  host         TEXT,
  created_at   INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_user ON sessions (user_id);

-- A second step that is being turned on: its secret counts once a code of it was entered. Sealed like users.totp_secret.
CREATE TABLE totp_enrollments (
  user_id    TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  secret     TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What is left of the ten; a code that was used is gone.
CREATE TABLE recovery_codes (
  user_id   TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  code_hash TEXT NOT NULL,
  PRIMARY KEY (user_id, code_hash)
) STRICT, WITHOUT ROWID;

-- Accounts at OpenID providers that sign somebody in: the subject says who, the email is only shown.
CREATE TABLE user_connections (
  provider     TEXT NOT NULL,
  subject      TEXT NOT NULL,
  user_id      TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  email        TEXT NOT NULL,
  connected_at INTEGER NOT NULL,
  PRIMARY KEY (provider, subject),
  UNIQUE (user_id, provider)
) STRICT, WITHOUT ROWID;

-- A session is a family of tokens; a refresh token stays as `replaced` so that its second use is seen.
CREATE TABLE session_tokens (
  token_hash  TEXT PRIMARY KEY,
  session_id  TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  kind        TEXT NOT NULL CHECK (kind IN ('access', 'refresh')),
  expires_at  INTEGER NOT NULL,
  replaced_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX session_tokens_session ON session_tokens (session_id);
CREATE INDEX session_tokens_expiry ON session_tokens (expires_at);

CREATE TABLE groups (
  id          TEXT PRIMARY KEY,
  name        TEXT NOT NULL UNIQUE COLLATE NOCASE,
  description TEXT,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE group_members (
  group_id TEXT NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
  user_id  TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  added_at INTEGER NOT NULL,
  PRIMARY KEY (group_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX group_members_user ON group_members (user_id);

CREATE TABLE projects (
  id                    TEXT PRIMARY KEY,
  owner                 TEXT NOT NULL COLLATE NOCASE,
  name                  TEXT NOT NULL COLLATE NOCASE,
  display_name          TEXT NOT NULL,
  is_public             INTEGER NOT NULL CHECK (is_public IN (0, 1)),
  allow_public_signup   INTEGER NOT NULL CHECK (allow_public_signup IN (0, 1)),
  required_role         TEXT NOT NULL CHECK (required_role IN ('guest', 'viewer', 'contributor', 'admin', 'owner')),
  is_spa                INTEGER CHECK (is_spa IN (0, 1)),
  private_site_response TEXT CHECK (private_site_response IN ('not_found', 'login')),
  created_at            INTEGER NOT NULL,
  updated_at            INTEGER NOT NULL,
  UNIQUE (owner, name)
) STRICT;

-- Direct permissions. Exactly one owner: never two (the index), never taken away while the project stands (the triggers).
CREATE TABLE permissions (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  user_id    TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role       TEXT NOT NULL CHECK (role IN ('guest', 'viewer', 'contributor', 'admin', 'owner')),
  granted_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX permissions_user ON permissions (user_id);
CREATE UNIQUE INDEX permissions_one_owner ON permissions (project_id) WHERE role = 'owner';
CREATE TRIGGER users_owner_deleted BEFORE DELETE ON users
WHEN EXISTS (SELECT 1 FROM permissions WHERE user_id = OLD.id AND role = 'owner')
BEGIN SELECT RAISE(ABORT, 'user owns projects'); END;
CREATE TRIGGER permissions_owner_removed BEFORE DELETE ON permissions
WHEN OLD.role = 'owner' AND EXISTS (SELECT 1 FROM projects WHERE id = OLD.project_id)
BEGIN SELECT RAISE(ABORT, 'project needs an owner'); END;

-- A change of owner is one row here. Its trigger swaps the two roles at once and takes the row away again, so that no
-- other write can leave a project without an owner.
CREATE TABLE ownership_transfers (
  project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  to_user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  at         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER permissions_owner_demoted BEFORE UPDATE ON permissions
WHEN OLD.role = 'owner'
 AND (NEW.role <> 'owner' OR NEW.user_id <> OLD.user_id OR NEW.project_id <> OLD.project_id)
 AND NOT EXISTS (SELECT 1 FROM ownership_transfers WHERE project_id = OLD.project_id)
BEGIN SELECT RAISE(ABORT, 'project needs an owner'); END;
CREATE TRIGGER ownership_transferred AFTER INSERT ON ownership_transfers
BEGIN
  UPDATE permissions SET role = 'admin', granted_at = NEW.at WHERE project_id = NEW.project_id AND role = 'owner';
  INSERT INTO permissions VALUES (NEW.project_id, NEW.to_user_id, 'owner', NEW.at)
    ON CONFLICT (project_id, user_id) DO UPDATE SET role = 'owner', granted_at = NEW.at;
  INSERT INTO memberships VALUES (NEW.project_id, NEW.to_user_id, NEW.at) ON CONFLICT DO NOTHING;
  DELETE FROM ownership_transfers WHERE project_id = NEW.project_id;
END;

CREATE TABLE group_permissions (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  group_id   TEXT NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
  role       TEXT NOT NULL CHECK (role IN ('guest', 'viewer', 'contributor', 'admin')),
  granted_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, group_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX group_permissions_group ON group_permissions (group_id);

CREATE TABLE memberships (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  user_id    TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  joined_at  INTEGER NOT NULL,
  PRIMARY KEY (project_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memberships_user ON memberships (user_id);
CREATE TRIGGER memberships_owner_removed BEFORE DELETE ON memberships
WHEN EXISTS (SELECT 1 FROM permissions WHERE project_id = OLD.project_id AND user_id = OLD.user_id AND role = 'owner')
 AND EXISTS (SELECT 1 FROM projects WHERE id = OLD.project_id)
BEGIN SELECT RAISE(ABORT, 'the owner is a member'); END;

-- Links that set a password (`reset`, and `invite` for a new account) or carry a session to another domain.
CREATE TABLE one_time_tokens (
  token_hash TEXT PRIMARY KEY,
  purpose    TEXT NOT NULL CHECK (purpose IN ('reset', 'invite', 'site_code')),
  user_id    TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  data       TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX one_time_tokens_user ON one_time_tokens (user_id);
CREATE INDEX one_time_tokens_expiry ON one_time_tokens (expires_at);

-- Invitations to a project. One of an account that exists is accepted at once and has no link.
CREATE TABLE invitations (
  id          TEXT PRIMARY KEY,
  project_id  TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  email       TEXT NOT NULL,
  role        TEXT NOT NULL CHECK (role IN ('guest', 'viewer', 'contributor', 'admin')),
  token_hash  TEXT UNIQUE,
  created_by  TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER,
  accepted_at INTEGER,
  CHECK ((token_hash IS NULL) = (accepted_at IS NOT NULL))
) STRICT;
CREATE INDEX invitations_project ON invitations (project_id, created_at);
CREATE UNIQUE INDEX invitations_one_open ON invitations (project_id, email) WHERE accepted_at IS NULL;

-- Values are sealed; nobody reads them but the pipelines of their project.
CREATE TABLE project_secrets (
  project_id   TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name         TEXT NOT NULL,
  sealed_value TEXT NOT NULL,
  updated_at   INTEGER NOT NULL,
  PRIMARY KEY (project_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
  id           TEXT PRIMARY KEY,
  name         TEXT NOT NULL,
  prefix       TEXT NOT NULL,
  token_hash   TEXT NOT NULL UNIQUE,
  project_id   TEXT REFERENCES projects (id) ON DELETE CASCADE,
  is_global    INTEGER NOT NULL CHECK (is_global IN (0, 1)),
  created_by   TEXT REFERENCES users (id) ON DELETE SET NULL,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  last_used_at INTEGER,
  CHECK (is_global = (project_id IS NULL))
) STRICT;
CREATE INDEX api_keys_project ON api_keys (project_id);

-- One row per content. `pack` is null for a content that is a file of its own. `variants_at` is when its compressed forms
-- were made, null while they wait to be made, 0 where no file of it has had a type that pays.
CREATE TABLE blobs (
  sha256          TEXT PRIMARY KEY,
  size_bytes      INTEGER NOT NULL,
  pack            TEXT,
  offset          INTEGER NOT NULL,
  variants_at     INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX blobs_pack ON blobs (pack, size_bytes) WHERE pack IS NOT NULL;
CREATE INDEX blobs_variants_pending ON blobs (sha256) WHERE variants_at IS NULL;

-- The compressed forms of a content, each a content of its own.
CREATE TABLE blob_variants (
  sha256         TEXT NOT NULL REFERENCES blobs (sha256) ON DELETE CASCADE,
  encoding       TEXT NOT NULL CHECK (encoding IN ('br', 'zstd', 'gzip')),
  variant_sha256 TEXT NOT NULL REFERENCES blobs (sha256),
  PRIMARY KEY (sha256, encoding)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_variants_variant ON blob_variants (variant_sha256);

-- Contents that lost a reference. The collector stamps them when it first sees them and looks again after the grace time.
CREATE TABLE blob_candidates (
  sha256  TEXT PRIMARY KEY,
  seen_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_candidates_seen ON blob_candidates (seen_at);

CREATE TABLE deployments (
  id              TEXT PRIMARY KEY,
  project_id      TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  commit_sha      TEXT NOT NULL,
  branch          TEXT,
  description     TEXT,
  workflow_name   TEXT,
  workflow_run_id TEXT,
  committed_at    INTEGER,
  tags            TEXT,
  -- The folder that the deployment's own host serves, as its last upload said; an alias has its own.
  base_path       TEXT NOT NULL DEFAULT '',
  file_count      INTEGER NOT NULL,
  total_size      INTEGER NOT NULL,
  version         INTEGER NOT NULL DEFAULT 1,
  created_by      TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  UNIQUE (project_id, commit_sha)
) STRICT;
CREATE INDEX deployments_created ON deployments (created_at);
CREATE INDEX deployments_project_created ON deployments (project_id, created_at);

CREATE TABLE assets (
  id            TEXT PRIMARY KEY,
  deployment_id TEXT NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
  path          TEXT NOT NULL,
  sha256        TEXT NOT NULL REFERENCES blobs (sha256),
  size_bytes    INTEGER NOT NULL,
  UNIQUE (deployment_id, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX assets_sha256 ON assets (sha256);

CREATE TABLE aliases (
  id            TEXT PRIMARY KEY,
  project_id    TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name          TEXT NOT NULL COLLATE NOCASE,
  deployment_id TEXT NOT NULL REFERENCES deployments (id),
  base_path     TEXT NOT NULL DEFAULT '',
  is_public     INTEGER CHECK (is_public IN (0, 1)),
  is_spa        INTEGER CHECK (is_spa IN (0, 1)),
  required_role TEXT CHECK (required_role IN ('guest', 'viewer', 'contributor', 'admin', 'owner')),
  is_locked     INTEGER NOT NULL DEFAULT 0 CHECK (is_locked IN (0, 1)),
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  UNIQUE (project_id, name)
) STRICT;
CREATE INDEX aliases_deployment ON aliases (deployment_id);

CREATE TABLE alias_history (
  id            TEXT PRIMARY KEY,
  alias_id      TEXT NOT NULL REFERENCES aliases (id) ON DELETE CASCADE,
  deployment_id TEXT NOT NULL,
  commit_sha    TEXT NOT NULL,
  base_path     TEXT NOT NULL,
  moved_by      TEXT NOT NULL,
  moved_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX alias_history_alias ON alias_history (alias_id, moved_at);

-- The label below the base domain under which an alias or a deployment is served.
CREATE TABLE host_labels (
  label         TEXT PRIMARY KEY,
  alias_id      TEXT UNIQUE REFERENCES aliases (id) ON DELETE CASCADE,
  deployment_id TEXT UNIQUE REFERENCES deployments (id) ON DELETE CASCADE,
  CHECK ((alias_id IS NULL) <> (deployment_id IS NULL))
) STRICT, WITHOUT ROWID;

-- A delta upload that was announced: its manifest as JSON, and the contents of cut-off bodies that arrived whole.
CREATE TABLE uploads (
  id         TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  manifest   TEXT NOT NULL,
  created_by TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE TABLE upload_blobs (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  sha256     TEXT NOT NULL REFERENCES blobs (sha256),
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, sha256)
) STRICT, WITHOUT ROWID;
CREATE INDEX upload_blobs_sha256 ON upload_blobs (sha256);

CREATE TRIGGER assets_freed AFTER DELETE ON assets
BEGIN INSERT OR REPLACE INTO blob_candidates VALUES (OLD.sha256, NULL); END;
CREATE TRIGGER assets_replaced AFTER UPDATE OF sha256 ON assets WHEN OLD.sha256 <> NEW.sha256
BEGIN INSERT OR REPLACE INTO blob_candidates VALUES (OLD.sha256, NULL); END;
CREATE TRIGGER upload_blobs_freed AFTER DELETE ON upload_blobs
BEGIN INSERT OR REPLACE INTO blob_candidates VALUES (OLD.sha256, NULL); END;
CREATE TRIGGER blob_variants_freed AFTER DELETE ON blob_variants
BEGIN INSERT OR REPLACE INTO blob_candidates VALUES (OLD.variant_sha256, NULL); END;

-- Who changed what. Append only; secrets are masked before they come here.
CREATE TABLE audit_log (
  id          TEXT PRIMARY KEY,
  at          INTEGER NOT NULL,
  actor_kind  TEXT NOT NULL,
  actor_id    TEXT,
  actor_name  TEXT,
  credential  TEXT NOT NULL,
  ip          TEXT,
  action      TEXT NOT NULL,
  target_kind TEXT NOT NULL,
  target_id   TEXT,
  project_id  TEXT,
  before      TEXT,
  after       TEXT
) STRICT;
CREATE INDEX audit_log_at ON audit_log (at);
CREATE INDEX audit_log_project ON audit_log (project_id, at);
CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log is append only'); END;
CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log is append only'); END;

-- What the site engine may keep in memory is valid for one generation: `sites` for what a host shows, `access` for who may see it.
CREATE TABLE site_generation (
  id     INTEGER PRIMARY KEY CHECK (id = 1),
  sites  INTEGER NOT NULL,
  access INTEGER NOT NULL
) STRICT;
INSERT INTO site_generation VALUES (1, 1, 1);

CREATE TRIGGER generation_projects_update AFTER UPDATE ON projects BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_projects_delete AFTER DELETE ON projects BEGIN UPDATE site_generation SET sites = sites + 1, access = access + 1; END;
CREATE TRIGGER generation_deployments_update AFTER UPDATE ON deployments BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_deployments_delete AFTER DELETE ON deployments BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_aliases_update AFTER UPDATE ON aliases BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_labels_insert AFTER INSERT ON host_labels BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_labels_delete AFTER DELETE ON host_labels BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_settings_insert AFTER INSERT ON settings BEGIN UPDATE site_generation SET sites = sites + 1, access = access + 1; END;
CREATE TRIGGER generation_settings_update AFTER UPDATE ON settings BEGIN UPDATE site_generation SET sites = sites + 1, access = access + 1; END;
CREATE TRIGGER generation_settings_delete AFTER DELETE ON settings BEGIN UPDATE site_generation SET sites = sites + 1, access = access + 1; END;
CREATE TRIGGER generation_users_update AFTER UPDATE OF email, role ON users BEGIN UPDATE site_generation SET access = access + 1; END;
CREATE TRIGGER generation_users_delete AFTER DELETE ON users BEGIN UPDATE site_generation SET access = access + 1; END;
CREATE TRIGGER generation_tokens_update AFTER UPDATE ON session_tokens BEGIN UPDATE site_generation SET access = access + 1; END;
CREATE TRIGGER generation_tokens_delete AFTER DELETE ON session_tokens BEGIN UPDATE site_generation SET access = access + 1; END;
CREATE TRIGGER generation_permissions_insert AFTER INSERT ON permissions BEGIN UPDATE site_generation SET access = access + 1; END;
CREATE TRIGGER generation_permissions_update AFTER UPDATE ON permissions BEGIN UPDATE site_generation SET access = access + 1; END;
CREATE TRIGGER generation_permissions_delete AFTER DELETE ON permissions BEGIN UPDATE site_generation SET access = access + 1; END;
CREATE TRIGGER generation_group_permissions_insert AFTER INSERT ON group_permissions BEGIN UPDATE site_generation SET access = access + 1; END;
CREATE TRIGGER generation_group_permissions_update AFTER UPDATE ON group_permissions BEGIN UPDATE site_generation SET access = access + 1; END;
CREATE TRIGGER generation_group_permissions_delete AFTER DELETE ON group_permissions BEGIN UPDATE site_generation SET access = access + 1; END;
CREATE TRIGGER generation_group_members_insert AFTER INSERT ON group_members BEGIN UPDATE site_generation SET access = access + 1; END;
CREATE TRIGGER generation_group_members_delete AFTER DELETE ON group_members BEGIN UPDATE site_generation SET access = access + 1; END;
CREATE TRIGGER generation_memberships_insert AFTER INSERT ON memberships BEGIN UPDATE site_generation SET access = access + 1; END;
CREATE TRIGGER generation_memberships_delete AFTER DELETE ON memberships BEGIN UPDATE site_generation SET access = access + 1; END;
CREATE TRIGGER generation_api_keys_update AFTER UPDATE OF project_id, is_global, expires_at, token_hash ON api_keys BEGIN UPDATE site_generation SET access = access + 1; END;
CREATE TRIGGER generation_api_keys_delete AFTER DELETE ON api_keys BEGIN UPDATE site_generation SET access = access + 1; END;
