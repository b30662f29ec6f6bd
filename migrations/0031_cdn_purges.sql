-- What a CDN is to forget. Without CDN_KIND there are no targets, so that nothing is written.
CREATE TABLE cdn_targets (
  id           INTEGER PRIMARY KEY,
  url          TEXT NOT NULL UNIQUE,
  -- A target that asked to be left alone (Retry-After).
  waits_until  INTEGER NOT NULL DEFAULT 0,
  last_at      INTEGER,
  last_keys    TEXT CHECK (json_valid(last_keys)),
  last_status  INTEGER
) STRICT;
-- One row per key and target, however often the key changes: each change raises `version` and begins anew. `is_again`:
-- sent once, and it goes out a second time. `due_at` 0: never tried.
CREATE TABLE cdn_purges (
  key            TEXT NOT NULL,
  target         INTEGER NOT NULL REFERENCES cdn_targets (id) ON DELETE CASCADE,
  version        INTEGER NOT NULL DEFAULT 1,
  is_again       INTEGER NOT NULL DEFAULT 0 CHECK (is_again IN (0, 1)),
  due_at         INTEGER NOT NULL DEFAULT 0,
  tries          INTEGER NOT NULL DEFAULT 0,
  first_tried_at INTEGER,
  PRIMARY KEY (target, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX cdn_purges_due ON cdn_purges (target, due_at);

-- A key written into this view is purged from all targets.
CREATE VIEW cdn_stale AS SELECT key FROM cdn_purges;
CREATE TRIGGER cdn_stale_insert INSTEAD OF INSERT ON cdn_stale BEGIN
  INSERT INTO cdn_purges (key, target) SELECT NEW.key, id FROM cdn_targets WHERE true
    ON CONFLICT DO UPDATE SET version = version + 1, is_again = 0, due_at = 0, tries = 0, first_tried_at = NULL;
END;

CREATE TRIGGER cdn_aliases_insert AFTER INSERT ON aliases BEGIN
  INSERT INTO cdn_stale SELECT 'a-' || NEW.id;
END;
CREATE TRIGGER cdn_aliases_update AFTER UPDATE ON aliases BEGIN
  INSERT INTO cdn_stale SELECT 'a-' || NEW.id;
END;
CREATE TRIGGER cdn_aliases_delete AFTER DELETE ON aliases BEGIN
  INSERT INTO cdn_stale SELECT 'a-' || OLD.id;
END;
CREATE TRIGGER cdn_deployments_insert AFTER INSERT ON deployments WHEN NEW.version > 1 BEGIN
  INSERT INTO cdn_stale SELECT 'd-' || d.id FROM deployments d
    WHERE d.project_id = NEW.project_id AND d.commit_sha = NEW.commit_sha AND d.version < NEW.version
    ORDER BY d.version DESC LIMIT 1;
END;
CREATE TRIGGER cdn_deployments_update AFTER UPDATE OF base_path, file_count, total_size, revision ON deployments BEGIN
  INSERT INTO cdn_stale SELECT 'd-' || NEW.id;
END;
CREATE TRIGGER cdn_deployments_delete AFTER DELETE ON deployments BEGIN
  INSERT INTO cdn_stale SELECT 'd-' || OLD.id;
END;
CREATE TRIGGER cdn_routing_insert AFTER INSERT ON deployment_routing BEGIN
  INSERT INTO cdn_stale SELECT 'd-' || NEW.deployment_id;
END;
CREATE TRIGGER cdn_routing_delete AFTER DELETE ON deployment_routing BEGIN
  INSERT INTO cdn_stale SELECT 'd-' || OLD.deployment_id;
END;
CREATE TRIGGER cdn_labels_update AFTER UPDATE ON host_labels WHEN OLD.deployment_id IS NOT NULL BEGIN
  INSERT INTO cdn_stale SELECT 'd-' || OLD.deployment_id;
END;
CREATE TRIGGER cdn_projects_update AFTER UPDATE ON projects BEGIN
  INSERT INTO cdn_stale SELECT 'p-' || NEW.id;
END;
CREATE TRIGGER cdn_projects_delete AFTER DELETE ON projects BEGIN
  INSERT INTO cdn_stale SELECT 'p-' || OLD.id;
END;
CREATE TRIGGER cdn_proxy_rules_insert AFTER INSERT ON proxy_rules BEGIN
  INSERT INTO cdn_stale SELECT 'p-' || NEW.project_id;
END;
CREATE TRIGGER cdn_proxy_rules_update AFTER UPDATE ON proxy_rules BEGIN
  INSERT INTO cdn_stale SELECT 'p-' || NEW.project_id;
END;
CREATE TRIGGER cdn_proxy_rules_delete AFTER DELETE ON proxy_rules BEGIN
  INSERT INTO cdn_stale SELECT 'p-' || OLD.project_id;
END;
CREATE TRIGGER cdn_rule_sets_update AFTER UPDATE ON rule_sets BEGIN
  INSERT INTO cdn_stale SELECT 'p-' || NEW.project_id;
END;
CREATE TRIGGER cdn_rule_sets_delete AFTER DELETE ON rule_sets BEGIN
  INSERT INTO cdn_stale SELECT 'p-' || OLD.project_id;
END;
CREATE TRIGGER cdn_rule_set_aliases_insert AFTER INSERT ON rule_set_aliases BEGIN
  INSERT INTO cdn_stale SELECT 'p-' || a.project_id FROM aliases a WHERE a.id = NEW.alias_id;
END;
CREATE TRIGGER cdn_rule_set_aliases_update AFTER UPDATE ON rule_set_aliases BEGIN
  INSERT INTO cdn_stale SELECT 'p-' || a.project_id FROM aliases a WHERE a.id = NEW.alias_id;
END;
CREATE TRIGGER cdn_rule_set_aliases_delete AFTER DELETE ON rule_set_aliases BEGIN
  INSERT INTO cdn_stale SELECT 'p-' || a.project_id FROM aliases a WHERE a.id = OLD.alias_id;
END;
CREATE TRIGGER cdn_domains_insert AFTER INSERT ON domains BEGIN
  INSERT INTO cdn_stale SELECT 'p-' || NEW.project_id;
END;
CREATE TRIGGER cdn_domains_update AFTER UPDATE OF project_id, hostname, alias, path_prefix, is_public, is_spa, required_role, redirect_to, verified_at ON domains BEGIN
  INSERT INTO cdn_stale SELECT 'p-' || OLD.project_id UNION SELECT 'p-' || NEW.project_id;
END;
CREATE TRIGGER cdn_domains_delete AFTER DELETE ON domains BEGIN
  INSERT INTO cdn_stale SELECT 'p-' || OLD.project_id;
END;
CREATE TRIGGER cdn_traffic_insert AFTER INSERT ON traffic BEGIN
  INSERT INTO cdn_stale SELECT 'p-' || o.project_id FROM domains o WHERE o.id = NEW.domain_id;
END;
CREATE TRIGGER cdn_traffic_update AFTER UPDATE ON traffic BEGIN
  INSERT INTO cdn_stale SELECT 'p-' || o.project_id FROM domains o WHERE o.id = NEW.domain_id;
END;
CREATE TRIGGER cdn_traffic_delete AFTER DELETE ON traffic BEGIN
  INSERT INTO cdn_stale SELECT 'p-' || o.project_id FROM domains o WHERE o.id = OLD.domain_id;
END;
