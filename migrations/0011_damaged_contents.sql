-- A content whose bytes on the disk were found to differ (1): an upload that brings it stores it again.
ALTER TABLE blobs ADD COLUMN damaged INTEGER NOT NULL DEFAULT 0;
CREATE INDEX blobs_damaged ON blobs (sha256) WHERE damaged = 1;
