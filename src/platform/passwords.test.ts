import { expect, test } from 'bun:test'
import { createLockout } from './lockout.ts'
import { createPasswords } from './passwords.ts'

test('a password is kept as Argon2id and recognised', async () => {
  const passwords = createPasswords()
  const hash = await passwords.hash('correct horse')
  expect(hash).toStartWith('$argon2id$')
  expect(await passwords.verify('correct horse', hash)).toBe(true)
  expect(await passwords.verify('wrong horse', hash)).toBe(false)
  expect(await passwords.verify('correct horse', null)).toBe(false)
})

test('a flood is refused beyond what may wait, and served again afterwards', async () => {
  const passwords = createPasswords()
  const hash = await passwords.hash('x')
  const all = await Promise.allSettled(Array.from({ length: 80 }, () => passwords.verify('x', hash)))
  const refused = all.filter((one) => one.status === 'rejected')
  expect(refused).toHaveLength(80 - 66)
  expect(String(refused[0]?.reason)).toContain('Too many sign-ins at once')
  expect(await passwords.verify('x', hash)).toBe(true)
})

test('ten failures lock one pair of email and address for 15 minutes', () => {
  let at = 0
  const lockout = createLockout(() => at)
  for (let i = 0; i < 9; i++) lockout.fail('ann@example.com', '10.0.0.1')
  expect(lockout.isLocked('ann@example.com', '10.0.0.1')).toBe(false)
  lockout.fail('ann@example.com', '10.0.0.1')
  expect(lockout.isLocked('ann@example.com', '10.0.0.1')).toBe(true)
  expect(lockout.isLocked('ann@example.com', '10.0.0.2')).toBe(false)
  expect(lockout.isLocked('bob@example.com', '10.0.0.1')).toBe(false)
  at = 15 * 60_000
  expect(lockout.isLocked('ann@example.com', '10.0.0.1')).toBe(false)
})
