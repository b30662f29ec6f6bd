import type { Config } from '../../config/config.ts'
import type { Epoch } from './epoch.ts'
import { wasPrimaryHere } from './last-primary.ts'

export type Reason = Epoch['reason']

type At = {
  /** The newest take-over in the log; undefined before the first. */
  last: Epoch | undefined
  /** Whether the primary of that one said so. */
  hasSteppedDown: boolean
}

/** Why a machine takes over at its start, by `ROLE`; null where it follows. contract 18 §5. */
export function reasonAtStart(
  { role, machineName, dataDir }: Pick<Config, 'role' | 'machineName' | 'dataDir'>,
  { last, hasSteppedDown }: At,
): Reason | null {
  if (role === 'node' || role === 'standby') return null
  if (last === undefined || wasPrimaryHere(dataDir, last.writer)) return 'start'
  if (hasSteppedDown) return 'handover'
  if (role === 'auto') return null
  return last.machine === machineName ? 'start' : 'forced'
}
