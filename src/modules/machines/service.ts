import { storeUrlText } from '../../config/store.ts'
import type { Context, Machine } from '../../context.ts'
import { isoTime } from '../../domain/iso-time.ts'
import type { Grant } from '../auth/authorize.ts'
import type { MachinesView, MachineView, StoreView } from './model.ts'
import { otherMachines } from './reported.ts'
import { storeTotals } from './store-totals.ts'

export type { MachinesView, MachineView, StoreView } from './model.ts'
export { isSilent, machineWarnings } from './warnings.ts'

/** The machines of the workspace as this one knows them, and the object store that they share. contract 18 §7. */
export async function getMachines(ctx: Context, _grant: Grant): Promise<MachinesView> {
  const { machine } = ctx
  const self = ownMachine(ctx)
  return {
    self: self.name,
    primary: machine === null ? self.name : (machine.primary()?.name ?? null),
    machines: knownMachines(ctx),
    store: machine === null ? null : await storeView(ctx, machine),
  }
}

/** This machine first. */
export const knownMachines = (ctx: Context): MachineView[] => [ownMachine(ctx), ...otherMachines(ctx)]

/** What this machine says of itself. */
export function ownMachine({ config, machine, version, blobs, now }: Context): MachineView {
  const { number, lagMs } = machine?.state() ?? { number: 0, lagMs: 0 }
  const { bytes, hits, misses } = blobs.remote?.cache ?? { bytes: 0, hits: 0, misses: 0 }
  return {
    name: machine?.name ?? config.machineName,
    role: machine?.role() ?? 'primary',
    url: config.machineUrl,
    version,
    epoch: machine?.epoch() ?? 0,
    number,
    lagMs: Math.round(lagMs),
    lastSeenAt: isoTime(now()),
    cacheBytes: bytes,
    cacheHits: hits,
    cacheMisses: misses,
  }
}

async function storeView(ctx: Context, machine: Machine): Promise<StoreView> {
  const { isStoreUp, error } = machine.state()
  const totals = await storeTotals(machine)
  return {
    url: storeUrlText(ctx.config),
    status: isStoreUp ? 'ok' : 'error',
    error: isStoreUp ? null : error,
    logBytes: totals?.log.bytes ?? null,
    baseAt: totals?.base?.at ?? null,
    contentBytes: totals?.contents.bytes ?? null,
    objects: totals?.contents.objects ?? null,
  }
}
