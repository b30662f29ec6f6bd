-- Files that visitors and pipelines store in a project, by their path below `{owner}/{repo}/uploads/`.
CREATE TABLE project_files (
  id            TEXT PRIMARY KEY,
  project_id    TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  path          TEXT NOT NULL,
  blob_id       INTEGER NOT NULL REFERENCES blobs (id),
  size_bytes    INTEGER NOT NULL,
  content_type  TEXT NOT NULL,
  is_registered INTEGER NOT NULL CHECK (is_registered IN (0, 1)),
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  UNIQUE (project_id, path)
) STRICT;
CREATE INDEX project_files_blob ON project_files (blob_id);
CREATE INDEX project_files_created ON project_files (project_id, created_at, path);
CREATE INDEX project_files_size ON project_files (project_id, size_bytes, path);

-- How many files a project has and how large they are together, so that storing one adds nothing up.
CREATE TABLE project_file_totals (
  project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  files      INTEGER NOT NULL,
  bytes      INTEGER NOT NULL
) STRICT;

CREATE TRIGGER project_files_added AFTER INSERT ON project_files
BEGIN
  INSERT INTO project_file_totals VALUES (NEW.project_id, 1, NEW.size_bytes)
    ON CONFLICT (project_id) DO UPDATE SET files = files + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER project_files_replaced AFTER UPDATE OF blob_id, size_bytes ON project_files
BEGIN
  INSERT OR REPLACE INTO blob_candidates SELECT sha256, NULL FROM blobs WHERE id = OLD.blob_id AND OLD.blob_id <> NEW.blob_id;
  UPDATE project_file_totals SET bytes = bytes + NEW.size_bytes - OLD.size_bytes WHERE project_id = NEW.project_id;
END;
CREATE TRIGGER project_files_freed AFTER DELETE ON project_files
BEGIN
  INSERT OR REPLACE INTO blob_candidates SELECT sha256, NULL FROM blobs WHERE id = OLD.blob_id;
  UPDATE project_file_totals SET files = files - 1, bytes = bytes - OLD.size_bytes WHERE project_id = OLD.project_id;
END;

-- Paths of which a record was made: upload addresses issued before are no longer taken. Kept for as long as one may live.
CREATE TABLE spent_uploads (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  path       TEXT NOT NULL,
  spent_at   INTEGER NOT NULL,
  PRIMARY KEY (project_id, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX spent_uploads_at ON spent_uploads (spent_at);
