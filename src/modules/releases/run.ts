import { messageOf } from '../../domain/errors.ts'
import type { Check } from '../../domain/release-checks.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import { readPlain } from './body.ts'
import type { CheckResult } from './model.ts'
import type { AskableSite } from './site-port.ts'

export const START_PAGE = 'start page'

/** All checks of a release together. */
export const RELEASE_MS = 10_000

type Sites = { before: AskableSite | undefined; after: AskableSite }
type Asked = { startPage: boolean; checks: readonly Check[] }

/** Runs the checks, one after the other, on what the alias would show. What is not done in time has failed. */
export async function runChecks(sites: Sites, asked: Asked, limitMs = RELEASE_MS): Promise<CheckResult[]> {
  const checks = [...(asked.startPage ? [START] : []), ...asked.checks]
  const deadline = performance.now() + limitMs
  const results: CheckResult[] = []
  for (const check of checks) {
    const result = await resultBy(deadline, sites, check, limitMs)
    if (result !== null) results.push(result)
    await nextTurn()
  }
  return results
}

const START: Check = { name: START_PAGE, path: '/', status: 200, contains: null, maxBytes: null }

/** Null for a start page that there was not before: nothing can be lost. */
async function resultBy(
  deadline: number,
  sites: Sites,
  check: Check,
  limitMs: number,
): Promise<CheckResult | null> {
  const leftMs = deadline - performance.now()
  const late = resultOf(check, `was not done within the ${limitMs / 1_000} s that all checks have`)
  if (leftMs <= 0) return late
  const signal = AbortSignal.timeout(Math.ceil(leftMs))
  const tooLate = new Promise<CheckResult>((resolve) => {
    signal.addEventListener('abort', () => resolve(late))
  })
  return Promise.race([resultFrom(sites, check, signal), tooLate])
}

async function resultFrom(
  { before, after }: Sites,
  check: Check,
  signal: AbortSignal,
): Promise<CheckResult | null> {
  try {
    if (check === START && !(await hadStartPage(before))) return null
    const found = await findFault(after, check, signal)
    return typeof found === 'object' && found !== null
      ? { ...about(check), ok: null, message: found.notRun }
      : resultOf(check, found)
  } catch (error) {
    return resultOf(check, `could not be answered: ${messageOf(error)}`)
  }
}

async function hadStartPage(before: AskableSite | undefined): Promise<boolean> {
  if (before === undefined) return false
  const said = await before('/')
  if (said.kind === 'not_run') return false
  await said.response.body?.cancel()
  return said.response.status === 200
}

const about = ({ name, path }: Check): Pick<CheckResult, 'name' | 'path'> => ({ name: name ?? path, path })

const resultOf = (check: Check, message: string | null): CheckResult => ({
  ...about(check),
  ok: message === null,
  message,
})

/** What is wrong with the answer, in words; null if nothing is. */
async function findFault(
  site: AskableSite,
  check: Check,
  signal: AbortSignal,
): Promise<string | null | { notRun: string }> {
  const said = await site(check.path)
  if (said.kind === 'not_run') return { notRun: said.why }
  const { response } = said
  if (response.status !== check.status) {
    await response.body?.cancel()
    return `the answer is ${response.status}${leadingTo(response)}, not ${check.status}`
  }
  return findFaultInBody(response, check, signal)
}

const MAX_SHOWN = 200

function leadingTo({ headers }: Response): string {
  const to = headers.get('location')
  return to === null ? '' : ` to ${shown(to)}`
}

async function findFaultInBody(
  response: Response,
  { contains, maxBytes }: Check,
  signal: AbortSignal,
): Promise<string | null> {
  if (contains === null && maxBytes === null) {
    await response.body?.cancel()
    return null
  }
  const { bytes, hasText } = await readPlain(response, { text: contains, stopAfter: maxBytes, signal })
  if (maxBytes !== null && bytes > maxBytes) return `the body is larger than ${maxBytes} bytes`
  return contains === null || hasText ? null : `the body does not contain ${JSON.stringify(shown(contains))}`
}

const shown = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text)
