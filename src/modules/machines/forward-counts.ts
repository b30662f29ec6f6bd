import type { Context } from '../../context.ts'
import { onePer } from '../../platform/one-per.ts'

/** Requests that this machine passed on to the primary, by what became of them. */
export const forwardCounts = onePer((_: Context) => ({ answered: 0, unreachable: 0, broken: 0 }))
