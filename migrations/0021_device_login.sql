-- `svc login`: a session of the command line has a token in place of cookies.
CREATE TABLE cli_sessions (
  session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
  token_hash TEXT NOT NULL UNIQUE,
  name       TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER generation_cli_sessions_delete AFTER DELETE ON cli_sessions BEGIN UPDATE site_generation SET access = access + 1; END;

-- One that waits for somebody's word, by both of its codes. RFC 8628.
CREATE TABLE device_logins (
  device_hash      TEXT PRIMARY KEY,
  user_hash        TEXT NOT NULL UNIQUE,
  client_name      TEXT NOT NULL,
  ip               TEXT NOT NULL,
  -- What counts as one asker: of IPv6 a network.
  network          TEXT NOT NULL,
  created_at       INTEGER NOT NULL,
  expires_at       INTEGER NOT NULL,
  interval_seconds INTEGER NOT NULL,
  asked_at         INTEGER,
  -- Null until somebody decided.
  is_approved      INTEGER CHECK (is_approved IN (0, 1)),
  approved_by      TEXT REFERENCES users (id) ON DELETE CASCADE,
  CHECK ((approved_by IS NOT NULL) = (is_approved IS 1))
) STRICT, WITHOUT ROWID;
CREATE INDEX device_logins_expiry ON device_logins (expires_at);
CREATE INDEX device_logins_network ON device_logins (network, expires_at);
CREATE INDEX device_logins_approver ON device_logins (approved_by) WHERE approved_by IS NOT NULL;
