-- Projects that were deleted, until what they held is deleted too. Their own row is gone, so that nothing finds them.
CREATE TABLE removed_projects (
  id         TEXT PRIMARY KEY,
  removed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
