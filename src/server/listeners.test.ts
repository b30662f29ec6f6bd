import { expect, test } from 'bun:test'
import { ConfigError } from '../config/config.ts'
import { requireKnownHost, ServeError } from './listeners.ts'

const failing = (code: string) => () => Promise.reject(Object.assign(new Error('no'), { code }))

test.each([
  ['DNS_ENOTFOUND', ConfigError, 'HOST is "box.example", but must be an address or name of this machine'],
  ['DNS_ENODATA', ConfigError, 'HOST is "box.example", but must be an address or name of this machine'],
  ['DNS_EAI_AGAIN', ServeError, 'cannot listen on box.example: the name could not be looked up'],
  ['DNS_ETIMEOUT', ServeError, 'cannot listen on box.example: the name could not be looked up'],
] as const)('a name whose lookup ends with %s', async (code, kind, message) => {
  const refused = await requireKnownHost('box.example', failing(code)).catch((error) => error)
  expect(refused).toBeInstanceOf(kind)
  expect(refused.message).toBe(`${message} (${code})`)
})

test.each(['127.0.0.1', '::1', '::', '0.0.0.0'])('the address %s is not looked up', async (host) => {
  await requireKnownHost(host, failing('DNS_EAI_AGAIN'))
})

test.each(['localhost', '127.0.0.1'])('%s is known', async (host) => {
  await requireKnownHost(host)
})
