import type { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { openDb } from '../db/open.ts'
import { totpSealContext } from '../modules/auth/second-step.ts'
import { CertificateStore } from '../modules/certificates/store.ts'
import { mailSealContext } from '../modules/notices/sealed.ts'
import { parseStored, resealHeaderConfig, resealRulesIn } from '../modules/proxy-rules/header-values.ts'
import { sealContext } from '../modules/secrets/seal-context.ts'
import { hookSealContext, resealHookHeaders } from '../modules/webhooks/sealed.ts'
import { namingHolder } from '../platform/database-lock.ts'
import { lockDataDir } from '../platform/instance-lock.ts'
import { createSecretBox, type SecretBox } from '../platform/secret-box.ts'
import { newSecretKey, readSecretKeys, replaceSecretKeys } from '../platform/secret-keys.ts'
import { identityContext } from '../server/store/identity-context.ts'
import { CommandFailure } from './command.ts'
import { enterOwn } from './operator.ts'

/** Seals everything anew that the new key, the first one, does not seal yet. Returns how many values there were. */
export type Resealing = (secrets: SecretBox) => Promise<number>

/**
 * Replaces the key of stored secrets: the new key goes in front of `secret.key`, every sealed value is sealed anew (those of
 * the database in one transaction, then the keys of certificates, file by file), and only then the old keys leave the file.
 * Stopped at any point, the data can be read and the command be run again. Returns how many values there were. Throws
 * `CommandFailure` while a server runs, as it holds the old key. `prepare` may throw, and nothing is changed then.
 */
export async function rotateSecret(
  config: Config,
  now: number,
  prepare: () => Promise<Resealing> = async () => (secrets) => resealDirectory(config, secrets, now),
): Promise<number> {
  if (config.secretKey !== null)
    throw new CommandFailure('SECRET_KEY gives the key; it is rotated where secret.key holds it')
  enterOwn(config)
  const lock = lockDataDir(config.dataDir)
  if (lock === undefined) throw new CommandFailure(`a server runs on ${config.dataDir}: stop it first`)
  try {
    const reseal = await prepare()
    const path = join(config.dataDir, 'secret.key')
    const known = readSecretKeys(path)
    const fresh = newSecretKey()
    replaceSecretKeys(path, [fresh, ...known])
    const count = await reseal(createSecretBox([fresh, ...known]))
    replaceSecretKeys(path, [fresh])
    return count
  } finally {
    lock.release()
  }
}

async function resealDirectory({ dataDir }: Config, secrets: SecretBox, now: number): Promise<number> {
  const path = join(dataDir, 'svc.db')
  const { sqlite } = openDb(path, now)
  try {
    const count = namingHolder(path, () => resealDatabase(sqlite, secrets))
    return count + (await new CertificateStore(dataDir, secrets).resealAll())
  } finally {
    sqlite.close()
  }
}

/** In one transaction. */
export const resealDatabase = (sqlite: Database, secrets: SecretBox): number =>
  sqlite
    .transaction(() => {
      const count = SEALED.reduce((sum, reseal) => sum + reseal(sqlite, secrets), 0)
      refuseLeftOvers(sqlite, secrets.keyId)
      return count
    })
    .immediate()

/** One for each place with sealed values; `refuseLeftOvers` finds a place missing from this list. */
const SEALED: readonly ((sqlite: Database, secrets: SecretBox) => number)[] = [
  (sqlite, secrets) =>
    resealColumn(sqlite, secrets, {
      select: 'SELECT id AS a, id AS b, totp_secret AS sealed FROM users WHERE totp_secret IS NOT NULL',
      update: 'UPDATE users SET totp_secret = ? WHERE id = ? AND id = ?',
      context: (userId) => totpSealContext(userId),
    }),
  (sqlite, secrets) =>
    resealColumn(sqlite, secrets, {
      select: 'SELECT user_id AS a, user_id AS b, secret AS sealed FROM totp_enrollments',
      update: 'UPDATE totp_enrollments SET secret = ? WHERE user_id = ? AND user_id = ?',
      context: (userId) => totpSealContext(userId),
    }),
  (sqlite, secrets) =>
    resealColumn(sqlite, secrets, {
      select: 'SELECT project_id AS a, name AS b, sealed_value AS sealed FROM project_secrets',
      update: 'UPDATE project_secrets SET sealed_value = ? WHERE project_id = ? AND name = ?',
      context: sealContext,
    }),
  (sqlite, secrets) =>
    resealColumn(sqlite, secrets, {
      select: 'SELECT id AS a, id AS b, sealed_url AS sealed FROM webhooks',
      update: 'UPDATE webhooks SET sealed_url = ? WHERE id = ? AND id = ?',
      context: (hookId) => hookSealContext(hookId, 'url'),
    }),
  (sqlite, secrets) =>
    resealColumn(sqlite, secrets, {
      select: 'SELECT id AS a, id AS b, sealed_secret AS sealed FROM webhooks',
      update: 'UPDATE webhooks SET sealed_secret = ? WHERE id = ? AND id = ?',
      context: (hookId) => hookSealContext(hookId, 'secret'),
    }),
  (sqlite, secrets) =>
    resealColumn(sqlite, secrets, {
      select: 'SELECT id AS a, id AS b, sealed FROM mails WHERE sealed IS NOT NULL',
      update: 'UPDATE mails SET sealed = ? WHERE id = ? AND id = ?',
      context: (mailId) => mailSealContext(mailId),
    }),
  (sqlite, secrets) =>
    resealColumn(sqlite, secrets, {
      select: 'SELECT id AS a, id AS b, sealed FROM store_identity',
      update: 'UPDATE store_identity SET sealed = ? WHERE id = ? AND id = ?',
      context: (storeId) => identityContext(storeId),
    }),
  resealHeaders,
  resealHookValues,
  resealUndoStates,
]

type Column = { select: string; update: string; context: (a: string, b: string) => string }

function resealColumn(sqlite: Database, secrets: SecretBox, column: Column): number {
  const rows = sqlite.query<{ a: string; b: string; sealed: string }, []>(column.select).all()
  const update = sqlite.query(column.update)
  for (const { a, b, sealed } of rows) {
    const context = column.context(a, b)
    update.run(secrets.seal(secrets.open(sealed, context), context), a, b)
  }
  return rows.length
}

function resealHeaders(sqlite: Database, secrets: SecretBox): number {
  const rows = sqlite
    .query<{ id: string; config: string }, []>(
      'SELECT id, header_config AS config FROM proxy_rules WHERE header_config IS NOT NULL',
    )
    .all()
  const update = sqlite.query('UPDATE proxy_rules SET header_config = ? WHERE id = ?')
  for (const { id, config } of rows) {
    const stored = parseStored(config)
    if (stored !== null) update.run(JSON.stringify(resealHeaderConfig(secrets, secrets, id, stored)), id)
  }
  return rows.length
}

/** Rules of changes that can be undone, wherever they stand in a state. */
function resealUndoStates(sqlite: Database, secrets: SecretBox): number {
  const rows = sqlite
    .query<{ id: string; state: string }, []>(
      `SELECT entry_id AS id, state FROM undo_states WHERE state LIKE '%"headerConfig":"%'`,
    )
    .all()
  const update = sqlite.query('UPDATE undo_states SET state = ? WHERE entry_id = ?')
  for (const { id, state } of rows) update.run(resealRulesIn(secrets, state), id)
  return rows.length
}

function resealHookValues(sqlite: Database, secrets: SecretBox): number {
  const rows = sqlite
    .query<{ id: string; sealedHeaders: string }, []>(
      "SELECT id, sealed_headers AS sealedHeaders FROM webhooks WHERE sealed_headers <> '{}'",
    )
    .all()
  const update = sqlite.query('UPDATE webhooks SET sealed_headers = ? WHERE id = ?')
  for (const hook of rows) update.run(resealHookHeaders(secrets, hook), hook.id)
  return rows.length
}

/** A sealed value names its key; what others wrote may look like one. A value left under an old key would be lost with that key, so nothing is changed then. */
function refuseLeftOvers(sqlite: Database, keyId: string): void {
  const columns = sqlite
    .query<{ tableName: string; name: string }, []>(
      `SELECT m.name AS tableName, c.name FROM sqlite_master m, pragma_table_info(m.name) c
       WHERE m.type = 'table' AND c.type = 'TEXT' AND m.name NOT IN ('audit_log', 'webhook_events', 'webhook_deliveries')`,
    )
    .all()
  for (const { tableName, name } of columns) {
    const values = sqlite
      .query<{ value: string }, []>(
        `SELECT "${name}" AS value FROM "${tableName}" WHERE "${name}" LIKE '%v1.%'`,
      )
      .all()
    const isLeft = values.some(({ value }) =>
      [...value.matchAll(/\bv1\.([0-9a-f]{8})\.[\w-]{38,}/g)].some(([, id]) => id !== keyId),
    )
    if (isLeft)
      throw new CommandFailure(`${tableName}.${name} holds a value of an old key; nothing was changed`)
  }
}
