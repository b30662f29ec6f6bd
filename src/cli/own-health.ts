import type { Config } from '../config/config.ts'
import { isRecord } from '../domain/is-record.ts'
import { unreachableReason } from './unreachable.ts'

const ANSWER_TIMEOUT_MS = 5_000

/**
 * Where the server of these settings is reached on this machine. Uses the plain listener if there is one, because it answers
 * before the first certificate arrives.
 */
export function ownAddress({ tls, host, port, httpPort }: Config): string {
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
export async function askHealth(address: string): Promise<{ isWell: boolean; text: string }> {
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
