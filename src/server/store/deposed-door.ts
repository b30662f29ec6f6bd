import type { Context } from '../../context.ts'
import { notPrimary } from '../../domain/store-errors.ts'
import { Arrival } from '../../http/arrival.ts'
import { errorResponse } from '../../http/error-response.ts'
import { keepFromCdn } from '../../site/cdn-mark.ts'
import type { App } from '../app.ts'
import { serveOpenFile } from '../front-door.ts'

/**
 * What a machine answers after another took over, until it follows that: files that everybody may see, and how it is.
 * It hears of no change, so it decides about nobody, and no shared cache may keep what it says. contract 18 §6.
 */
export const createDeposedDoor =
  (ctx: Context, health: App): App['fetch'] =>
  (request, peer) => {
    const arrival = new Arrival(ctx.config, request, peer)
    if (HEALTH.test(arrival.path)) return health.fetch(request, peer)
    const file = serveOpenFile(ctx, arrival, (site) => site.isShared)
    if (file === undefined) return errorResponse(notPrimary())
    keepFromCdn(file.headers)
    return file
  }

const HEALTH = /^\/api\/health(\/primary)?\/?$/
