import type { Context } from '../context.ts'
import type { App } from './app.ts'

/** Who answers now. Both change together when a machine changes its role. */
export class Serving {
  ctx: Context
  app: App
  readonly #told = new Set<(ctx: Context) => void>()

  constructor(ctx: Context, app: App) {
    this.ctx = ctx
    this.app = app
  }

  /** From now on requests are answered by these. */
  become(ctx: Context, app: App): void {
    this.ctx = ctx
    this.app = app
    for (const tell of this.#told) tell(ctx)
  }

  onChange(tell: (ctx: Context) => void): void {
    this.#told.add(tell)
  }
}
