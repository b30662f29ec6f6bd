import { describe, expect, test } from 'bun:test'
import { createOutbound } from '../outbound.ts'
import { addressRules } from './addresses.ts'

const options = { method: 'GET', headers: [], body: null, headTimeoutMs: 1000, idleTimeoutMs: 1000 }

/** Every spelling of a forbidden place, as the host of a URL. */
const BLOCKED_LITERALS = [
  ...['127.0.0.1', '127.1', '127.0.1', '127.255.255.254', '127.0.0.1.', '2130706433', '017700000001'],
  ...['0x7f000001', '0x7f.1', '0x7F.0x0.0x0.0x1', '0177.0.0.1', '0177.0x0.0.1', '00000177.1', '127.0x1'],
  ...['%31%32%37.0.0.1', '127%2e0%2e0%2e1', '１２７.０.０.１', '①②⑦.⓪.⓪.①', '127。0。0。1'],
  ...['0', '0.0.0.0', '0x0', '0.1.2.3', '10.0.0.1', '10.1', '0xa000001', '012.0.0.1', '10.255.255.255'],
  ...['172.16.0.1', '172.31.255.255', '172.16.1', '0xac100001', '192.168.0.1', '192.168.1', '192.168.257'],
  ...['3232235521', '0300.0250.0.1', '169.254.169.254', '0xa9fea9fe', '2852039166', '0251.0376.0251.0376'],
  ...['169.254.0.1', '100.64.0.1', '100.127.255.255', '168.63.129.16', '192.0.0.1', '192.0.2.1'],
  ...['192.88.99.1', '198.18.0.1', '198.19.255.255', '198.51.100.7', '203.0.113.9', '224.0.0.1'],
  ...['239.255.255.255', '240.0.0.1', '255.255.255.255', '0xffffffff', '4294967295'],
  ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::127.0.0.1]', '[::ffff:127.0.0.1]'],
  ...['[::ffff:7f00:1]', '[::FFFF:10.0.0.1]', '[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]'],
  ...['[::ffff:0:127.0.0.1]', '[64:ff9b::127.0.0.1]', '[64:ff9b::a00:1]', '[64:ff9b:1::a00:1]'],
  ...['[2002:7f00:1::]', '[2002:a00:1::1]', '[2002:c0a8:101::]', '[2002:a9fe:a9fe::]', '[2001::1]'],
  ...['[2001:db8::1]', '[3fff::1]', '[fe80::1]', '[febf::1]', '[fec0::1]', '[fc00::1]', '[fd00:ec2::254]'],
  ...['[ff02::1]', '[ff00::]', '[100::1]', '[5f00::1]', '[4000::1]', '[::2]'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'sub.localhost', 'ｌocalhost', 'a.b.localhost.'],
]

describe('without an allowance', () => {
  const outbound = createOutbound({ resolve: unknown, allowedTargets: [], extraCaPem: null })

  test('the table has its full length', () => {
    expect(new Set(BLOCKED_LITERALS).size).toBeGreaterThan(80)
  })

  test.each(BLOCKED_LITERALS)('%s can be neither saved nor dialled', async (host) => {
    const url = new URL(`https://${host}/`)
    await expect(outbound.checkTarget(url)).rejects.toMatchObject({
      kind: 'invalid',
      code: 'PROXY_TARGET_NOT_ALLOWED',
    })
    expect((await failure(outbound.request(url, options)))?.kind).toBe('blocked')
    expect((await failure(outbound.upgrade(url, options)))?.kind).toBe('blocked')
  })

  test('a different port makes no difference', async () => {
    const url = new URL('https://127.0.0.1:8443/')
    await expect(outbound.checkTarget(url)).rejects.toMatchObject({ code: 'PROXY_TARGET_NOT_ALLOWED' })
    expect((await failure(outbound.request(url, options)))?.kind).toBe('blocked')
  })

  test('public addresses and names that do not resolve may be saved', async () => {
    await outbound.checkTarget(new URL('https://1.1.1.1/'))
    await outbound.checkTarget(new URL('https://[2606:4700:4700::1111]:8443/x'))
    await outbound.checkTarget(new URL('https://not-yet.example/'))
    expect((await failure(outbound.request(new URL('https://not-yet.example/'), options)))?.kind).toBe('dns')
  })

  test.each(['http://example.com/', 'ftp://example.com/', 'ws://example.com/', 'file:///etc/passwd'])(
    '%s is not HTTPS',
    async (target) => {
      await expect(outbound.checkTarget(new URL(target))).rejects.toMatchObject({
        kind: 'invalid',
        code: 'PROXY_TARGET_NOT_HTTPS',
      })
      expect((await failure(outbound.request(new URL(target), options)))?.kind).toBe('bad_request')
    },
  )

  test.each(['https://user@1.1.1.1/', 'https://:secret@1.1.1.1/', 'https://1.1.1.1:0/'])(
    '%s is not saved',
    async (target) => {
      await expect(outbound.checkTarget(new URL(target))).rejects.toMatchObject({
        code: 'PROXY_TARGET_NOT_ALLOWED',
      })
    },
  )
})

const BLOCKED_ANSWERS = [
  ['127.0.0.1'],
  ['10.1.2.3'],
  ['169.254.169.254'],
  ['::1'],
  ['fd00::1'],
  ['fe80::1%eth0'],
  ['::ffff:192.168.0.1'],
  ['64:ff9b::7f00:1'],
  ['2002:7f00:1::'],
  ['93.184.216.34', '10.0.0.1'],
  ['2606:4700::1', '::1'],
  ['93.184.216.34', 'not an address'],
]

test.each(BLOCKED_ANSWERS)(
  'a name that resolves to %p, %p is neither saved nor dialled',
  async (...answer) => {
    const resolve = async () => answer.filter((address) => address !== undefined)
    const outbound = createOutbound({ resolve, allowedTargets: [], extraCaPem: null })
    const url = new URL('https://api.example/')
    await expect(outbound.checkTarget(url)).rejects.toMatchObject({ code: 'PROXY_TARGET_NOT_ALLOWED' })
    const error = await failure(outbound.request(url, options))
    expect(error?.kind).toBe('blocked')
    for (const address of answer) expect(error?.message).not.toContain(address)
  },
)

const allowances: [
  entry: string,
  name: string,
  port: number,
  addresses: string[],
  allowed: string[] | null,
][] = [
  ['nas.lan', 'nas.lan', 443, ['192.168.1.5'], ['192.168.1.5']],
  ['nas.lan', 'nas.lan', 8443, ['192.168.1.5'], ['192.168.1.5']],
  ['nas.lan', 'evil.lan', 443, ['192.168.1.5'], null],
  ['nas.lan', 'sub.nas.lan', 443, ['192.168.1.5'], null],
  ['nas.lan:8443', 'nas.lan', 8443, ['192.168.1.5'], ['192.168.1.5']],
  ['nas.lan:8443', 'nas.lan', 443, ['192.168.1.5'], null],
  ['192.168.1.0/24', '192.168.1.5', 443, ['192.168.1.5'], ['192.168.1.5']],
  ['192.168.1.0/24', 'any.lan', 443, ['192.168.1.5'], ['192.168.1.5']],
  ['192.168.1.0/24', 'any.lan', 443, ['::ffff:192.168.1.5'], ['::ffff:192.168.1.5']],
  ['192.168.1.0/24', 'any.lan', 443, ['192.168.2.5'], null],
  ['192.168.1.0/24', 'any.lan', 443, ['192.168.2.5', '192.168.1.5'], ['192.168.1.5']],
  ['127.0.0.1', 'localhost', 443, ['::1', '127.0.0.1'], ['127.0.0.1']],
  ['127.0.0.1:8443', '127.0.0.1', 8443, ['127.0.0.1'], ['127.0.0.1']],
  ['127.0.0.1:8443', '127.0.0.1', 443, ['127.0.0.1'], null],
  ['[::1]:8443', '::1', 8443, ['::1'], ['::1']],
  ['[::1]', '::1', 443, ['::1'], ['::1']],
  ['::1/128', '::1', 443, ['::1'], ['::1']],
  ['[::1]:8443', '::1', 443, ['::1'], null],
  ['fd00::/8', 'any.lan', 443, ['fd12::1'], ['fd12::1']],
]

test.each(allowances)('%s lets %s:%d at %p through: %p', (entry, name, port, addresses, allowed) => {
  expect(addressRules([entry]).allowedOf(name, port, addresses)).toEqual(allowed)
})

const localhostRows: [entries: string[], name: string, port: number, isForbidden: boolean][] = [
  [[], 'localhost', 443, true],
  [[], 'a.localhost', 443, true],
  [[], 'localhost.example', 443, false],
  [['localhost'], 'localhost', 8443, false],
  [['localhost:8443'], 'localhost', 443, true],
  [['127.0.0.0/8'], 'localhost', 443, false],
  [['10.0.0.0/8'], 'localhost', 443, true],
]

test.each(localhostRows)('with %p the name %s:%d is forbidden: %p', (entries, name, port, isForbidden) => {
  expect(addressRules(entries).isForbiddenName(name, port)).toBe(isForbidden)
})

async function unknown(): Promise<string[]> {
  throw new Error('ENOTFOUND')
}

async function failure(promise: Promise<unknown>): Promise<{ kind: string; message: string } | null> {
  return promise.then(
    () => null,
    (error) => error,
  )
}
