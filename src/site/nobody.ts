import type { Caller } from '../context.ts'

/** An anonymous caller in the same place as `caller`. */
export const nobody = (caller: Caller): Caller => ({
  ...caller,
  actor: { kind: 'anonymous', ip: caller.actor.kind === 'operator' ? '' : caller.actor.ip },
  refused: null,
})
