import { expect, test } from 'bun:test'
import { ConfigError, loadConfig } from './config.ts'

const load = (value: string) => loadConfig({ env: { WEBHOOK_RETRY_SECONDS: value } }).webhookRetrySeconds

const good: [text: string, waits: number[]][] = [
  ['', [10, 60, 600, 3600]],
  ['0,0,0,0', [0, 0, 0, 0]],
  ['1, 2, 3, 86400', [1, 2, 3, 86400]],
]
test.each(good)('WEBHOOK_RETRY_SECONDS %p', (text, waits) => expect([...load(text)]).toEqual(waits))

test.each(['10', '1,2,3', '1,2,3,4,5', '1,2,3,86401', '1,2,3,-4', '1,2,3,', 'a,b,c,d', '1.5,2,3,4'])(
  'WEBHOOK_RETRY_SECONDS %p is refused',
  (text) => expect(() => load(text)).toThrow('WEBHOOK_RETRY_SECONDS'),
)

const KEYS = { STORE_ACCESS_KEY: 'svckey', STORE_SECRET_KEY: 'sesame' }
const backups = (value: string, keys = KEYS) => loadConfig({ env: { ...keys, BACKUP_DIR: value } }).backupDir

test.each([
  ['/backups', null],
  ['backups/s3://x', null],
  ['s3://bucket/of svc/', { bucket: 'bucket', prefix: 'of svc/' }],
  ['s3://bucket/a/b', { bucket: 'bucket', prefix: 'a/b/' }],
  ['s3://bucket', { bucket: 'bucket', prefix: '' }],
])('BACKUP_DIR %p', (given, store) => expect(backups(given)).toEqual({ text: given, store }))

test.each([
  's3://',
  's3:/bucket/x',
  'S3://bucket/x',
  's3://user:sesame@bucket/x',
  's3://bucket/sesame/../x',
  's3://bucket/..',
  's3://bucket/x?sesame=1',
  's3://bucket/x#sesame',
  's3://bucket//x',
  's3://bucket/%2e%2e/x',
])('BACKUP_DIR %p is refused, and not shown', (given) => {
  expect(() => backups(given)).toThrow(ConfigError)
  expect(() => backups(given)).toThrow(/^BACKUP_DIR is \(hidden\), but must be a folder, or s3:/)
  expect(() => backups(given)).not.toThrow('sesame')
})

test('BACKUP_DIR in a store needs its keys, and in a folder none', () => {
  const load = (env: Record<string, string>) => () => loadConfig({ env })
  expect(load({ BACKUP_DIR: 's3://bucket/x' })).toThrow(/^STORE_ACCESS_KEY is missing: BACKUP_DIR needs it$/)
  expect(load({ BACKUP_DIR: 's3://bucket/x', STORE_ACCESS_KEY: 'a' })).toThrow(/^STORE_SECRET_KEY is missing/)
  expect(load({ BACKUP_DIR: 'x' })().backupDir).toEqual({ text: 'x', store: null })
})
