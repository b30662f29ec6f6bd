import type { Config } from '../../config/config.ts'
import { storeWarning } from '../../config/store.ts'
import type { Machine } from '../../context.ts'
import { createLog } from '../../platform/log.ts'
import { startDuties } from '../duties.ts'
import { contextOn, keepToOurselves, openParts, systemNow } from '../open-context.ts'
import { prepare } from '../prepare.ts'
import type { Workspace } from '../workspace.ts'
import { createStoreApp } from './app.ts'
import { startBeating } from './beat.ts'
import { openControl } from './control.ts'
import { reachStore } from './open-store.ts'
import { takeOver } from './take-over.ts'

/** The workspace in an object store: this machine is its primary then. contract 18 §1, §5. */
export async function openStoredWorkspace(
  config: Config,
  version: string,
  write: (text: string) => void,
): Promise<Workspace> {
  keepToOurselves()
  const now = systemNow
  const newId = () => Bun.randomUUIDv7()
  const log = createLog({ level: config.logLevel, format: config.logFormat, now, write })
  const warning = storeWarning(config)
  if (warning !== null) log.warn(warning)
  const { store, storeId, activity } = await reachStore(config, now, newId())
  let role: ReturnType<Machine['role']> = 'primary'
  let end = async () => {}
  const onDeposed = () => {
    role = 'standby'
    void end()
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
    counts: { takeovers: 1, forwarded: { answered: 0, unreachable: 0 } },
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
  const storage = { store, epoch: () => epoch }
  const parts = await openParts(config, { version, write, store: storage })
  const ctx = contextOn(parts, { db, secretKeys, machine })
  await prepare(ctx)
  return {
    serving: { ctx, app: createStoreApp(ctx, machine), storage, certificates: null },
    listensOn: parts.listensOn,
    async begin() {
      const [stopDuties, stopControl] = await Promise.all([startDuties(ctx), openControl(ctx)])
      end = () => Promise.all([stopDuties(), stopControl()]).then(() => {})
      if (machine.role() !== 'primary') void end()
    },
    end: () => end(),
    async close() {
      await primary.stop()
      await stopBeating()
      parts.close()
      db.close()
    },
  }
}
