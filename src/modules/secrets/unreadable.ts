import type { Context } from '../../context.ts'
import { totpSealContext } from '../auth/second-step.ts'
import { openMail } from '../notices/sealed.ts'
import { parseStored, resealHeaderConfig, resealRulesIn } from '../proxy-rules/header-values.ts'
import { openHeaders, openHookSecret, openUrl } from '../webhooks/sealed.ts'
import { sealContext } from './seal-context.ts'

type Row = { a: string; b: string; sealed: string; what: string }
type Place = { sql: string; open(ctx: Context, row: Row): unknown }

const NO_LIMIT = -1
/** A wrong key opens none of them, so a few of each kind are enough. */
const SAMPLE = 10

/** Names every stored secret that this server's key cannot open. Without the right key the secret is lost. */
export function* findUnreadableSecrets(
  ctx: Context,
  maxOfAKind = NO_LIMIT,
): Generator<{ kind: 'secret_unreadable'; detail: string }> {
  for (const { sql, open } of PLACES)
    for (const row of ctx.db.sqlite.query<Row, [number]>(`${sql} LIMIT ?`).all(maxOfAKind))
      if (!opens(() => open(ctx, row)))
        yield {
          kind: 'secret_unreadable',
          detail: `${row.what} cannot be opened with the current secret key`,
        }
}

/** Logs at the start if the key does not open the stored secrets: what needs one would fail later, one by one. */
export function tellOfLostKey(ctx: Context): void {
  try {
    const [lost] = findUnreadableSecrets(ctx, SAMPLE)
    if (lost !== undefined)
      ctx.log.error(
        'stored secrets were sealed with a different key than the current SECRET_KEY or secret.key',
        {
          detail: lost.detail,
        },
      )
  } catch (error) {
    // These tables are damaged; the other background work must continue.
    ctx.log.error('the stored secrets could not be checked', { error })
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
  {
    sql: `SELECT entry_id AS a, '' AS b, state AS sealed, 'a header value of the change ' || entry_id AS what
          FROM undo_states WHERE state LIKE '%"headerConfig":"%'`,
    open: ({ secrets }, { sealed }) => resealRulesIn(secrets, sealed),
  },
  {
    sql: `SELECT id AS a, sealed_secret || ' ' || sealed_url AS b, sealed_headers AS sealed,
                 'the address, the secret or a header value of the webhook ' || id || ' (' || name || ')' AS what
          FROM webhooks WHERE 1`,
    open({ secrets }, { a: id, b, sealed: sealedHeaders }) {
      const [sealedSecret = '', sealedUrl = ''] = b.split(' ')
      openHookSecret(secrets, { id, sealedSecret })
      openUrl(secrets, { id, sealedUrl })
      openHeaders(secrets, { id, sealedHeaders })
    },
  },
  {
    sql: `SELECT id AS a, '' AS b, sealed, 'the text of a mail that waits (' || notice || ')' AS what
          FROM mails WHERE sealed IS NOT NULL`,
    open: ({ secrets }, { a: id, sealed }) => openMail(secrets, id, sealed),
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
