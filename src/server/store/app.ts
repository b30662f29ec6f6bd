import type { Context, Machine } from '../../context.ts'
import { type App, createApp } from '../app.ts'
import { takingReports } from '../machines/reports.ts'
import { forSenders } from '../machines/senders.ts'
import { createDeposedDoor } from './deposed-door.ts'
import { behindGate } from './gate.ts'

/** The server of a workspace in an object store. */
export function createStoreApp(ctx: Context, machine: Machine): App {
  const app = createApp(ctx, (answer) => behindGate(ctx, answer))
  const primary = forSenders(ctx, { fetch: takingReports(ctx, app) })
  const deposed = createDeposedDoor(ctx, app)
  return {
    fetch: (request, peer) =>
      machine.role() === 'primary' ? primary(request, peer) : deposed(request, peer),
  }
}
