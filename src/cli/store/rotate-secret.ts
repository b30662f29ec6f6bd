import type { Config } from '../../config/config.ts'
import { openFollowed } from '../../db/followed.ts'
import { logKey } from '../../domain/store-keys.ts'
import { CertificateStore } from '../../modules/certificates/store.ts'
import { createLog } from '../../platform/log.ts'
import { CertObjects } from '../../platform/object-store/cert-objects.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import type { SecretBox } from '../../platform/secret-box.ts'
import { systemNow } from '../../server/open-context.ts'
import { type Arrival, arrive, databaseFile } from '../../server/store/arrive.ts'
import { readBeat, startBeating } from '../../server/store/beat.ts'
import type { Reason } from '../../server/store/claim.ts'
import { type Epoch, lastEpoch } from '../../server/store/epoch.ts'
import { openStore } from '../../server/store/open-store.ts'
import { type Primary, takeOver } from '../../server/store/take-over.ts'
import { CommandFailure, type Io } from '../command.ts'
import { resealDatabase, rotateSecret } from '../rotate-secret.ts'

const LOOK_MS = 500

/** As `rotateSecret`, of a workspace that no primary writes meanwhile. contract 18 §1. */
export async function rotateStoredSecret(config: Config, io: Io): Promise<number> {
  if (config.storeUrl === null)
    throw new CommandFailure(`${config.dataDir} is a copy of a workspace in an object store: set STORE_URL`)
  const { store } = openStore(config, systemNow, Bun.randomUUIDv7())
  return rotateSecret(config, systemNow(), async () => {
    const found = await arrive({ ...config, role: 'auto' }, store, Bun.randomUUIDv7)
    const reason = found.reason ?? (await reasonAfterSilence(config, store, found, io))
    return async (secrets) =>
      resealStored(config, await lead(config, store, { ...found, reason }, io), store, secrets)
  })
}

async function resealStored(
  config: Config,
  primary: Primary,
  store: ObjectStore,
  secrets: SecretBox,
): Promise<number> {
  const { db, epoch, shipper, isDeposed } = primary
  const beats = startBeating({
    ...{ store, db, epoch, shipper, name: config.machineName, url: config.machineUrl },
    isPrimary: () => !isDeposed(),
  })
  try {
    const count = resealDatabase(db.sqlite, secrets)
    await shipper.sync()
    const objects = new CertObjects({ store, epoch: () => epoch })
    const certificates = new CertificateStore(config.dataDir, secrets, objects)
    await certificates.pull({ isPrimary: true })
    return count + (await certificates.resealAll())
  } finally {
    await beats.stop()
    await primary.stop()
    await beats.stepDown()
    db.close()
  }
}

async function lead(
  config: Config,
  store: ObjectStore,
  { storeId, number, reason }: Arrival & { reason: Reason },
  io: Io,
): Promise<Primary> {
  const log = createLog({ level: 'error', format: config.logFormat, now: systemNow, write: io.stderr.write })
  const source = { now: systemNow, newId: Bun.randomUUIDv7, log }
  const claim = { number, reason, onDeposed() {} }
  const primary = await takeOver(config, source, { store, storeId }, claim)
  if (primary === null) throw new CommandFailure('another machine took over: stop it first')
  return primary
}

/** Fails at the first sign of life. */
async function reasonAfterSilence(
  config: Config,
  store: ObjectStore,
  { number }: Arrival,
  io: Io,
): Promise<Reason> {
  const last = newestEpoch(config)
  const beatOf = () => readBeat(store, last?.epoch ?? 0)
  const first = await beatOf()
  io.stderr.write(`waiting ${config.takeoverSeconds} s for a sign of the primary ${last?.machine ?? ''}\n`)
  const endsAt = performance.now() + config.takeoverSeconds * 1_000
  while (performance.now() < endsAt) {
    await Bun.sleep(LOOK_MS)
    const beat = await beatOf()
    if (beat?.hasSteppedDown === true) return 'handover'
    if (beat?.text !== first?.text || (await store.head(logKey(number + 1))) !== null) throw alive(last)
  }
  return 'silence'
}

const alive = (last: Epoch | undefined): CommandFailure =>
  new CommandFailure(
    `the primary ${last?.machine ?? ''}${last?.url ? ` (${last.url})` : ''} is alive: stop it first, and run this where its secret.key is`,
  )

function newestEpoch(config: Config): Epoch | undefined {
  const db = openFollowed(databaseFile(config))
  try {
    return lastEpoch(db.orm)
  } finally {
    db.close()
  }
}
