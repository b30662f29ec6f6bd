-- The id of a large content's object in the object store, `files/<sha256>-<id>`: a content that was deleted and comes again is another object. Packs are objects by their own id.
ALTER TABLE blobs ADD COLUMN object TEXT;
-- Objects that no row names any more. They are deleted from the store an hour later.
CREATE TABLE removed_objects (
  key        TEXT PRIMARY KEY,
  removed_at INTEGER NOT NULL
) STRICT;
