import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type DnsServer, startDnsServer } from '../../../testing/dns-server.ts'
import { endOfCnames, untilShown } from './look.ts'
import { nameBytes } from './message.ts'

const NAME = '_acme-challenge.sites.test'
const END = 'proof.acme.test'
const [A, NS] = [1, 2]

/** One answers for the zones; the other finds its address, and remembers what it was asked for. */
let zones: DnsServer
let resolver: DnsServer
beforeEach(async () => {
  zones = await startDnsServer()
  resolver = await startDnsServer()
  resolver.others.set(`${NS} sites.test`, nameBytes('ns.sites.test'))
  resolver.others.set(`${NS} acme.test`, nameBytes('ns.sites.test'))
  resolver.others.set(`${A} ns.sites.test`, Buffer.from([127, 0, 0, 1]))
})
afterEach(() => {
  zones.stop()
  resolver.stop()
})

const at = ({ address }: DnsServer) => ({ host: '127.0.0.1', port: Number(address.split(':')[1]) })
const end = (port = at(zones).port) => endOfCnames(NAME, [at(resolver)], port)
const shown = (servers: string[], timeoutMs = 50) =>
  untilShown(
    [{ name: NAME, values: ['one', 'two'] }],
    { resolvers: [at(resolver)], timeoutMs, signal: new AbortController().signal },
    [{ name: NAME, values: ['one', 'two'], servers }],
  )

test('the servers of the zone are asked, so that no resolver learns that there is nothing yet', async () => {
  expect(await end()).toEqual({ at: NAME, servers: [zones.address] })
  expect(zones.asked).toEqual([`5 ${NAME}`])
  expect(resolver.asked.filter((question) => question.endsWith(NAME))).toEqual([])
})

test('a CNAME leads to another zone, whose servers are asked next', async () => {
  zones.cnames.set(NAME, END)
  expect(await end()).toEqual({ at: END, servers: [zones.address] })
  expect(resolver.asked).toContain(`${NS} acme.test`)
})

test('where they cannot be found or do not answer, the resolver is asked', async () => {
  resolver.cnames.set(NAME, END)
  const nobody = await startDnsServer()
  nobody.stop()
  expect(await end(at(nobody).port)).toEqual({ at: END, servers: [] })
  resolver.others.clear()
  expect(await end()).toEqual({ at: END, servers: [] })
})

test('no resolver is asked for values that the zone does not show', async () => {
  zones.texts.set(NAME, ['one'])
  await expect(shown([zones.address])).rejects.toThrow(`is not yet at ${zones.address}, which shows "one"`)
  expect(resolver.asked).toEqual([])
  zones.texts.set(NAME, ['one', 'two'])
  await expect(shown([zones.address])).rejects.toThrow(`is not yet at ${resolver.address}, which shows none`)
  resolver.texts.set(NAME, ['two', 'one'])
  await shown([zones.address])
})
