import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailure } from '../../src/cli/command.ts'
import { isRecord } from '../../src/domain/is-record.ts'
import { PUBLIC_KEY_BYTES } from './key.ts'

/** Under which names a release is published. They stand in `release.config.json` and nowhere else. contract 19.1 */
export type ReleaseConfig = {
  npm: {
    /** What people install. */
    package: string
    /** Of the packages that hold the executables: `<scope>/<platform>`. */
    scope: string
  }
  /** The repositories of the two actions, `owner/name`. */
  actions: { upload: string; rules: string }
  /** The container image, without a tag. */
  image: string
  deb: string
  /** The address of `index.json`. */
  index: string
  /** Base64 of the public key that releases are signed with; null while there is none. */
  publicKey: string | null
}

const NPM_NAME = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/
const NPM_SCOPE = /^@[a-z0-9][a-z0-9._-]*$/
const REPOSITORY = /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/
const IMAGE = /^[a-z0-9][a-z0-9.-]*(?::[0-9]+(?=\/))?(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$/
const DEB = /^[a-z0-9][a-z0-9+.-]+$/

/** Throws a `CommandFailure` that names the entry. */
export function readReleaseConfig(root: string): ReleaseConfig {
  let read: unknown
  try {
    read = JSON.parse(readFileSync(join(root, FILE), 'utf8'))
  } catch (error) {
    throw new CommandFailure(`${FILE} cannot be read: ${String(error)}`)
  }
  return parseReleaseConfig(read)
}

export function parseReleaseConfig(read: unknown): ReleaseConfig {
  const top = entriesOf(read, '', ['npm', 'actions', 'image', 'deb', 'index', 'publicKey'])
  const npm = entriesOf(top['npm'], 'npm', ['package', 'scope'])
  const actions = entriesOf(top['actions'], 'actions', ['upload', 'rules'])
  return {
    npm: {
      package: named(npm['package'], 'npm.package', NPM_NAME, 'the name of an npm package, such as svc'),
      scope: named(npm['scope'], 'npm.scope', NPM_SCOPE, 'the scope of npm packages, such as @svc'),
    },
    actions: {
      upload: named(actions['upload'], 'actions.upload', REPOSITORY, 'a repository, such as owner/name'),
      rules: named(actions['rules'], 'actions.rules', REPOSITORY, 'a repository, such as owner/name'),
    },
    image: named(top['image'], 'image', IMAGE, 'the name of a container image without a tag'),
    deb: named(top['deb'], 'deb', DEB, 'the name of a Debian package: at least two of a-z 0-9 + . -'),
    index: indexIn(top['index']),
    publicKey: publicKeyIn(top['publicKey']),
  }
}

const FILE = 'release.config.json'

const wrong = (at: string, wanted: string): CommandFailure =>
  new CommandFailure(`${FILE}: ${at === '' ? 'it' : at} must be ${wanted}`)

/** An object with exactly these keys. */
function entriesOf(value: unknown, at: string, keys: readonly string[]): Record<string, unknown> {
  if (!isRecord(value)) throw wrong(at, `an object with ${keys.join(', ')}`)
  const strange = Object.keys(value).find((key) => !keys.includes(key))
  if (strange !== undefined) throw wrong(at, `an object with ${keys.join(', ')}, so not "${strange}"`)
  return value
}

function named(value: unknown, at: string, form: RegExp, wanted: string): string {
  if (typeof value !== 'string' || !form.test(value)) throw wrong(at, wanted)
  return value
}

function indexIn(value: unknown): string {
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (url?.protocol !== 'https:') throw wrong('index', 'an address that begins with https://')
  return String(value)
}

function publicKeyIn(value: unknown): string | null {
  if (value === null) return null
  const isKey = typeof value === 'string' && Buffer.from(value, 'base64').toString('base64') === value
  if (!isKey || Buffer.from(value, 'base64').length !== PUBLIC_KEY_BYTES)
    throw wrong('publicKey', `null, or the base64 of the ${PUBLIC_KEY_BYTES} bytes of an Ed25519 key`)
  return value
}
