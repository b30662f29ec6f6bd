-- The contents whose compressed forms a project has come to by compressing its own files, and may therefore send. Forms
-- are stored once for all projects, and nobody may learn from them what others have.
CREATE TABLE project_variants (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  blob_id    INTEGER NOT NULL REFERENCES blobs (id) ON DELETE CASCADE,
  PRIMARY KEY (project_id, blob_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX project_variants_blob ON project_variants (blob_id);

-- Deployments whose files are still to be compressed.
CREATE TABLE waiting_deployments (
  deployment_id TEXT PRIMARY KEY REFERENCES deployments (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- A project that no longer has a content has to compress it anew, as if it had never had it.
CREATE TRIGGER assets_deleted_variants AFTER DELETE ON assets
BEGIN
  DELETE FROM project_variants
  WHERE blob_id = OLD.blob_id
    AND project_id = (SELECT project_id FROM deployments WHERE id = OLD.deployment_id)
    AND NOT EXISTS (SELECT 1 FROM assets a JOIN deployments d ON d.id = a.deployment_id
                    WHERE a.blob_id = OLD.blob_id AND d.project_id = project_variants.project_id);
END;
CREATE TRIGGER assets_replaced_variants AFTER UPDATE OF blob_id ON assets WHEN OLD.blob_id <> NEW.blob_id
BEGIN
  DELETE FROM project_variants
  WHERE blob_id = OLD.blob_id
    AND project_id = (SELECT project_id FROM deployments WHERE id = OLD.deployment_id)
    AND NOT EXISTS (SELECT 1 FROM assets a JOIN deployments d ON d.id = a.deployment_id
                    WHERE a.blob_id = OLD.blob_id AND d.project_id = project_variants.project_id);
END;

-- A form stays for the projects whose files have a type that makes it: these are the extensions that had one so far.
INSERT INTO project_variants (project_id, blob_id)
  SELECT DISTINCT d.project_id, b.id
  FROM assets a JOIN blobs b ON b.id = a.blob_id JOIN deployments d ON d.id = a.deployment_id
    JOIN projects p ON p.id = d.project_id
  WHERE b.variants_at > 0 AND b.size_bytes BETWEEN 1024 AND 268435456 AND instr(a.path, '.') > 0
    AND lower(substr(a.path, length(rtrim(a.path, replace(a.path, '.', ''))) + 1)) IN (
      'html', 'htm', 'css', 'js', 'mjs', 'cjs', 'txt', 'text', 'log', 'conf', 'ini', 'md', 'markdown', 'csv', 'tsv', 'ics',
      'vcf', 'vtt', 'htc', 'json', 'map', 'jsonld', 'geojson', 'jsonfeed', 'webmanifest', 'ndjson', 'jsonl', 'yaml', 'yml',
      'toml', 'graphql', 'gql', 'xml', 'xsl', 'xsd', 'xhtml', 'xht', 'rss', 'atom', 'kml', 'gpx', 'svg', 'gltf', 'wasm',
      'rtf', 'doc', 'xls', 'ppt', 'eot', 'm3u8', 'mpd', 'tar', 'ttc', 'otf', 'ttf', 'bmp', 'ico', 'cur', 'glb', 'obj', 'stl');
INSERT INTO waiting_deployments (deployment_id)
  SELECT DISTINCT a.deployment_id FROM assets a JOIN blobs b ON b.id = a.blob_id
    JOIN deployments d ON d.id = a.deployment_id
  WHERE b.variants_at IS NULL;

-- From now on `variants_at` is when the forms of a content were made; null: never.
DROP INDEX blobs_variants_pending;
UPDATE blobs SET variants_at = NULL WHERE variants_at = 0;
