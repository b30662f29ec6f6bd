-- A session that was handed over to a site of its own domain ends with the one that it was opened from.
ALTER TABLE sessions ADD COLUMN opened_from TEXT;
CREATE INDEX sessions_opened_from ON sessions (opened_from) WHERE opened_from IS NOT NULL;
