import type { Context } from '../context.ts'
import type { Peer } from '../http/arrival.ts'
import { type Answering, createFrontDoor } from './front-door.ts'
import { loadEndpoints } from './load-endpoints.ts'

export type App = { fetch: (request: Request, peer: Peer) => Response | Promise<Response> }

/**
 * The composition root: the front door, and behind it the API, the pages and everything else that is not a plain file.
 */
export const createApp = (ctx: Context, around?: (answer: Answering) => Answering): App => ({
  fetch: createFrontDoor(
    ctx,
    async () => {
      const [endpoints, { routeRequest }] = await Promise.all([
        loadEndpoints(ctx)(),
        import('./route-request.ts'),
      ])
      return (arrival) => routeRequest(ctx, endpoints, arrival)
    },
    around,
  ),
})
