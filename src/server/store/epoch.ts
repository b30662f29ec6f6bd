import { desc } from 'drizzle-orm'
import type { Config } from '../../config/config.ts'
import { ConfigError } from '../../config/config.ts'
import { audit } from '../../db/audit.ts'
import { type Db, type DbOrTx, inTransaction } from '../../db/open.ts'
import { machineEpochs, storeIdentity } from '../../db/schema-machines.ts'
import type { SecretBox } from '../../platform/secret-box.ts'
import { identityContext } from './identity-context.ts'

type Source = { now: () => number; newId: () => string }
export type Epoch = typeof machineEpochs.$inferSelect

/** What the sealed value says: only that the key is the right one. */
const SEALED_TEXT = 'svc'

/** Refuses what Litestream replicates, too: both would restart the log of the database. contract 18 §9. */
export function refuseLitestream({ sqlite }: Db): void {
  const table = sqlite
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_master WHERE name LIKE '\\_litestream\\_%' ESCAPE '\\'",
    )
    .get()
  if (table !== null)
    throw new ConfigError(
      `the database has the table ${table.name}: Litestream and STORE_URL exclude each other. Stop Litestream and drop its tables, or unset STORE_URL`,
    )
}

/** Whether the key of secrets was known to this database before. */
export const hasIdentity = (db: Db, storeId: string): boolean => sealedOf(db, storeId) !== undefined

/** Throws `ConfigError` for another key than the one that the workspace was begun with. */
export function refuseOtherKey(db: Db, storeId: string, secrets: SecretBox): void {
  const sealed = sealedOf(db, storeId)
  if (sealed === undefined) return
  try {
    secrets.open(sealed, identityContext(storeId))
  } catch {
    throw new ConfigError(
      'SECRET_KEY (or secret.key in DATA_DIR) is not the key that this workspace was begun with: give this machine the same',
    )
  }
}

function sealedOf({ orm }: Db, storeId: string): string | undefined {
  return orm
    .select()
    .from(storeIdentity)
    .all()
    .find(({ id }) => id === storeId)?.sealed
}

type Beginning = { storeId: string; writer: string; secrets: SecretBox; reason: Epoch['reason'] }

/** The first transaction of a machine that means to be primary: it is, once the log has it. Returns the epoch. */
export function beginEpoch(
  db: Db,
  { now, newId }: Source,
  config: Pick<Config, 'machineName' | 'machineUrl'>,
  { storeId, writer, secrets, reason }: Beginning,
): number {
  return inTransaction(db, (tx) => {
    const epoch: Epoch = {
      epoch: (lastEpoch(tx)?.epoch ?? 0) + 1,
      machine: config.machineName,
      url: config.machineUrl,
      writer,
      reason,
      at: now(),
    }
    tx.insert(machineEpochs).values(epoch).run()
    const sealed = secrets.seal(SEALED_TEXT, identityContext(storeId))
    tx.insert(storeIdentity).values({ id: storeId, sealed }).onConflictDoNothing().run()
    audit(
      { now, newId },
      tx,
      { kind: 'operator' },
      {
        action: 'machine.primary',
        target: { kind: 'machine', id: null, name: epoch.machine },
        after: { machine: epoch.machine, epoch: epoch.epoch, reason: epoch.reason },
      },
    )
    return epoch.epoch
  })
}

/** The newest take-over that this database knows of. */
export const lastEpoch = (tx: DbOrTx): Epoch | undefined =>
  tx.select().from(machineEpochs).orderBy(desc(machineEpochs.epoch)).limit(1).all()[0]
