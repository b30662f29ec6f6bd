-- Accounts of before whose email is not stored in its normal form (contract 12.7), with that form. They keep their
-- spelling; other spellings find them here. New emails are always stored in the normal form.
CREATE TABLE email_keys (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  email   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX email_keys_email ON email_keys (email);

CREATE TRIGGER users_email_taken BEFORE INSERT ON users
WHEN EXISTS (SELECT 1 FROM email_keys WHERE email = NEW.email)
BEGIN SELECT RAISE(ABORT, 'email taken'); END;
CREATE TRIGGER users_new_email_taken BEFORE UPDATE OF email ON users
WHEN NEW.email <> OLD.email AND EXISTS (SELECT 1 FROM email_keys WHERE email = NEW.email AND user_id <> NEW.id)
BEGIN SELECT RAISE(ABORT, 'email taken'); END;
CREATE TRIGGER users_email_changed AFTER UPDATE OF email ON users
WHEN NEW.email <> OLD.email
BEGIN DELETE FROM email_keys WHERE user_id = NEW.id; END;
