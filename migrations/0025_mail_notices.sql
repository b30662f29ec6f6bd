-- Mails that wait to be sent, as the outbox of webhooks: written in the transaction of the change. `sealed` holds the text,
-- which may contain a link, until the mail has ended. `about`: for notices that come once a day. The account and the
-- project are no references: a mail is not sent once they are gone.
CREATE TABLE mails (
  seq         INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  notice      TEXT NOT NULL,
  address     TEXT NOT NULL,
  user_id     TEXT,
  project_id  TEXT,
  about       TEXT,
  sealed      TEXT,
  status      TEXT NOT NULL CHECK (status IN ('pending', 'sent', 'failed')),
  error       TEXT,
  tries_left  INTEGER NOT NULL CHECK (tries_left >= 0),
  next_try_at INTEGER,
  created_at  INTEGER NOT NULL,
  ended_at    INTEGER,
  CHECK ((status = 'pending') = (next_try_at IS NOT NULL)),
  CHECK ((status = 'pending') = (sealed IS NOT NULL)),
  CHECK ((status = 'pending') = (ended_at IS NULL))
) STRICT;
CREATE INDEX mails_due ON mails (next_try_at, seq) WHERE status = 'pending';
CREATE INDEX mails_ended ON mails (ended_at) WHERE status <> 'pending';
CREATE INDEX mails_address ON mails (address, notice, created_at);
CREATE INDEX mails_told ON mails (notice, about, created_at);

-- What somebody does not want to be mailed about.
CREATE TABLE notices_off (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  notice  TEXT NOT NULL,
  PRIMARY KEY (user_id, notice)
) STRICT, WITHOUT ROWID;

-- Browsers that signed in to an account, by the hash of their `svc_device` cookie.
CREATE TABLE known_devices (
  user_id    TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  token_hash TEXT NOT NULL,
  seen_at    INTEGER NOT NULL,
  PRIMARY KEY (user_id, token_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX known_devices_token ON known_devices (token_hash);
CREATE INDEX known_devices_seen ON known_devices (seen_at);
