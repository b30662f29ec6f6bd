-- Only a proven mapping holds a host: any number of projects may claim one that nobody has proven, each with its own
-- challenge. Made anew, because the UNIQUE of a column cannot be dropped; with the table that refers to it.
CREATE TABLE new_domains (
  id              TEXT PRIMARY KEY,
  project_id      TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  hostname        TEXT NOT NULL CHECK (hostname = lower(hostname)),
  alias           TEXT NOT NULL COLLATE NOCASE,
  path_prefix     TEXT NOT NULL DEFAULT '',
  is_public       INTEGER CHECK (is_public IN (0, 1)),
  is_spa          INTEGER CHECK (is_spa IN (0, 1)),
  required_role   TEXT CHECK (required_role IN ('guest', 'viewer', 'contributor', 'admin', 'owner')),
  redirect_to     TEXT,
  -- What the owner of the host must show; kept when it was shown, so that a change of mind needs no new record.
  challenge       TEXT NOT NULL,
  verified_by     TEXT CHECK (verified_by IN ('base_domain', 'txt', 'http', 'admin')),
  verified_at     INTEGER,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  checked_at      INTEGER,
  check_error     TEXT,
  -- Finds the claims of a host too.
  UNIQUE (hostname, project_id),
  CHECK ((verified_at IS NULL) = (verified_by IS NULL))
) STRICT;
INSERT INTO new_domains
  SELECT id, project_id, hostname, alias, path_prefix, is_public, is_spa, required_role, redirect_to, challenge,
         verified_by, verified_at, created_at, updated_at, checked_at, check_error
  FROM domains WHERE project_id IN (SELECT id FROM projects);

CREATE TABLE new_traffic (
  domain_id      TEXT PRIMARY KEY REFERENCES new_domains (id) ON DELETE CASCADE,
  weights        TEXT NOT NULL CHECK (json_valid(weights)),
  sticky         INTEGER NOT NULL CHECK (sticky IN (0, 1)),
  sticky_seconds INTEGER NOT NULL CHECK (sticky_seconds > 0),
  rules          TEXT NOT NULL CHECK (json_valid(rules)),
  updated_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO new_traffic
  SELECT domain_id, weights, sticky, sticky_seconds, rules, updated_at
  FROM traffic WHERE domain_id IN (SELECT id FROM new_domains);

DROP TABLE traffic;
DROP TABLE domains;
ALTER TABLE new_domains RENAME TO domains;
ALTER TABLE new_traffic RENAME TO traffic;

CREATE UNIQUE INDEX domains_proven ON domains (hostname) WHERE verified_at IS NOT NULL;
CREATE INDEX domains_unproven ON domains (created_at) WHERE verified_at IS NULL;
CREATE INDEX domains_project ON domains (project_id, created_at);
CREATE INDEX domains_created ON domains (created_at);

CREATE TRIGGER generation_domains_insert AFTER INSERT ON domains BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_domains_update AFTER UPDATE ON domains BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_domains_delete AFTER DELETE ON domains BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_traffic_insert AFTER INSERT ON traffic BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_traffic_update AFTER UPDATE ON traffic BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_traffic_delete AFTER DELETE ON traffic BEGIN UPDATE site_generation SET sites = sites + 1; END;
