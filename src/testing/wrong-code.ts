import { totpCodeAt } from '../platform/totp.ts'

const STEP_MS = 30_000

/** Codes of six digits that are none of the secret's, now or a step away: any that stands in a test may be one day. */
export async function wrongCodes(secret: string, now: number, count: number): Promise<string[]> {
  const good = await Promise.all([-STEP_MS, 0, STEP_MS].map((drift) => totpCodeAt(secret, now + drift)))
  return Array.from({ length: count + good.length }, (_, i) => String(i).padStart(6, '0'))
    .filter((code) => !good.includes(code))
    .slice(0, count)
}

/** One of them. */
export async function wrongCode(secret: string, now: number): Promise<string> {
  const [code = ''] = await wrongCodes(secret, now, 1)
  return code
}
