import { expect, test } from 'bun:test'
import { ConfigError, loadConfig } from './config.ts'
import { machineConflict, storeWarning } from './store.ts'

const KEYS = { STORE_ACCESS_KEY: 'svckey', STORE_SECRET_KEY: 'sesame' }
const load = (env: Record<string, string>) => loadConfig({ env })

test.each([
  ['s3://bucket', { bucket: 'bucket', prefix: '' }],
  ['s3://bucket/', { bucket: 'bucket', prefix: '' }],
  ['s3://my.bucket-1/a/b', { bucket: 'my.bucket-1', prefix: 'a/b/' }],
])('%s is a store', (url, store) => {
  expect(load({ ...KEYS, STORE_URL: url }).storeUrl).toEqual(store)
})

test('without STORE_URL there is no store, and nothing of AWS is read', () => {
  const config = load({ AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', S3_ENDPOINT: 'http://c' })
  expect(config).toMatchObject({
    storeUrl: null,
    storeEndpoint: null,
    storeAccessKey: null,
    storeSecretKey: null,
  })
  expect(config).toMatchObject({ storeRegion: 'us-east-1', storeTimeoutSeconds: 10 })
})

const bad: [env: Record<string, string>, message: RegExp][] = [
  ...['bucket', 'http://b', 's3://', 's3://user:sesame@bucket', 's3://bucket?x=1', 's3://bucket/a?x'].map(
    (url): [Record<string, string>, RegExp] => [{ ...KEYS, STORE_URL: url }, /^STORE_URL is \(hidden\)/],
  ),
  ...[
    's3://bucket/../x',
    's3://bucket/a/..',
    's3://bucket//a',
    's3://bucket/./a',
    's3://UP',
    's3://bucket/a#b',
  ].map((url): [Record<string, string>, RegExp] => [{ ...KEYS, STORE_URL: url }, /^STORE_URL is/]),
  [{ STORE_URL: 's3://bucket' }, /^STORE_ACCESS_KEY is missing/],
  [{ STORE_URL: 's3://bucket', STORE_ACCESS_KEY: 'svckey' }, /^STORE_SECRET_KEY is missing/],
  [{ STORE_ENDPOINT: 'ftp://host' }, /^STORE_ENDPOINT is/],
  [{ STORE_ENDPOINT: 'http://user:sesame@host' }, /^STORE_ENDPOINT is \(hidden\)/],
  [{ STORE_ENDPOINT: 'http://host/path' }, /^STORE_ENDPOINT is/],
  [{ STORE_REGION: 'a/b' }, /^STORE_REGION is/],
  [{ STORE_ACCESS_KEY: 'a b' }, /^STORE_ACCESS_KEY is/],
  [{ STORE_TIMEOUT_SECONDS: '0' }, /^STORE_TIMEOUT_SECONDS is "0"/],
  [{ STORE_TIMEOUT_SECONDS: '61' }, /^STORE_TIMEOUT_SECONDS is "61"/],
  [{ STORE_CACHE_BYTES: '63MiB' }, /^STORE_CACHE_BYTES is "63MiB"/],
  [{ STORE_CACHE_BYTES: 'all' }, /^STORE_CACHE_BYTES is "all"/],
  [{ STORE_POLL_MS: '99' }, /^STORE_POLL_MS is "99"/],
  [{ TAKEOVER_SECONDS: '2' }, /^TAKEOVER_SECONDS is "2"/],
  [{ NODE_STALE_SECONDS: '-1' }, /^NODE_STALE_SECONDS is "-1"/],
  [{ NODE_SECRET: 'sesame'.repeat(5) }, /^NODE_SECRET /],
]
test.each(bad)('%p stops the start, without showing a secret', (env, message) => {
  expect(() => load(env)).toThrow(ConfigError)
  expect(() => load(env)).toThrow(message)
  expect(() => load(env)).not.toThrow(/sesame/)
})

test.each([
  ['http://127.0.0.1:9000', false],
  ['http://[::1]:9000', false],
  ['http://10.0.0.5', false],
  ['http://localhost', false],
  ['https://s3.example.com', false],
  ['http://s3.example.com', true],
  ['http://8.8.8.8', true],
])('%s is warned of: %p', (storeEndpoint, isWarned) => {
  expect(storeWarning({ storeEndpoint }) !== null).toBe(isWarned)
})

test('machines that forward need a secret and an address, when they serve', () => {
  const secret = 'sesame'.repeat(6)
  const conflictOf = (env: Record<string, string>) =>
    machineConflict(load({ ...KEYS, STORE_URL: 's3://bucket', ...env }))
  expect(conflictOf({})).toBeNull()
  expect(conflictOf({ NODE_SECRET: secret })).toMatch(/^MACHINE_URL is missing/)
  expect(conflictOf({ NODE_SECRET: secret, MACHINE_URL: 'http://10.0.0.1:3000' })).toBeNull()
  expect(conflictOf({ ROLE: 'node' })).toMatch(/^NODE_SECRET is missing/)
  expect(conflictOf({ ROLE: 'node', NODE_SECRET: secret })).toBeNull()
})
