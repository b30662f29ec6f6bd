-- Webhooks and their outbox: an event is written in the transaction of the change, with one delivery for each hook that
-- wants it. `project_id` NULL: a hook of the workspace. URL, header values and secret are sealed.
CREATE TABLE webhooks (
  id              TEXT PRIMARY KEY,
  project_id      TEXT REFERENCES projects (id) ON DELETE CASCADE,
  name            TEXT NOT NULL,
  kind            TEXT NOT NULL CHECK (kind IN ('json', 'slack', 'mattermost', 'discord', 'ntfy')),
  events          TEXT NOT NULL CHECK (json_valid(events)),
  sealed_url      TEXT NOT NULL,
  -- Names to sealed values.
  sealed_headers  TEXT NOT NULL CHECK (json_valid(sealed_headers)),
  sealed_secret   TEXT NOT NULL,
  is_enabled      INTEGER NOT NULL CHECK (is_enabled IN (0, 1)),
  disabled_reason TEXT,
  -- How many of its deliveries are pending: triggers count.
  waiting         INTEGER NOT NULL DEFAULT 0,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX webhooks_project ON webhooks (project_id, created_at);

-- What happened, once for all its deliveries. `subject`: what it is about, for events that come once a day or hour.
CREATE TABLE webhook_events (
  id         INTEGER PRIMARY KEY,
  event      TEXT NOT NULL,
  project_id TEXT,
  subject    TEXT,
  body       TEXT NOT NULL CHECK (json_valid(body)),
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_events_told ON webhook_events (event, created_at);

CREATE TABLE webhook_deliveries (
  seq         INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  hook_id     TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  event_id    INTEGER NOT NULL REFERENCES webhook_events (id),
  status      TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
  tries       TEXT NOT NULL CHECK (json_valid(tries)),
  tries_left  INTEGER NOT NULL CHECK (tries_left >= 0),
  next_try_at INTEGER,
  created_at  INTEGER NOT NULL,
  CHECK ((status = 'pending') = (next_try_at IS NOT NULL))
) STRICT;
CREATE INDEX webhook_deliveries_hook ON webhook_deliveries (hook_id, seq);
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event_id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (hook_id, next_try_at, seq) WHERE status = 'pending';
-- The oldest that waits, which fails when there are too many.
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (hook_id, seq) WHERE status = 'pending';

CREATE TRIGGER webhook_deliveries_insert AFTER INSERT ON webhook_deliveries WHEN new.status = 'pending'
BEGIN UPDATE webhooks SET waiting = waiting + 1 WHERE id = new.hook_id; END;
CREATE TRIGGER webhook_deliveries_update AFTER UPDATE OF status ON webhook_deliveries WHEN old.status <> new.status
BEGIN UPDATE webhooks SET waiting = waiting + (new.status = 'pending') - (old.status = 'pending') WHERE id = new.hook_id; END;
CREATE TRIGGER webhook_deliveries_delete AFTER DELETE ON webhook_deliveries WHEN old.status = 'pending'
BEGIN UPDATE webhooks SET waiting = waiting - 1 WHERE id = old.hook_id; END;
