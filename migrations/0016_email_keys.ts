import type { Database } from 'bun:sqlite'
import { normalEmail } from '../src/domain/email.ts'

type Spelled = { id: string; email: string }

/**
 * Completes migration 0016: finds the accounts whose email is not in its normal form, and gives open invitations that form
 * (theirs is what sign-up compares with). No account changes. contract 12.7.
 */
export function fillEmailKeys(sqlite: Database): void {
  const insert = sqlite.query('INSERT INTO email_keys (user_id, email) VALUES (?, ?)')
  for (const { id, normal } of misspelled(sqlite, 'SELECT id, email FROM users')) insert.run(id, normal)
  // An invitation to an account that has its spelling leads there; of two to one email, the one in normal form stays.
  const rename = sqlite.query('UPDATE OR IGNORE invitations SET email = ? WHERE id = ?')
  const open = `SELECT id, email FROM invitations i WHERE accepted_at IS NULL
                  AND NOT EXISTS (SELECT 1 FROM users u WHERE u.email = i.email)`
  for (const { id, normal } of misspelled(sqlite, open)) rename.run(normal, id)
}

const misspelled = (sqlite: Database, query: string): { id: string; normal: string }[] =>
  sqlite
    .query<Spelled, []>(query)
    .all()
    .flatMap(({ id, email }) => {
      const normal = normalEmail(email)
      return normal === null || normal === email ? [] : [{ id, normal }]
    })
