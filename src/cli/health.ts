import type { Config } from '../config/config.ts'
import { isRecord } from '../domain/is-record.ts'
import { type Command, CommandFailure, EXIT, printable, UsageError } from './command.ts'
import { settingsOf } from './settings.ts'
import { unreachableReason } from './unreachable.ts'

const USAGE = `usage: svc health [--host ADDRESS] [--port PORT]

Asks the server that runs here whether it is well, for container and service supervisors.
The address is that of svc serve: HOST and PORT, or the flags. With TLS on it is HTTP_PORT in place
of PORT; with HTTP_PORT=off it is PORT, whatever certificate is there.
Exit code: 0 well, 1 not well or no answer.`

const ANSWER_TIMEOUT_MS = 5_000

export const healthCommand: Command = {
  summary: 'Ask the running server whether it is well',
  usage: USAGE,
  async run(args, io) {
    const { config, words } = settingsOf(args, io)
    if (words.length > 0) throw new UsageError(`svc health takes flags only, not "${words[0]}"`)
    const address = addressOf(config)
    const answer = await askHealth(address)
    if (!answer.isWell) throw new CommandFailure(`${address} is not well: ${printable(answer.text)}`)
    io.stdout.write(`${address} is well\n`)
    return EXIT.ok
  },
}

/** Uses the plain listener if there is one, because it answers before the first certificate arrives. */
function addressOf({ tls, host, port, httpPort }: Config): string {
  if (tls === 'off') return `http://${reachable(host)}:${port}`
  return httpPort === null ? `https://${reachable(host)}:${port}` : `http://${reachable(host)}:${httpPort}`
}

/** A listener on all addresses is reached by loopback; an IPv6 address is put in brackets. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::' || host === '[::]') return '[::1]'
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

/** Does not use the API client: the call has no key, and the body of a 503 says which check failed. */
async function askHealth(address: string): Promise<{ isWell: boolean; text: string }> {
  try {
    const response = await fetch(`${address}/api/health`, {
      redirect: 'manual',
      // It runs on this machine.
      proxy: false,
      // No certificate covers this address of the same machine, and nothing secret is sent.
      tls: { rejectUnauthorized: false },
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    })
    const text = await response.text()
    return {
      isWell: response.status === 200 && saysOk(text),
      text: `${response.status} ${text.slice(0, 500)}`,
    }
  } catch (error) {
    return { isWell: false, text: unreachableReason(error) }
  }
}

/** Another server at this address might answer 200 too. */
function saysOk(text: string): boolean {
  try {
    const body: unknown = JSON.parse(text)
    return isRecord(body) && body['status'] === 'ok'
  } catch {
    return false
  }
}
