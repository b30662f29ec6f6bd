import { isSilent, knownMachines, machineWarnings } from '../../machines/service.ts'
import type { Check } from './check.ts'

/** `value`: the bytes that were written here and are not in the object store. */
export const checkStore: Check = ({ machine }) => {
  if (machine === null) return { status: 'off', message: 'There is no object store: STORE_URL is not set' }
  const { isStoreUp, error, unshippedBytes: value, number } = machine.state()
  const isPrimary = machine.role() === 'primary'
  if (!isStoreUp) {
    const so = isPrimary ? 'Nothing can be changed' : 'This machine hears of no change'
    return { status: 'error', message: `${so}: ${error ?? 'no answer'}`, value }
  }
  if (error !== null) return { status: 'error', message: error, value }
  if (!isPrimary) return { status: 'ok', message: `This machine follows, up to number ${number}`, value }
  return { status: 'ok', message: `Everything is in the object store, up to number ${number}`, value }
}

/** Whether another machine could take over. `value`: how many stand-bys follow. */
export const checkStandby: Check = (ctx) => {
  const machines = knownMachines(ctx)
  const heard = machines.filter(
    ({ role, lastSeenAt }) => role === 'standby' && !isSilent({ lastSeenAt }, ctx.now()),
  )
  const value = heard.length
  const warnings = machineWarnings(machines, { now: ctx.now(), hasSecret: ctx.config.nodeSecret !== null })
  if (warnings.length > 0)
    return { status: 'warn', message: warnings.map(({ message }) => message).join(' '), value }
  return { status: 'ok', message: `Following: ${heard.map(({ name }) => name).join(', ')}`, value }
}
