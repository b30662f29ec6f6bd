import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type AcmeMachine, type AcmeMachines, acmeMachines } from '../../testing/acme-machines.ts'
import { type DnsServer, startDnsServer } from '../../testing/dns-server.ts'
import { until } from '../../testing/until.ts'

/** contract 18 §6 and 19.5: the wildcard of several machines on one object store. */

let dns: DnsServer
let world: AcmeMachines
let primary: AcmeMachine | undefined
beforeEach(async () => {
  dns = await startDnsServer()
  // Whatever is to be set is there at once.
  dns.more = () => [primary?.certificates.wildcard()?.record?.value ?? '']
  world = acmeMachines((name) => dns.textsAt(name))
  world.ca.faults.challengeType = 'dns-persist-01'
})
afterEach(async () => {
  await world.stop()
  dns.stop()
})

test('one machine orders it, the others serve it; after a take-over none is ordered anew', async () => {
  const env = { ACME_DNS: 'persist', ACME_DNS_RESOLVERS: dns.address, ACME_DNS_TIMEOUT_SECONDS: '20' }
  primary = await world.start('primary', 1, env)
  const { certificates } = primary
  await until('the wildcard', () => certificates.wildcard()?.status === 'valid')
  const other = await world.start('standby', 1, env)
  await until('it at the other', () => other.certificates.wildcard()?.status === 'valid')
  const served = (machine: AcmeMachine) =>
    machine.certificates.all().map(({ hosts, certPem }) => ({ hosts, certPem }))
  expect(served(other)).toEqual(served(primary))
  expect(served(other).map(({ hosts }) => hosts)).toEqual([['sites.test', '*.sites.test']])
  expect(other.certificates.stateOf('a--b.sites.test').status).toBe('active')
  await expect(other.certificates.retryWildcard()).rejects.toMatchObject({ kind: expect.any(String) })
  await primary.become('standby', 1)
  await other.become('primary', 2)
  world.advance(60_000)
  await until('it at the new primary', () => other.certificates.wildcard()?.status === 'valid')
  expect(world.ca.ordered).toEqual(['sites.test'])
})
