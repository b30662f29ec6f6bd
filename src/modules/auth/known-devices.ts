import type { Context, RequestFacts } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { cookieValues, DEVICE_COOKIE, setCookie } from '../../domain/cookies.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { isRecent } from '../../domain/recent.ts'
import { GO_ON, inSteps, type Stop } from '../../platform/in-steps.ts'
import { hashToken, newToken } from '../../platform/tokens.ts'
import { tellOfNewDevice } from '../notices/tell.ts'
import {
  deleteOldestDevices,
  deleteUnseenDevices,
  type KnownDevice,
  listAccountsOfDevice,
  rememberDevice,
  wasEverUsed,
} from './known-devices/queries.ts'
import { cookieDomain } from './sessions/cookies.ts'

/** The browsers that an account knows, by their cookie. contract 16 §5. */

const LIFE_MS = 400 * DAY_MS
const MAX_OF_ACCOUNT = 100
/** A sibling site can add cookies of that name; so many are looked at. */
const MAX_SENT = 5
/** Accounts of one browser that are carried over into a new cookie. */
const MAX_CARRIED = 20
const REMOVED_AT_ONCE = 500

type Person = { id: string; email: string }
type SignIn = { facts: RequestFacts; userAgent: string; devices: readonly string[] }

/** The values of the cookie that a request sends. */
export const sentDevices = (cookieHeader: string | null): string[] =>
  cookieValues(cookieHeader, DEVICE_COOKIE).slice(0, MAX_SENT)

/**
 * A sign-in with a browser, in the caller's transaction and before its session is opened. Returns the cookie by which the
 * account will know it. The person is told of one that it does not know, unless it is the account's first. Nothing without
 * a mail server: there would be no use for the cookie.
 */
export function meetDevice(ctx: Context, tx: DbOrTx, person: Person, signIn: SignIn): string[] {
  if (!ctx.mail.isConfigured) return []
  const known = knownOf(ctx, signIn.devices)
  const mine = known.find(({ userId }) => userId === person.id)
  if (mine === undefined) tellUnlessFirst(ctx, tx, person, signIn, null)
  // A value that this account does not know may have been put there by somebody else, who knows it too.
  const token = mine?.token ?? newToken()
  const accounts = mine === undefined ? known.slice(0, MAX_CARRIED).map(({ userId }) => userId) : []
  for (const userId of new Set([...accounts, person.id])) {
    rememberDevice(ctx.db, userId, hashToken(token), ctx.now())
    deleteOldestDevices(ctx.db, userId, MAX_OF_ACCOUNT)
  }
  return [deviceCookie(ctx, token, signIn.facts)]
}

/** A sign-in of `svc login`, which keeps no cookies, under the name that it gave. As above. */
export const meetCommandLine = (
  ctx: Context,
  tx: DbOrTx,
  person: Person,
  signIn: SignIn,
  device: string,
): void => tellUnlessFirst(ctx, tx, person, signIn, device)

/** Removes those that were not seen for 400 days, but not an account's last: its next sign-in is not its first. */
export const removeOldDevices = (ctx: Context, stop: Stop = GO_ON): Promise<void> =>
  inSteps(
    stop,
    () =>
      inRelaxedTransaction(ctx.db, () =>
        deleteUnseenDevices(ctx.db, ctx.now() - LIFE_MS, REMOVED_AT_ONCE),
      ) === REMOVED_AT_ONCE,
  )

function knownOf(ctx: Context, tokens: readonly string[]): (KnownDevice & { token: string })[] {
  return tokens.flatMap((token) =>
    listAccountsOfDevice(ctx.db, hashToken(token))
      .filter(({ seenAt }) => isRecent(seenAt, ctx.now(), LIFE_MS))
      .map((known) => ({ ...known, token })),
  )
}

function tellUnlessFirst(
  ctx: Context,
  tx: DbOrTx,
  person: Person,
  { facts, userAgent }: SignIn,
  device: string | null,
): void {
  if (!wasEverUsed(ctx.db, person.id)) return
  tellOfNewDevice(ctx, tx, person, { at: isoTime(ctx.now()), ip: facts.ip, userAgent, device })
}

const deviceCookie = (ctx: Context, token: string, { host, isSecure }: RequestFacts): string =>
  setCookie(DEVICE_COOKIE, token, {
    domain: cookieDomain(ctx, host),
    maxAgeSeconds: LIFE_MS / 1000,
    isSecure,
  })
