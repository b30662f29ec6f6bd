import type { Config } from '../../config/config.ts'
import type { Context, Machine, MachineRole } from '../../context.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import type { App } from '../app.ts'
import type { ProcessParts } from '../open-context.ts'

/** What a machine is for a time. Everything in memory hangs on its context, so that nothing is left of it afterwards. */
export type Stint = Pick<Machine, 'role' | 'epoch' | 'primary' | 'state'> & {
  readonly ctx: Context
  readonly app: App
  /** Starts what it does beside answering. */
  begin(): Promise<void>
  /** Ends that, as far as it has begun. */
  end(): Promise<void>
  /** After the last request: what it leaves on the disk and in the store is whole. The database stays open for those who read. */
  stop(): Promise<void>
  close(): void
}

/** What a machine keeps through its roles. */
export type Station = {
  config: Config
  parts: ProcessParts
  machine: Machine
  store: ObjectStore
}

export const roleOfFollower = ({ role }: Pick<Config, 'role'>): MachineRole =>
  role === 'node' ? 'node' : 'standby'

/** What a machine that has nothing to do beside answering does not do. */
export const noDuties = { begin: async () => {}, end: async () => {} }
