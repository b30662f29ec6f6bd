import type { Context } from '../../context.ts'
import { onePer } from '../../platform/one-per.ts'
import { Waker } from '../../platform/outbox/waker.ts'

export const purgeWakerOf = onePer((_: Context) => new Waker())
