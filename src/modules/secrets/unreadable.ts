import type { Context } from '../../context.ts'
import { totpSealContext } from '../auth/second-step.ts'
import { parseStored, resealHeaderConfig } from '../proxy-rules/header-values.ts'
import { sealContext } from './service.ts'

type Row = { a: string; b: string; sealed: string; what: string }
type Place = { sql: string; open(ctx: Context, row: Row): unknown }

const NO_LIMIT = -1
/** Another key opens none of them, so a few of each kind tell. */
const SAMPLE = 10

/** Names every stored secret that the key of this server does not open: without it the secret is lost. */
export function* findUnreadableSecrets(
  ctx: Context,
  mostOfAKind = NO_LIMIT,
): Generator<{ kind: 'secret_unreadable'; detail: string }> {
  for (const { sql, open } of PLACES)
    for (const row of ctx.db.sqlite.query<Row, [number]>(`${sql} LIMIT ?`).all(mostOfAKind))
      if (!opens(() => open(ctx, row)))
        yield { kind: 'secret_unreadable', detail: `${row.what} cannot be opened with this key of secrets` }
}

/** A server with another key than before serves all but what needs a secret, which fails one by one: better told at the start. */
export function tellOfLostKey(ctx: Context): void {
  try {
    const [lost] = findUnreadableSecrets(ctx, SAMPLE)
    if (lost !== undefined)
      ctx.log.error('stored secrets were made with another key than SECRET_KEY or secret.key holds now', {
        detail: lost.detail,
      })
  } catch (error) {
    // Damage to these tables: what else goes on in the background is not to end for that.
    ctx.log.error('the stored secrets could not be looked at', { error })
  }
}

const PLACES: readonly Place[] = [
  {
    sql: `SELECT id AS a, '' AS b, totp_secret AS sealed, 'the second step of ' || email AS what
          FROM users WHERE totp_secret IS NOT NULL`,
    open: (ctx, { a, sealed }) => ctx.secrets.open(sealed, totpSealContext(a)),
  },
  {
    sql: `SELECT s.project_id AS a, s.name AS b, s.sealed_value AS sealed,
                 'the secret ' || s.name || ' of ' || p.owner || '/' || p.name AS what
          FROM project_secrets s JOIN projects p ON p.id = s.project_id`,
    open: (ctx, { a, b, sealed }) => ctx.secrets.open(sealed, sealContext(a, b)),
  },
  {
    sql: `SELECT id AS a, '' AS b, header_config AS sealed,
                 'a header value of the rule ' || id || ' (' || path_pattern || ')' AS what
          FROM proxy_rules WHERE header_config IS NOT NULL`,
    open({ secrets }, { a, sealed }) {
      const stored = parseStored(sealed)
      return stored && resealHeaderConfig(secrets, secrets, a, stored)
    },
  },
]

function opens(work: () => unknown): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}
