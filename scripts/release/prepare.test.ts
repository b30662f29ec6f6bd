import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CommandFailure } from '../../src/cli/command.ts'
import { publicKeyOf } from './key.ts'
import { prepareRelease, type ReleaseFlags } from './prepare.ts'
import { PLATFORMS } from './release.ts'
import { OTHER_NAMES } from './testing/sample-release.ts'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-prepare-'))
  writeFileSync(join(root, 'package.json'), '{"version":"0.1.0"}')
  writeFileSync(join(root, 'CHANGELOG.md'), '## [0.2.0]\n\nNews\n')
  writeConfig(null)
})
afterEach(() => rmSync(root, { recursive: true }))

const writeConfig = (publicKey: string | null) =>
  writeFileSync(join(root, 'release.config.json'), JSON.stringify({ ...OTHER_NAMES, publicKey }))

const pemOf = (key: KeyObject) => String(key.export({ type: 'pkcs8', format: 'pem' }))
const ED25519 = generateKeyPairSync('ed25519').privateKey

const prepare = (flags: Partial<ReleaseFlags> = {}, keyText?: string) =>
  prepareRelease({ unofficial: false, ...flags }, root, keyText)

function refusal(flags: Partial<ReleaseFlags>, keyText?: string): { code: number; message: string } {
  try {
    prepare(flags, keyText)
  } catch (error) {
    if (error instanceof CommandFailure) return { code: error.exitCode, message: error.message }
    throw error
  }
  throw new Error('nothing was refused')
}

test('without flags: the version of package.json, all platforms, no commit outside of a checkout', () => {
  expect(prepare()).toMatchObject({ version: '0.1.0', commit: null, notes: '', platforms: PLATFORMS })
  expect(prepare({ version: '0.2.0' })).toMatchObject({ version: '0.2.0', notes: 'News' })
})

test('the commit is that of the checkout, and of no checkout around it', () => {
  const git = (...args: string[]) =>
    Bun.spawnSync(['git', '-C', root, '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args])
  git('init', '-q')
  git('commit', '-qm', 'first', '--allow-empty')
  expect(prepare().commit).toBe(git('rev-parse', 'HEAD').stdout.toString().trim())
  const above = root
  root = join(above, 'inside')
  Bun.spawnSync(['mkdir', root])
  writeFileSync(join(root, 'package.json'), '{"version":"0.1.0"}')
  writeFileSync(join(root, 'CHANGELOG.md'), '')
  writeConfig(null)
  expect(prepare().commit).toBeNull()
  root = above
})

test('platforms are in their own order, each once', () => {
  const { platforms } = prepare({ only: 'darwin-x64,linux-x64,linux-x64' })
  expect(platforms).toEqual(['linux-x64', 'darwin-x64'])
})

test.each([
  [{ version: 'v1.2.3' }, '"v1.2.3" is no version'],
  [{ version: '' }, '"" is no version'],
  [{ only: 'linux-x64,linux-riscv64' }, 'there is no platform "linux-riscv64"; there are linux-x64'],
  [{ only: '' }, 'there is no platform ""'],
])('%j is wrong usage', (flags, message) => {
  expect(refusal(flags)).toEqual({ code: 2, message: expect.stringContaining(message) })
})

describe('the key', () => {
  test('of the file, else of the text, else a new one each time', () => {
    const file = join(root, 'key.pem')
    writeFileSync(file, pemOf(ED25519))
    const other = generateKeyPairSync('ed25519').privateKey
    expect(prepare({ key: file }, pemOf(other)).publicKey).toBe(publicKeyOf(ED25519))
    expect(prepare({}, pemOf(other)).publicKey).toBe(publicKeyOf(other))
    expect(prepare().publicKey).not.toBe(prepare().publicKey)
  })

  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  test.each<[what: string, text: string]>([
    ['RSA', pemOf(rsa)],
    ['P-256', pemOf(ec)],
    ['P-256 as SEC1', String(ec.export({ type: 'sec1', format: 'pem' }))],
    ['X25519', pemOf(generateKeyPairSync('x25519').privateKey)],
    [
      'a public key',
      String(generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' })),
    ],
    [
      'one with a password',
      String(
        ED25519.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'tell nobody' }),
      ),
    ],
    ['a cut one', pemOf(ED25519).slice(0, 60)],
    ['a damaged one', pemOf(ED25519).replace(/MC4C../, 'MC4CAA')],
    ['text', 'sesame'],
    ['DER', ED25519.export({ type: 'pkcs8', format: 'der' }).toString('latin1')],
  ])('%s is refused, without a word of it', (_what, text) => {
    const file = join(root, 'key.pem')
    writeFileSync(file, text, 'latin1')
    for (const [place, refused] of [
      [file, refusal({ key: file })],
      ['SVC_RELEASE_KEY', refusal({}, text)],
    ] as const)
      expect(refused).toEqual({
        code: 1,
        message: `${place} must be an Ed25519 private key as PKCS#8 PEM (openssl genpkey -algorithm ed25519 -out FILE)`,
      })
  })

  test('a file that is not there, or a folder, is named', () => {
    for (const key of [join(root, 'none.pem'), root])
      expect(refusal({ key })).toEqual({ code: 1, message: expect.stringContaining(`the key ${key}`) })
  })

  test('another one than release.config.json has is refused, unless it is said to be unofficial', () => {
    writeConfig(publicKeyOf(ED25519))
    expect(prepare({}, pemOf(ED25519)).publicKey).toBe(publicKeyOf(ED25519))
    const { code, message } = refusal({})
    expect(code).toBe(1)
    expect(message).toContain(publicKeyOf(ED25519))
    expect(message).toContain('--unofficial')
    expect(prepare({ unofficial: true }).publicKey).not.toBe(publicKeyOf(ED25519))
  })
})

test.each(['', '{', '[]', '{"npm":{}}'])('release.config.json with %j is refused', (text) => {
  writeFileSync(join(root, 'release.config.json'), text)
  expect(refusal({})).toEqual({ code: 1, message: expect.stringContaining('release.config.json') })
})
