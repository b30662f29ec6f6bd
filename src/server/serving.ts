import type { Context } from '../context.ts'
import type { App } from './app.ts'

/** Who answers now. Both change together when a machine changes its role. */
export type Serving = { ctx: Context; app: App }
