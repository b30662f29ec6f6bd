import type { Context } from './context.ts'
import { createFrontDoor, type Peer } from './front-door.ts'

export type App = { fetch: (request: Request, peer: Peer) => Response | Promise<Response> }

/** The composition root: one front door, and behind it the sites and, from when they are needed, the rooms of `rooms.ts`. */
export const createApp = (ctx: Context): App => ({
  fetch: createFrontDoor(ctx, async () => (await import('./rooms.ts')).createRooms(ctx)),
})
