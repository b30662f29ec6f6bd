import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { CHEAP } from '../testing/cheap-passwords.ts'
import { createLockout } from './lockout.ts'
import { createPasswords } from './passwords.ts'

test('a password is stored as Argon2id and recognised', async () => {
  const passwords = createPasswords()
  const hash = await passwords.hash('correct horse')
  expect(hash).toStartWith('$argon2id$')
  expect(await passwords.verify('correct horse', hash)).toBe('right')
  expect(await passwords.verify('wrong horse', hash)).toBe('wrong')
  expect(await passwords.verify('correct horse', null)).toBe('wrong')
})

test('a flood beyond the queue limit is rejected, and later sign-ins are served again', async () => {
  const passwords = createPasswords({ atOnce: 2, waiting: 6 }, CHEAP)
  const hash = await passwords.hash('x')
  const all = await Promise.allSettled(Array.from({ length: 12 }, () => passwords.verify('x', hash)))
  expect(all.map(({ status }) => status)).toEqual([
    ...Array(8).fill('fulfilled'),
    ...Array(4).fill('rejected'),
  ])
  const [refusal] = all.filter((one) => one.status === 'rejected')
  expect(refusal?.reason).toMatchObject({
    status: 503,
    message: 'Too many sign-ins at once. Try again in a few seconds.',
    headers: { 'retry-after': '5' },
  })
  expect(await passwords.verify('x', hash)).toBe('right')
})

test('64 sign-ins in flight are not too many', async () => {
  const passwords = createPasswords(undefined, CHEAP)
  const hash = await passwords.hash('x')
  const all = await Promise.all(Array.from({ length: 64 }, () => passwords.verify('x', hash)))
  expect(all).toEqual(Array(64).fill('right'))
}, 60_000)

test('the hashing thread has a lower priority than those that serve', async () => {
  const own = nicenessOf('self')
  await createPasswords().hash('x')
  expect(nicenessOf('self')).toBe(own)
  expect(readdirSync('/proc/self/task').map((id) => nicenessOf(`self/task/${id}`))).toContain(13)
})

/** The 19th field of `/proc/…/stat`; the second may contain spaces. Null for a thread that has ended meanwhile. */
function nicenessOf(task: string): number | null {
  try {
    const line = readFileSync(`/proc/${task}/stat`, 'utf8')
    return Number(line.slice(line.lastIndexOf(')') + 2).split(' ')[16])
  } catch {
    return null
  }
}

test('a malformed hash is an error, and the thread continues', async () => {
  const passwords = createPasswords()
  await expect(passwords.verify('x', 'no hash')).rejects.toThrow('A password could not be hashed')
  expect(await passwords.verify('x', await passwords.hash('x'))).toBe('right')
})

test('ten failures lock one pair of email and address for 15 minutes', () => {
  let at = 0
  const lockout = createLockout(() => at)
  const annWaits = () => lockout.lockedForSeconds('ann@example.com', '10.0.0.1')
  for (let i = 0; i < 9; i++) lockout.fail('ann@example.com', '10.0.0.1')
  expect(annWaits()).toBe(0)
  at = 60_000
  lockout.fail('ann@example.com', '10.0.0.1')
  expect(annWaits()).toBe(14 * 60)
  expect(lockout.lockedForSeconds('ann@example.com', '10.0.0.2')).toBe(0)
  expect(lockout.lockedForSeconds('bob@example.com', '10.0.0.1')).toBe(0)
  at = 15 * 60_000 - 1
  expect(annWaits()).toBe(1)
  at = 15 * 60_000
  expect(annWaits()).toBe(0)
})

test('a lock ends when the clock that set it turns out to have been ahead', () => {
  let at = 3_600_000
  const lockout = createLockout(() => at)
  for (let i = 0; i < 10; i++) lockout.fail('ann@example.com', '10.0.0.1')
  expect(lockout.lockedForSeconds('ann@example.com', '10.0.0.1')).toBe(15 * 60)
  at = 0
  expect(lockout.lockedForSeconds('ann@example.com', '10.0.0.1')).toBe(0)
})
