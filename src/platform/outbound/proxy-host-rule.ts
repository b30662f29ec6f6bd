import { parseIp } from '../../domain/ip-ranges.ts'
import { addressRules, bareHostname } from './addresses.ts'

const DEFAULT_PORT = 443

/**
 * Says why an address of the web may not be fetched by its host alone; null if it may. A name is looked at again when it
 * is resolved, each time that somebody connects. contract 13 §2.
 */
export function proxyHostRule(allowedTargets: readonly string[]): (url: URL) => string | null {
  const rules = addressRules(allowedTargets)
  return (url) => {
    const name = bareHostname(url.hostname)
    const port = url.port === '' ? DEFAULT_PORT : Number(url.port)
    const isAllowed =
      parseIp(name) === null
        ? !rules.isForbiddenName(name, port)
        : rules.allowedOf(name, port, [name]) !== null
    return isAllowed ? null : NOT_ALLOWED
  }
}

export const NOT_ALLOWED =
  'the host is not a public address; the operator can name it in PROXY_ALLOWED_TARGETS'
