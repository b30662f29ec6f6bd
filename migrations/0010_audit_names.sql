-- What a change was made to, by its name at that time: an id says nothing to a reader, and what it named may be gone.
ALTER TABLE audit_log ADD COLUMN target_name TEXT;
