import type { Context } from '../context.ts'
import { once } from '../platform/once.ts'
import { onePer } from '../platform/one-per.ts'
import type { Endpoints } from './route-request.ts'

/** The API and the pages: loaded when first needed, and one of each. */
export const loadEndpoints = onePer((ctx: Context): (() => Promise<Endpoints>) =>
  once(async () => {
    const { createEndpoints } = await import('./endpoints.ts')
    return createEndpoints(ctx)
  }),
)
