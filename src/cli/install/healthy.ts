import type { Config } from '../../config/config.ts'
import { isRecord } from '../../domain/is-record.ts'
import { CommandFailure, type Io, printable } from '../command.ts'
import { askHealth, ownAddress } from '../own-health.ts'
import { lastLines, setUpLink } from './journal.ts'
import type { Run } from './programs.ts'
import { serviceState } from './service.ts'

const WAIT_MS = 30_000
const LOOK_EVERY_MS = 500
const SHOWN_LINES = 20
const LONGEST_LINE = 2000
/** The journal may be a little behind. */
const LINK_TRIES = 5

/** The service's own words for not running, or not yet; another server may answer at its address meanwhile. */
const IS_DOWN = /^(inactive|activating|deactivating|failed)$/

/** Waits until the service is well; returns its address. Throws with the end of its log if it is not. contract 19.3. */
export async function waitUntilWell(config: Config, run: Run, io: Io): Promise<string> {
  const address = ownAddress(config)
  const giveUpAt = io.nowMs() + WAIT_MS
  let reason = ''
  do {
    const { isWell, text } = await askHealth(address)
    const state = await serviceState(run)
    if (isWell && !IS_DOWN.test(state)) return address
    reason = isWell ? `the service is ${state}, and another server answers there` : text
    if (state === 'failed') break
    await io.sleep(LOOK_EVERY_MS)
  } while (io.nowMs() < giveUpAt)
  throw new CommandFailure(
    [
      `svc is installed, but ${address} is not well: ${printable(reason)}`,
      'The last lines of its log:',
      ...(await lastLines(run, SHOWN_LINES)).map((line) => line.slice(0, LONGEST_LINE)),
    ].join('\n'),
  )
}

/** What to do first on a server that has no admin yet; undefined if it has one. */
export async function firstVisit(address: string, run: Run, io: Io): Promise<string | undefined> {
  if (await hasAdmin(address)) return undefined
  for (let tries = 0; tries < LINK_TRIES; tries += 1) {
    const link = await setUpLink(run)
    if (link !== undefined) return `Set up the first admin: ${link}`
    await io.sleep(LOOK_EVERY_MS)
  }
  return 'While there is no admin yet, its log has a set-up link: journalctl -u svc'
}

/** With TLS on, its plain listener does not say. */
async function hasAdmin(address: string): Promise<boolean> {
  try {
    const answer = await fetch(`${address}/api/setup/status`, {
      redirect: 'manual',
      proxy: false,
      tls: { rejectUnauthorized: false },
      signal: AbortSignal.timeout(5_000),
    })
    const body: unknown = await answer.json()
    return isRecord(body) && body['hasAdminUser'] === true
  } catch {
    return false
  }
}
