import { availableParallelism } from 'node:os'
import { AppError } from '../domain/errors.ts'
import { normalPassword, passwordForms } from '../domain/password-rule.ts'
import { boundedQueue } from './bounded-queue.ts'
import type { PasswordJob } from './password-program.ts'
import { onPasswordThread } from './password-threads.ts'

/** Argon2id behind a queue: a hash costs 30 ms and 19 MiB, so only a few run at once and only a few may wait. */
export type Passwords = {
  /** Of its NFC form. contract 12.7. */
  hash(password: string): Promise<string>
  /**
   * Tries each form that the password may have been hashed in, also after one matched: only the password decides how
   * long it takes. An unknown account (`hash` null) costs the same time, and never matches.
   */
  verify(password: string, hash: string | null): Promise<PasswordMatch>
}

/** `outdated`: right, but the hash was made of another form than NFC. */
export type PasswordMatch = 'wrong' | 'right' | 'outdated'

const ARGON2 = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
type PasswordLimits = { atOnce: number; waiting: number }
/** `decoy`: a hash with the same costs, which passwords of unknown accounts are compared with. */
type PasswordEffort = { costs: Bun.Password.Argon2Algorithm; decoy: string }

/**
 * Half of the cores hash and the other half serves. The last in the queue waits for about two seconds, and three times
 * as long where all passwords have three forms.
 */
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
  const run = (job: Omit<PasswordJob, 'costs'>) => inTurn(() => onPasswordThread({ ...job, costs }))
  return {
    hash: async (password) => String(await run({ forms: [normalPassword(password)], hash: null })),
    async verify(password, hash) {
      const match = await run({ forms: passwordForms(password), hash: hash ?? decoy })
      if (hash === null || typeof match === 'string' || match < 0) return 'wrong'
      return match === 0 ? 'right' : 'outdated'
    },
  }
}
