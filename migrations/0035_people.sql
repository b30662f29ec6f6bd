-- Somebody who is suspended has no session. Their roles, groups, memberships and projects stay, and count for nothing
-- meanwhile.
ALTER TABLE users ADD COLUMN suspended_at INTEGER;
ALTER TABLE users ADD COLUMN suspended_reason TEXT CHECK (suspended_reason IS NULL OR suspended_at IS NOT NULL);
-- Of the sessions that ended: when one was seen last. Those that have not ended know it themselves.
ALTER TABLE users ADD COLUMN last_seen_at INTEGER;
CREATE TRIGGER sessions_seen BEFORE DELETE ON sessions
BEGIN
  UPDATE users SET last_seen_at = max(coalesce(last_seen_at, 0), OLD.last_seen_at) WHERE id = OLD.user_id;
END;
CREATE TRIGGER sessions_of_suspended BEFORE INSERT ON sessions
WHEN (SELECT suspended_at FROM users WHERE id = NEW.user_id) IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'account suspended'); END;

-- One admin who is not suspended stays: neither demoted, deleted nor suspended.
DROP TRIGGER users_last_admin_demoted;
DROP TRIGGER users_last_admin_deleted;
CREATE TRIGGER users_last_admin_demoted BEFORE UPDATE OF role, suspended_at ON users
WHEN OLD.role = 'admin' AND OLD.suspended_at IS NULL AND (NEW.role <> 'admin' OR NEW.suspended_at IS NOT NULL)
 AND (SELECT count(*) FROM users WHERE role = 'admin' AND suspended_at IS NULL) = 1
BEGIN SELECT RAISE(ABORT, 'last admin'); END;
CREATE TRIGGER users_last_admin_deleted BEFORE DELETE ON users
WHEN OLD.role = 'admin' AND OLD.suspended_at IS NULL
 AND (SELECT count(*) FROM users WHERE role = 'admin' AND suspended_at IS NULL) = 1
BEGIN SELECT RAISE(ABORT, 'last admin'); END;

DROP TRIGGER generation_users_update;
CREATE TRIGGER generation_users_update AFTER UPDATE OF email, role, suspended_at ON users BEGIN UPDATE site_generation SET access = access + 1; END;
