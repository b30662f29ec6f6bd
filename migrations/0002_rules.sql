-- Proxy rules, rule sets, domain mappings and traffic splitting.

-- Rules kept as files in a repository come as sets. `live_on` says where a set counts: on every site of the project, or
-- only on the aliases that name it. Naming one moves it there, and losing the last alias does not bring it back: rules
-- of a preview must not become everybody's because a branch was deleted. A preview never counts for the project.
CREATE TABLE rule_sets (
  id             TEXT PRIMARY KEY,
  project_id     TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name           TEXT NOT NULL,
  description    TEXT,
  environment    TEXT,
  is_preview     INTEGER NOT NULL CHECK (is_preview IN (0, 1)),
  live_on        TEXT NOT NULL CHECK (live_on IN ('project', 'aliases')),
  source_repo    TEXT,
  source_path    TEXT,
  source_git_sha TEXT,
  synced_at      INTEGER,
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  UNIQUE (project_id, name),
  CHECK (is_preview = 0 OR live_on = 'aliases')
) STRICT;

-- The sets that an alias names, in the order of `position`. A set that an alias names cannot be deleted.
CREATE TABLE rule_set_aliases (
  alias_id    TEXT NOT NULL REFERENCES aliases (id) ON DELETE CASCADE,
  rule_set_id TEXT NOT NULL REFERENCES rule_sets (id) ON DELETE CASCADE,
  position    INTEGER NOT NULL,
  PRIMARY KEY (alias_id, rule_set_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX rule_set_aliases_set ON rule_set_aliases (rule_set_id);
CREATE TRIGGER rule_set_aliases_live AFTER INSERT ON rule_set_aliases
BEGIN UPDATE rule_sets SET live_on = 'aliases' WHERE id = NEW.rule_set_id AND live_on <> 'aliases'; END;
CREATE TRIGGER rule_set_aliases_same_project BEFORE INSERT ON rule_set_aliases
WHEN (SELECT project_id FROM aliases WHERE id = NEW.alias_id)
  IS NOT (SELECT project_id FROM rule_sets WHERE id = NEW.rule_set_id)
BEGIN SELECT RAISE(ABORT, 'alias and rule set belong to different projects'); END;

-- What a set was after each push that changed it, as JSON and without header values.
CREATE TABLE rule_set_revisions (
  id          TEXT PRIMARY KEY,
  rule_set_id TEXT NOT NULL REFERENCES rule_sets (id) ON DELETE CASCADE,
  content     TEXT NOT NULL CHECK (json_valid(content)),
  git_sha     TEXT,
  created_by  TEXT NOT NULL,
  created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX rule_set_revisions_set ON rule_set_revisions (rule_set_id, created_at);

-- A rule belongs to its project, and to one alias of it or to one set where it is not for all. Lists and configurations
-- are JSON. The values of `header_config.add` are sealed; an empty one was declared and never given.
CREATE TABLE proxy_rules (
  id              TEXT PRIMARY KEY,
  project_id      TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  alias_id        TEXT REFERENCES aliases (id) ON DELETE CASCADE,
  rule_set_id     TEXT REFERENCES rule_sets (id) ON DELETE CASCADE,
  path_pattern    TEXT NOT NULL CHECK (substr(path_pattern, 1, 1) IN ('/', '*')),
  method          TEXT,
  methods         TEXT CHECK (json_valid(methods)),
  proxy_type      TEXT NOT NULL CHECK (proxy_type IN ('external_proxy', 'internal_rewrite', 'pipeline')),
  target_url      TEXT NOT NULL,
  strip_prefix    INTEGER NOT NULL CHECK (strip_prefix IN (0, 1)),
  rule_order      INTEGER NOT NULL,
  timeout_ms      INTEGER NOT NULL CHECK (timeout_ms BETWEEN 100 AND 60000),
  preserve_host   INTEGER NOT NULL CHECK (preserve_host IN (0, 1)),
  forward_cookies INTEGER NOT NULL CHECK (forward_cookies IN (0, 1)),
  header_config   TEXT CHECK (json_valid(header_config)),
  pipeline_config TEXT CHECK (json_valid(pipeline_config)),
  is_enabled      INTEGER NOT NULL CHECK (is_enabled IN (0, 1)),
  debug_enabled   INTEGER NOT NULL CHECK (debug_enabled IN (0, 1)),
  description     TEXT,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  CHECK (alias_id IS NULL OR rule_set_id IS NULL),
  CHECK (proxy_type <> 'pipeline' OR pipeline_config IS NOT NULL),
  CHECK (proxy_type <> 'external_proxy' OR substr(target_url, 1, 8) = 'https://'),
  CHECK (proxy_type <> 'internal_rewrite' OR substr(target_url, 1, 1) = '/')
) STRICT;
CREATE INDEX proxy_rules_project ON proxy_rules (project_id);
CREATE INDEX proxy_rules_alias ON proxy_rules (alias_id) WHERE alias_id IS NOT NULL;
CREATE INDEX proxy_rules_set ON proxy_rules (rule_set_id) WHERE rule_set_id IS NOT NULL;
CREATE UNIQUE INDEX proxy_rules_identity ON proxy_rules (rule_set_id, path_pattern, coalesce(method, ''))
  WHERE rule_set_id IS NOT NULL;

-- A host of a project. The alias is kept by name: one that is deleted and made again shows there again.
CREATE TABLE domains (
  id              TEXT PRIMARY KEY,
  project_id      TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  hostname        TEXT NOT NULL UNIQUE CHECK (hostname = lower(hostname)),
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
  CHECK ((verified_at IS NULL) = (verified_by IS NULL))
) STRICT;
CREATE INDEX domains_project ON domains (project_id, created_at);
CREATE INDEX domains_created ON domains (created_at);

-- How a domain divides its visitors among aliases, named in `weights` and `rules` (JSON).
CREATE TABLE traffic (
  domain_id      TEXT PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
  weights        TEXT NOT NULL CHECK (json_valid(weights)),
  sticky         INTEGER NOT NULL CHECK (sticky IN (0, 1)),
  sticky_seconds INTEGER NOT NULL CHECK (sticky_seconds > 0),
  rules          TEXT NOT NULL CHECK (json_valid(rules)),
  updated_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER generation_rule_sets_update AFTER UPDATE ON rule_sets BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_rule_sets_delete AFTER DELETE ON rule_sets BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_rule_set_aliases_insert AFTER INSERT ON rule_set_aliases BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_rule_set_aliases_update AFTER UPDATE ON rule_set_aliases BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_rule_set_aliases_delete AFTER DELETE ON rule_set_aliases BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_proxy_rules_insert AFTER INSERT ON proxy_rules BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_proxy_rules_update AFTER UPDATE ON proxy_rules BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_proxy_rules_delete AFTER DELETE ON proxy_rules BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_domains_insert AFTER INSERT ON domains BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_domains_update AFTER UPDATE ON domains BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_domains_delete AFTER DELETE ON domains BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_traffic_insert AFTER INSERT ON traffic BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_traffic_update AFTER UPDATE ON traffic BEGIN UPDATE site_generation SET sites = sites + 1; END;
CREATE TRIGGER generation_traffic_delete AFTER DELETE ON traffic BEGIN UPDATE site_generation SET sites = sites + 1; END;
