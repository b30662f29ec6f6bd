-- The tokens of language models that a project used on its latest day, in days since 1970 (UTC).
CREATE TABLE model_tokens (
  project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  day INTEGER NOT NULL,
  tokens INTEGER NOT NULL CHECK (tokens >= 0)
) STRICT;
