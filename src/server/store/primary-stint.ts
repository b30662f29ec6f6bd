import { startDuties } from '../duties.ts'
import { contextOn } from '../open-context.ts'
import { createStoreApp } from './app.ts'
import { startBeating } from './beat.ts'
import type { Station, Stint } from './stint.ts'
import type { Primary } from './take-over.ts'

export type PrimaryStint = Stint & Pick<Primary, 'leave'>

/** This machine writes the workspace. */
export function primaryStint({ config, parts, machine, store }: Station, primary: Primary): PrimaryStint {
  const { db, secretKeys, epoch, shipper, isDeposed } = primary
  const self = { name: config.machineName, url: config.machineUrl }
  const ctx = contextOn(parts, { db, secretKeys, machine })
  const isPrimary = () => !isDeposed()
  const beats = startBeating({ store, db, epoch, ...self, shipper, isPrimary })
  let stopDuties = async () => {}
  return {
    ctx,
    app: createStoreApp(ctx, machine),
    role: () => (isDeposed() ? 'standby' : 'primary'),
    epoch: () => epoch,
    primary: () => (isDeposed() ? null : self),
    state: () => shipper.state(),
    async begin() {
      stopDuties = await startDuties(ctx)
      if (isDeposed()) await stopDuties()
    },
    end: () => stopDuties(),
    async stop() {
      await beats.stop()
      await primary.stop()
      await beats.stepDown()
    },
    async leave() {
      await beats.stop()
      await primary.leave()
    },
    close: () => db.close(),
  }
}
