import { Database } from 'bun:sqlite'
import { beforeEach, expect, test } from 'bun:test'
import { migrate } from '../src/db/migrate.ts'
import { migrations } from './index.ts'

const NFC = 'ren\u00e9@example.com'
const NFD = 'rene\u0301@example.com'
const NEW = '0016_email_keys'

let sqlite: Database
beforeEach(() => {
  sqlite = new Database(':memory:', { strict: true })
  sqlite.run('PRAGMA foreign_keys = ON')
  migrate(
    sqlite,
    0,
    migrations.filter(({ name }) => name < NEW),
  )
})

const addUser = (id: string, email: string) =>
  sqlite.run('INSERT INTO users (id, email, role, created_at, updated_at) VALUES (?, ?, ?, 0, 0)', [
    id,
    email,
    'member',
  ])
const rows = (query: string) => sqlite.query(query).values()

const KEPT = 'SELECT id, email, password_hash, role, totp_secret, created_at, updated_at FROM users'

test('accounts stay as they are; those that are spelled otherwise get a key', () => {
  addUser('a', NFC)
  addUser('b', NFD)
  addUser('c', 'ann@b\u00fccher.example')
  addUser('d', 'ann@example.com')
  addUser('e', 'ann@a..b')
  const before = rows(KEPT)
  migrate(sqlite, 1)
  expect(rows(KEPT)).toEqual(before)
  expect(rows('SELECT * FROM email_keys ORDER BY user_id')).toEqual([
    ['b', NFC],
    ['c', 'ann@xn--bcher-kva.example'],
  ])
})

test('nobody else can have the email of an account of before, however that is spelled', () => {
  addUser('b', NFD)
  addUser('d', 'ann@example.com')
  migrate(sqlite, 1)
  expect(() => addUser('x', NFC)).toThrow('email taken')
  expect(() => sqlite.run('UPDATE users SET email = ? WHERE id = ?', [NFC, 'd'])).toThrow('email taken')
  sqlite.run('UPDATE users SET email = ? WHERE id = ?', [NFC, 'b'])
  expect(rows('SELECT * FROM email_keys')).toEqual([])
})

test('a key ends with its account', () => {
  addUser('b', NFD)
  migrate(sqlite, 1)
  sqlite.run('DELETE FROM users')
  expect(rows('SELECT * FROM email_keys')).toEqual([])
})

test('open invitations get the form that sign-up compares with, of two to one email the one that has it', () => {
  sqlite.run(
    `INSERT INTO projects (id, owner, name, display_name, is_public, allow_public_signup, required_role, created_at, updated_at)
     VALUES ('p', 'o', 'n', 'n', 0, 0, 'guest', 0, 0)`,
  )
  const invite = (id: string, email: string) =>
    sqlite.run(
      `INSERT INTO invitations (id, project_id, email, role, token_hash, created_by, created_at, expires_at)
       VALUES (?, 'p', ?, 'guest', ?, 'x', 0, 1)`,
      [id, email, id],
    )
  addUser('u', 'rene\u0301@example.org')
  invite('1', NFC)
  invite('2', NFD)
  invite('3', 'ann@b\u00fccher.example')
  invite('4', 'rene\u0301@example.org')
  migrate(sqlite, 1)
  expect(rows('SELECT id, email FROM invitations ORDER BY id')).toEqual([
    ['1', NFC],
    ['2', NFD],
    ['3', 'ann@xn--bcher-kva.example'],
    ['4', 'rene\u0301@example.org'],
  ])
})

test('a failure half way leaves the database of before', () => {
  addUser('b', NFD)
  const broken = migrations.map((one) =>
    one.name === NEW
      ? {
          ...one,
          complete(db: Database) {
            one.complete?.(db)
            throw new Error('the power failed')
          },
        }
      : one,
  )
  expect(() => migrate(sqlite, 1, broken)).toThrow('the power failed')
  expect(rows("SELECT name FROM sqlite_master WHERE name = 'email_keys'")).toEqual([])
  migrate(sqlite, 1)
  expect(rows('SELECT * FROM email_keys')).toEqual([['b', NFC]])
})
