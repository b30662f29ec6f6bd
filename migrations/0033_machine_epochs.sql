-- Who may write a workspace in an object store: the newest row. Each was the first transaction of its machine in the log.
CREATE TABLE machine_epochs (
  epoch   INTEGER PRIMARY KEY,
  machine TEXT NOT NULL,
  url     TEXT,
  -- Random per start: as in the objects of the log.
  writer  TEXT NOT NULL,
  reason  TEXT NOT NULL CHECK (reason IN ('start', 'silence', 'handover', 'forced')),
  at      INTEGER NOT NULL
) STRICT;
-- The store that this database is of, and a value that only the key of its secrets opens.
CREATE TABLE store_identity (
  id     TEXT PRIMARY KEY,
  sealed TEXT NOT NULL
) STRICT;
