import { STEP_MS, totpCodeAt } from '../platform/totp.ts'

/**
 * Six-digit codes that the secret does not produce now or one step away. Any fixed code in a test could become valid
 * one day.
 */
export async function wrongCodes(secret: string, now: number, count: number): Promise<string[]> {
  const good = await Promise.all([-STEP_MS, 0, STEP_MS].map((drift) => totpCodeAt(secret, now + drift)))
  return Array.from({ length: count + good.length }, (_, i) => String(i).padStart(6, '0'))
    .filter((code) => !good.includes(code))
    .slice(0, count)
}

/** One such code. */
export async function wrongCode(secret: string, now: number): Promise<string> {
  const [code = ''] = await wrongCodes(secret, now, 1)
  return code
}
