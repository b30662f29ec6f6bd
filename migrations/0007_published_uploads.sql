-- When a delta upload was published: asked for again, it answers what is there now and moves no alias back.
ALTER TABLE uploads ADD COLUMN published_at INTEGER;
