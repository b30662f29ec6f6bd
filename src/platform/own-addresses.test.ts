import { expect, test } from 'bun:test'
import { networkInterfaces } from 'node:os'
import { ownAddresses } from './own-addresses.ts'

test('a server that listens on one address is reached there', async () => {
  expect(await ownAddresses({ host: '10.1.2.3', adminHost: 'localhost' })).toEqual(['10.1.2.3'])
  expect(await ownAddresses({ host: '2001:db8::7', adminHost: 'localhost' })).toEqual(['2001:db8::7'])
})

test.each(['0.0.0.0', '::', '127.0.0.1', '::1', 'localhost'])(
  'one that listens on %s is reached at addresses of the machine that are neither loopback nor link-local',
  async (host) => {
    const all = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
    for (const address of await ownAddresses({ host, adminHost: 'localhost' })) {
      expect(all.find((one) => one.address === address)?.internal).toBe(false)
      expect(address).not.toMatch(/^(127\.|169\.254\.|fe80:|::1$)/)
    }
  },
)

test('a name that does not resolve, or leads to this machine, says nothing', async () => {
  const own = await ownAddresses({ host: '0.0.0.0', adminHost: 'localhost' })
  expect(await ownAddresses({ host: '0.0.0.0', adminHost: 'admin.nowhere.invalid' })).toEqual(own)
})
