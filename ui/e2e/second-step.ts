import { STEP_MS, totpCodeAt } from '../../src/platform/totp.ts'

const ENOUGH_MS = 10_000

/**
 * The code of the previous time step, so that the current one is still unused. Near the end of a step it waits for the
 * next one, because the code must not be two steps old by the time it is typed.
 */
export async function codeOfStepBefore(secret: string): Promise<string> {
  const left = STEP_MS - (Date.now() % STEP_MS)
  // A timer may be early by a moment.
  if (left < ENOUGH_MS) await new Promise((resolve) => setTimeout(resolve, left + 100))
  return totpCodeAt(secret, Date.now() - STEP_MS)
}
