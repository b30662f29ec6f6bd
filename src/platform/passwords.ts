import { availableParallelism } from 'node:os'
import { AppError } from '../domain/errors.ts'
import { boundedQueue } from './bounded-queue.ts'
import { onPasswordThread } from './password-threads.ts'

/** Argon2id behind a queue: a hash costs 30 ms and 19 MiB, so only a few run at once and only a few may wait. */
export type Passwords = {
  hash(password: string): Promise<string>
  /** An unknown account (`hash` null) costs the same time, and never matches. */
  verify(password: string, hash: string | null): Promise<boolean>
}

const ARGON2 = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
type PasswordLimits = { atOnce: number; waiting: number }
/** `decoy`: a hash with the same costs, which passwords of unknown accounts are compared with. */
type PasswordEffort = { costs: Bun.Password.Argon2Algorithm; decoy: string }

/** Half of the cores hash and the other half serves. The last in the queue waits for about two seconds. */
const LIMITS: PasswordLimits = {
  atOnce: Math.min(Math.max(Math.floor(availableParallelism() / 2), 1), 4),
  waiting: 64,
}

/** The hash of a discarded random text, with the costs above. Passwords of unknown accounts are compared with it. */
const DECOY =
  '$argon2id$v=19$m=19456,t=2,p=1$p15i4P1l/UW1lgbbBK/q4dRMkWiY4VZox07bCOmFb9c$4KIMm9LTVHjks5Hl2xndL/GeqJqOQImiuHhuA2ikxJk'

const EFFORT: PasswordEffort = { costs: ARGON2, decoy: DECOY }

export function createPasswords(limits = LIMITS, { costs, decoy } = EFFORT): Passwords {
  const refusal = () =>
    new AppError('unavailable', 'Too many sign-ins at once. Try again in a few seconds.', {
      headers: { 'retry-after': '5' },
    })
  const inTurn = boundedQueue({ ...limits, refusal })
  const run = (password: string, hash: string | null) =>
    inTurn(() => onPasswordThread({ password, hash, costs }))
  return {
    hash: async (password) => String(await run(password, null)),
    async verify(password, hash) {
      const isMatch = await run(password, hash ?? decoy)
      return isMatch === true && hash !== null
    },
  }
}
