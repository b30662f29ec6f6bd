import { hostname } from 'node:os'
import { isRecord } from '../domain/is-record.ts'
import type { ApiAddress } from './api-address.ts'
import { type ApiClient, ApiFailure, apiClient, ServerUnreachable } from './api-client.ts'
import {
  type Command,
  CommandFailure,
  EXIT,
  type Io,
  parseFlags,
  printable,
  printableJson,
} from './command.ts'
import { findLogin, storeLogin } from './credentials.ts'
import { connectionOf, endSession, requireApi } from './remote/login.ts'
import { REMOTE_OPTIONS } from './remote/project.ts'
import { isWebAddress } from './remote/target.ts'
import { strangeAnswer } from './strange-answer.ts'

const USAGE = `usage: svc login [--no-browser] [--api-url URL] [--json]

Lets this machine act as you, without an API key: shows a code and a page to enter it on, opens that page in a browser, and
waits until you decided there. It acts with your role on each project, at most as contributor. End it with svc logout, or
in your account on the page of the server.

What it gets is kept in $XDG_CONFIG_HOME/svc/credentials.json, else ~/.config/svc/credentials.json, for that server alone
and readable by you alone. --api-key and SVC_API_KEY come before it.

  --no-browser          open no browser
  --api-url URL         the server; else SVC_API_URL, else "apiUrl" in .svc/config.json
  --json                print JSON on stdout: a line with the code, then one with the outcome

Exit code: 0; 1 denied or expired; 2 wrong usage; 3 server not reachable.`

export const loginCommand: Command = {
  summary: 'Let this machine act as you',
  usage: USAGE,
  async run(args, io) {
    const { values } = parseFlags({
      args,
      options: { ...REMOTE_OPTIONS, 'no-browser': { type: 'boolean', default: false } },
    })
    const api = requireApi(values['api-url'], io)
    // A file that is not safe is refused before anybody is asked.
    findLogin(api.url, io.env)
    const client = apiClient(connectionOf(api.url, null, io))
    const codes = await askForCodes(client)
    await showCodes(io, codes, { isJson: values.json, opensBrowser: !values['no-browser'] })
    const login = await waitForToken(client, codes, io)
    const file = await keepLogin(api, login, io)
    const { email } = login
    io.stdout.write(
      values.json
        ? `${printableJson({ apiUrl: api.url, email, file })}\n`
        : `${printable(`logged in to ${api.url} as ${email}; kept in ${file}`)}\n`,
    )
    return EXIT.ok
  },
}

/** What cannot be kept is ended again, and so is what was there before. */
async function keepLogin(api: ApiAddress, login: { token: string; email: string }, io: Io): Promise<string> {
  const end = (token: string) => endSession(connectionOf(api.url, token, io)).catch(() => {})
  try {
    const former = findLogin(api.url, io.env)
    const file = storeLogin(api.url, io.env, { ...login, createdAt: new Date().toISOString() })
    if (former !== undefined) await end(former.token)
    return file
  } catch (error) {
    await end(login.token)
    throw error
  }
}

type Codes = {
  deviceCode: string
  userCode: string
  page: string
  pageWithCode: string
  expiresIn: number
  interval: number
}

async function askForCodes(client: ApiClient): Promise<Codes> {
  const answer = await client.json('POST', '/api/auth/device/code', { clientName: hostname().slice(0, 100) })
  if (!isRecord(answer)) throw strangeAnswer()
  const text = (name: string): string => {
    const value = answer[name]
    if (typeof value !== 'string' || value === '') throw strangeAnswer()
    return value
  }
  const number = (name: string): number => {
    const value = answer[name]
    if (typeof value !== 'number' || !(value >= 1 && value <= 86_400)) throw strangeAnswer()
    return value
  }
  const page = text('verification_uri')
  const pageWithCode = text('verification_uri_complete')
  if (!isWebAddress(page) || !isWebAddress(pageWithCode)) throw strangeAnswer()
  const [deviceCode, userCode] = [text('device_code'), text('user_code')]
  return {
    deviceCode,
    userCode,
    page,
    pageWithCode,
    expiresIn: number('expires_in'),
    interval: number('interval'),
  }
}

async function showCodes(
  io: Io,
  { userCode, page, pageWithCode, expiresIn }: Codes,
  { isJson, opensBrowser }: { isJson: boolean; opensBrowser: boolean },
): Promise<void> {
  if (isJson) io.stdout.write(`${printableJson({ userCode, verificationUri: page, expiresIn })}\n`)
  else io.stdout.write(`${printable(`open ${page} and enter the code ${userCode}`)}\n`)
  if (opensBrowser) await io.openUrl(pageWithCode)
}

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code'
const SLOWER_BY = 5

/** Asks until somebody decided. A server that is away for a while is asked again. RFC 8628 §3.5. */
async function waitForToken(
  client: ApiClient,
  { deviceCode, expiresIn, interval }: Codes,
  io: Io,
): Promise<{ token: string; email: string }> {
  const fields = { grant_type: GRANT_TYPE, device_code: deviceCode }
  let wait = interval
  for (let waited = 0; waited <= expiresIn; waited += wait) {
    await io.sleep(wait * 1000)
    try {
      return tokenOf(await client.json('POST', '/api/auth/device/token', fields))
    } catch (error) {
      wait = nextWait(error, wait)
    }
  }
  throw expired()
}

function nextWait(error: unknown, wait: number): number {
  if (error instanceof ServerUnreachable) return wait
  if (!(error instanceof ApiFailure)) throw error
  if (error.code === 'authorization_pending' || error.status >= 502) return wait
  if (error.code === 'slow_down') return wait + SLOWER_BY
  if (error.status === 429) return Math.max(wait, Math.ceil((error.retryAfterMs ?? 0) / 1000))
  if (error.code === 'access_denied') throw new CommandFailure('it was refused in the browser')
  if (error.code === 'expired_token') throw expired()
  throw error
}

const expired = (): CommandFailure => new CommandFailure('nobody decided in time; run svc login again')

function tokenOf(answer: unknown): { token: string; email: string } {
  const user = isRecord(answer) ? answer['user'] : undefined
  if (!isRecord(answer) || !isRecord(user)) throw strangeAnswer()
  const { access_token: token } = answer
  const { email } = user
  if (typeof token !== 'string' || !/^svcp_[\w-]{43}$/.test(token) || typeof email !== 'string')
    throw strangeAnswer()
  return { token, email }
}
