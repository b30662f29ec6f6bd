import { hostname } from 'node:os'
import { isPublicAddress, parseIp } from '../domain/ip-ranges.ts'
import { byteSizeFrom, oneOf, type Parsed, type PlainOption, publicUrl, text, wholeNumber } from './values.ts'

/** The object store that the workspace lives in. contract 18 §1. */
export type StoreConfig = {
  /** Null: everything is on the local disk. */
  storeUrl: StoreUrl | null
  /** Scheme, host and port; null for AWS by its region. */
  storeEndpoint: string | null
  storeRegion: string
  storeAccessKey: string | null
  storeSecretKey: string | null
  /** How long one request waits for the store. */
  storeTimeoutSeconds: number
  /** How often a machine that follows asks for the next number of the log. */
  storePollMs: number
  role: Role
  machineName: string
  /** By which other machines reach this one. */
  machineUrl: string | null
  /** The same on all machines; null where none forwards to another. */
  nodeSecret: string | null
  /** The silence after which a stand-by takes over. */
  takeoverSeconds: number
  /** After so long without the store a machine that follows serves nothing; 0 for never. */
  nodeStaleSeconds: number
  /** Of local copies of contents. */
  storeCacheBytes: number
}

/** contract 18 §5. */
export type Role = 'auto' | 'primary' | 'standby' | 'node'

/** `prefix` is empty or ends with a slash. */
export type StoreUrl = { bucket: string; prefix: string }

export const STORE_OPTIONS: { [K in keyof StoreConfig]: PlainOption<StoreConfig[K]> } = {
  storeUrl: {
    env: 'STORE_URL',
    help: 'the object store that holds the workspace: s3://bucket or s3://bucket/prefix',
    shownDefault: 'none',
    // What is no such address may hold a password.
    secret: true,
    fallback: () => null,
    parse: storeUrl,
  },
  storeEndpoint: {
    env: 'STORE_ENDPOINT',
    help: 'scheme, host and port of the object store',
    shownDefault: 'AWS, by region',
    secret: true,
    fallback: () => null,
    parse: publicUrl,
  },
  storeRegion: {
    env: 'STORE_REGION',
    help: 'region of the bucket',
    shownDefault: 'us-east-1',
    fallback: () => 'us-east-1',
    parse: (given) =>
      /^[a-z0-9][\w-]{0,62}$/i.test(given) ? text(given) : { expected: 'a region such as eu-central-1' },
  },
  storeAccessKey: {
    env: 'STORE_ACCESS_KEY',
    help: 'access key of the object store',
    shownDefault: 'none',
    fallback: () => null,
    parse: (given) =>
      /^[\x21-\x2b\x2d\x2e\x30-\x7e]+$/.test(given)
        ? text(given)
        : { expected: 'an access key without spaces, commas and slashes' },
  },
  storeSecretKey: {
    env: 'STORE_SECRET_KEY',
    help: 'secret of the access key',
    shownDefault: 'none',
    secret: true,
    fallback: () => null,
    parse: text,
  },
  storeTimeoutSeconds: {
    env: 'STORE_TIMEOUT_SECONDS',
    help: 'how long one request waits for the object store',
    shownDefault: '10',
    fallback: () => 10,
    parse: wholeNumber(1, 60),
  },
  storePollMs: {
    env: 'STORE_POLL_MS',
    help: 'how often a stand-by or node asks the object store for what is new, in milliseconds',
    shownDefault: '500',
    fallback: () => 500,
    parse: wholeNumber(100, 5000),
  },
  role: {
    env: 'ROLE',
    help: 'auto, primary, standby or node: what this machine is to the workspace in STORE_URL',
    shownDefault: 'auto',
    fallback: () => 'auto',
    parse: oneOf('auto', 'primary', 'standby', 'node'),
  },
  machineName: {
    env: 'MACHINE_NAME',
    help: 'what this machine is called, with STORE_URL',
    shownDefault: 'its host name',
    fallback: hostname,
    parse: (given) =>
      /^[^\p{C}]{1,100}$/u.test(given)
        ? text(given)
        : { expected: 'a name of 1 to 100 characters on one line' },
  },
  machineUrl: {
    env: 'MACHINE_URL',
    help: 'scheme, host and port by which other machines reach this one, with STORE_URL',
    shownDefault: 'none',
    fallback: () => null,
    parse: publicUrl,
  },
  nodeSecret: {
    env: 'NODE_SECRET',
    help: 'secret by which machines forward requests to the primary, the same on all: 32 characters or more',
    shownDefault: 'none',
    secret: true,
    fallback: () => null,
    parse: (given) => (given.length >= 32 ? text(given) : { expected: '32 characters or more' }),
  },
  takeoverSeconds: {
    env: 'TAKEOVER_SECONDS',
    help: 'silence of the primary after which a stand-by takes over',
    shownDefault: '10',
    fallback: () => 10,
    parse: wholeNumber(3, 300),
  },
  nodeStaleSeconds: {
    env: 'NODE_STALE_SECONDS',
    help: 'after so long without the object store a stand-by or node serves nothing; 0 for never',
    shownDefault: '0',
    fallback: () => 0,
    parse: wholeNumber(0, 10 ** 9),
  },
  storeCacheBytes: {
    env: 'STORE_CACHE_BYTES',
    help: 'local copies of contents that are in the object store, in bytes',
    shownDefault: '10 GiB',
    fallback: () => 10 * 2 ** 30,
    parse: byteSizeFrom(64 * 2 ** 20),
  },
}

/** Describes a conflict between settings in a sentence that starts with the variable; null if there is none. */
export function storeConflict(config: StoreConfig): string | null {
  const { storeUrl, role } = config
  if (storeUrl === null) return role === 'auto' ? null : `ROLE is "${role}", but needs STORE_URL`
  return missingKey(config, 'STORE_URL')
}

/** The same for one that serves: commands need not know where other machines reach it. */
export function machineConflict({
  role,
  nodeSecret,
  machineUrl,
}: Pick<StoreConfig, 'role' | 'nodeSecret' | 'machineUrl'>): string | null {
  if (role === 'node' && nodeSecret === null)
    return 'NODE_SECRET is missing: a node forwards to the primary by it, so it must be the same on all machines'
  if (role !== 'node' && nodeSecret !== null && machineUrl === null)
    return 'MACHINE_URL is missing: with NODE_SECRET other machines forward to this one when it is the primary'
  return null
}

/** Such a sentence where a key is missing that `what` needs. */
export function missingKey(
  { storeAccessKey, storeSecretKey }: Pick<StoreConfig, 'storeAccessKey' | 'storeSecretKey'>,
  what: string,
): string | null {
  if (storeAccessKey === null) return `STORE_ACCESS_KEY is missing: ${what} needs it`
  if (storeSecretKey === null) return `STORE_SECRET_KEY is missing: ${what} needs it`
  return null
}

/** A sentence where the store is spoken to in the clear over a network that others may read; else null. */
export function storeWarning({ storeEndpoint }: Pick<StoreConfig, 'storeEndpoint'>): string | null {
  if (storeEndpoint === null || !storeEndpoint.startsWith('http:')) return null
  const host = new URL(storeEndpoint).hostname.replace(/^\[|\]$/g, '')
  const isNear = host === 'localhost' || (parseIp(host) !== null && !isPublicAddress(host))
  return isNear
    ? null
    : `STORE_ENDPOINT is ${storeEndpoint}: without TLS whoever is on the way reads the data`
}

/** `STORE_URL` as it is written; '' without one. */
export const storeUrlText = ({ storeUrl }: Pick<StoreConfig, 'storeUrl'>): string =>
  storeUrl === null ? '' : `s3://${`${storeUrl.bucket}/${storeUrl.prefix}`.replace(/\/$/, '')}`

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/

export function storeUrl(given: string): Parsed<StoreUrl> {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/.exec(given) ?? []
  const prefix = path.replace(/\/$/, '')
  const isPlain =
    prefix === '' || prefix.split('/').every((part) => /^(?!\.{1,2}$)[\w.!~'()*+=, -]+$/.test(part))
  return BUCKET.test(bucket) && isPlain && Buffer.byteLength(prefix) <= 512
    ? { value: { bucket, prefix: prefix === '' ? '' : `${prefix}/` } }
    : { expected: 's3://bucket or s3://bucket/prefix, without user name, query or ..' }
}
