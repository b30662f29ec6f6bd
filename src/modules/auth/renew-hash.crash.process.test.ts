import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { makeDatabaseBefore, storeUser } from '../../testing/data-dir-of-before.ts'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { makeDataDir, type ServerProcess, startServer } from '../../testing/server-process.ts'

/** The program is killed while it renews the hash of a password: the account has the one of before or the new one. */
const ROUNDS = rounds(3, 40)
const EMAIL = 'root@example.com'
const NFC = 'r\u00e9sum\u00e9s of ann'
const NFD = NFC.normalize('NFD')

const data = makeDataDir()
let server: ServerProcess | undefined
afterAll(async () => {
  server?.signal('SIGKILL')
  await server?.exited
  data.remove()
})

async function signIn(password: string): Promise<number> {
  const answer = await fetch(`${server?.url}/api/auth/signin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: EMAIL, password }),
  })
  return answer.status
}

/** Opens the database while no server runs. */
function inDatabase<T>(work: (sqlite: Database) => T): T {
  const sqlite = new Database(join(data.path, 'svc.db'), { strict: true })
  try {
    return work(sqlite)
  } finally {
    sqlite.close()
  }
}

test(`kill -9 amid re-hashing, ${ROUNDS} times`, async () => {
  const random = seededRandom(seedOf('renewing a hash'))
  makeDatabaseBefore(data.path, '0016_email_keys', (sqlite) =>
    storeUser(sqlite, { email: EMAIL, password: NFD, role: 'admin' }),
  )
  const [before] = inDatabase((sqlite) => sqlite.query('SELECT password_hash FROM users').values()).flat()
  for (let round = 0; round < ROUNDS; round++) {
    inDatabase((sqlite) => sqlite.run('UPDATE users SET password_hash = ?', [String(before)]))
    server = await startServer(data.path)
    const answers = Promise.allSettled(Array.from({ length: 4 }, () => signIn(NFC)))
    await Bun.sleep(random() * 250)
    server.signal('SIGKILL')
    await server.exited
    const signedIn = (await answers).filter((one) => one.status === 'fulfilled' && one.value === 200)
    const hash = String(
      inDatabase((sqlite) => sqlite.query('SELECT password_hash FROM users').values()).flat()[0],
    )
    const isRenewed = hash !== before
    expect(Bun.password.verifySync(isRenewed ? NFC : NFD, hash)).toBe(true)
    if (signedIn.length > 0) expect(isRenewed).toBe(true)
  }
  server = await startServer(data.path)
  for (const password of [NFC, NFD]) expect(await signIn(password)).toBe(200)
}, 300_000)
