import type { Caller } from '../context.ts'

/** Who asks without credentials from where `caller` asks. */
export const nobody = (caller: Caller): Caller => ({
  ...caller,
  actor: { kind: 'anonymous', ip: caller.actor.kind === 'operator' ? '' : caller.actor.ip },
  refused: null,
})
