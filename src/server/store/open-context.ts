import type { Config } from '../../config/config.ts'
import { storeWarning } from '../../config/store.ts'
import type { Machine } from '../../context.ts'
import { createLog } from '../../platform/log.ts'
import { keepToOurselves, type OpenedContext, openOn, systemNow } from '../open-context.ts'
import { startBeating } from './beat.ts'
import { reachStore } from './open-store.ts'
import { takeOver } from './take-over.ts'

export type OpenedWorkspace = OpenedContext & {
  /** Resolves when another machine has taken over. */
  deposed: Promise<void>
  /** Ships what is left, before `close`. */
  ship(): Promise<void>
}

/** As `openContext`, of a workspace in an object store: this machine is its primary then. contract 18 §1, §5. */
export async function openWorkspace(
  config: Config,
  version: string,
  write: (text: string) => void,
): Promise<OpenedWorkspace> {
  keepToOurselves()
  const now = systemNow
  const newId = () => Bun.randomUUIDv7()
  const log = createLog({ level: config.logLevel, format: config.logFormat, now, write })
  const warning = storeWarning(config)
  if (warning !== null) log.warn(warning)
  const { store, storeId, activity } = await reachStore(config, now, newId())
  let role: ReturnType<Machine['role']> = 'primary'
  const deposed = Promise.withResolvers<void>()
  const onDeposed = () => {
    role = 'standby'
    deposed.resolve()
  }
  const primary = await takeOver(config, { now, newId, log }, { store, storeId, onDeposed })
  const { db, secretKeys, epoch, shipper } = primary
  log.info('this machine is the primary of the workspace', { machine: config.machineName, epoch })
  const machine: Machine = {
    name: config.machineName,
    role: () => role,
    epoch: () => epoch,
    primary: () => (role === 'primary' ? { name: config.machineName, url: config.machineUrl } : null),
    state: () => shipper.state(),
    heardAt: () => activity.heardAt,
    store,
    activity,
  }
  const stopBeating = startBeating({
    store,
    db,
    epoch,
    name: config.machineName,
    url: config.machineUrl,
    number: () => shipper.number,
    isPrimary: () => role === 'primary',
  })
  const parts = { version, write, secretKeys, db, machine, store: { store, epoch: () => epoch } }
  return { ...(await openOn(config, parts)), deposed: deposed.promise, ship }

  async function ship(): Promise<void> {
    await primary.stop()
    await stopBeating()
  }
}
