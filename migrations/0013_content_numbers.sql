-- Contents get numbers, and files refer to them by number. An index by SHA-256 has its entries anywhere, so that each
-- deployment of files that are mostly known rewrote most of its pages; numbers of files published together are
-- neighbours. Every table that refers to a content is made anew, since a table that others refer to cannot be replaced.
-- What a deleted project leaves until upkeep gets to it, or a damaged database holds, would be refused as a new row.
DELETE FROM upload_blobs
  WHERE project_id NOT IN (SELECT id FROM projects) OR sha256 NOT IN (SELECT sha256 FROM blobs);
DELETE FROM blob_variants
  WHERE sha256 NOT IN (SELECT sha256 FROM blobs) OR variant_sha256 NOT IN (SELECT sha256 FROM blobs);
DELETE FROM assets
  WHERE deployment_id NOT IN (SELECT id FROM deployments) OR sha256 NOT IN (SELECT sha256 FROM blobs);

CREATE TABLE new_blobs (
  id          INTEGER PRIMARY KEY,
  sha256      TEXT NOT NULL UNIQUE,
  size_bytes  INTEGER NOT NULL,
  pack        TEXT,
  offset      INTEGER NOT NULL,
  variants_at INTEGER,
  damaged     INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO new_blobs (sha256, size_bytes, pack, offset, variants_at, damaged)
  SELECT sha256, size_bytes, pack, offset, variants_at, damaged FROM blobs ORDER BY pack, offset;

CREATE TABLE new_assets (
  id            TEXT PRIMARY KEY,
  deployment_id TEXT NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
  path          TEXT NOT NULL,
  blob_id       INTEGER NOT NULL REFERENCES new_blobs (id),
  size_bytes    INTEGER NOT NULL,
  UNIQUE (deployment_id, path)
) STRICT;
INSERT INTO new_assets (id, deployment_id, path, blob_id, size_bytes)
  SELECT a.id, a.deployment_id, a.path, b.id, a.size_bytes
  FROM assets a JOIN new_blobs b ON b.sha256 = a.sha256 ORDER BY a.id;

CREATE TABLE new_blob_variants (
  sha256         TEXT NOT NULL REFERENCES new_blobs (sha256) ON DELETE CASCADE,
  encoding       TEXT NOT NULL CHECK (encoding IN ('br', 'zstd', 'gzip')),
  variant_sha256 TEXT NOT NULL REFERENCES new_blobs (sha256),
  PRIMARY KEY (sha256, encoding)
) STRICT, WITHOUT ROWID;
INSERT INTO new_blob_variants SELECT sha256, encoding, variant_sha256 FROM blob_variants;

CREATE TABLE new_upload_blobs (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  sha256     TEXT NOT NULL REFERENCES new_blobs (sha256),
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, sha256)
) STRICT, WITHOUT ROWID;
INSERT INTO new_upload_blobs SELECT project_id, sha256, expires_at FROM upload_blobs;

DROP TABLE assets;
DROP TABLE blob_variants;
DROP TABLE upload_blobs;
DROP TABLE blobs;
ALTER TABLE new_blobs RENAME TO blobs;
ALTER TABLE new_assets RENAME TO assets;
ALTER TABLE new_blob_variants RENAME TO blob_variants;
ALTER TABLE new_upload_blobs RENAME TO upload_blobs;

CREATE INDEX blobs_pack ON blobs (pack, size_bytes) WHERE pack IS NOT NULL;
CREATE INDEX blobs_variants_pending ON blobs (sha256) WHERE variants_at IS NULL;
CREATE INDEX blobs_damaged ON blobs (sha256) WHERE damaged = 1;
CREATE INDEX assets_blob ON assets (blob_id);
CREATE INDEX blob_variants_variant ON blob_variants (variant_sha256);
CREATE INDEX upload_blobs_sha256 ON upload_blobs (sha256);
CREATE INDEX upload_blobs_expiry ON upload_blobs (expires_at);

CREATE TRIGGER assets_freed AFTER DELETE ON assets
BEGIN INSERT OR REPLACE INTO blob_candidates SELECT sha256, NULL FROM blobs WHERE id = OLD.blob_id; END;
CREATE TRIGGER assets_replaced AFTER UPDATE OF blob_id ON assets WHEN OLD.blob_id <> NEW.blob_id
BEGIN INSERT OR REPLACE INTO blob_candidates SELECT sha256, NULL FROM blobs WHERE id = OLD.blob_id; END;
CREATE TRIGGER upload_blobs_freed AFTER DELETE ON upload_blobs
BEGIN INSERT OR REPLACE INTO blob_candidates VALUES (OLD.sha256, NULL); END;
CREATE TRIGGER blob_variants_freed AFTER DELETE ON blob_variants
BEGIN INSERT OR REPLACE INTO blob_candidates VALUES (OLD.variant_sha256, NULL); END;
