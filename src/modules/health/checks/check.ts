import type { Context } from '../../../context.ts'

/** What one part of the server is like. `off`: it is not set up or not in use. `value`: its number or time, if it has one. */
export type Finding = {
  status: 'ok' | 'warn' | 'error' | 'off'
  message: string
  /** When that was so, in milliseconds since 1970; now without it. */
  at?: number | null
  value?: number | string | null
}

export type Check = (ctx: Context) => Finding | Promise<Finding>
