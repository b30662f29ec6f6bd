import { availableParallelism } from 'node:os'
import { AppError } from '../domain/errors.ts'
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
  const inTurn = boundedQueue(limits)
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

/** Runs `atOnce` jobs, lets `waiting` more wait and rejects the rest, so that a flood of sign-ins cannot pile up. */
function boundedQueue({ atOnce, waiting }: PasswordLimits): <T>(job: () => Promise<T>) => Promise<T> {
  const queue: (() => void)[] = []
  let running = 0
  const enter = (): Promise<void> | undefined => {
    if (running < atOnce) {
      running += 1
      return undefined
    }
    if (queue.length >= waiting)
      throw new AppError('unavailable', 'Too many sign-ins at once. Try again in a few seconds.', {
        headers: { 'retry-after': '5' },
      })
    return new Promise((resolve) => queue.push(resolve))
  }
  /** Passes the place to the next in the queue, so that no new job can take it first. */
  const leave = (): void => {
    const next = queue.shift()
    if (next === undefined) running -= 1
    else next()
  }
  return async (job) => {
    await enter()
    try {
      return await job()
    } finally {
      leave()
    }
  }
}
