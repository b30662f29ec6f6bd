-- When the proof of a domain was last looked for, and what was missing then.
ALTER TABLE domains ADD COLUMN checked_at INTEGER;
ALTER TABLE domains ADD COLUMN check_error TEXT;
