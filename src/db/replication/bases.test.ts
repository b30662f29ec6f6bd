import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Shipping } from '../../testing/shipping.ts'
import { until } from '../../testing/until.ts'
import { inDurableTransaction } from '../relaxed.ts'

const fill = (it: Shipping, rows: number, bytes = 12_000) =>
  inDurableTransaction(it.db, () => {
    for (let row = 0; row < rows; row += 1) it.insert(bytes)
  })

test('a base has every page as of its number, whatever is written and copied meanwhile', async () => {
  const it = new Shipping({ due: { baseBytes: 2 ** 20, pages: 300 } })
  for (let round = 0; round < 12; round += 1) {
    await fill(it, 60)
    it.db.sqlite.run('UPDATE t SET v = zeroblob(3000) WHERE id % 7 = 0')
    if (round % 4 === 3) it.db.sqlite.run('DELETE FROM t WHERE id % 2 = 0; VACUUM')
    await it.shipper.sync()
    await until('a base', () => it.bases().length > 0)
  }
  await until('another', () => it.bases().length === 2)
  for (const base of it.bases()) {
    const ofLog = readFileSync(await it.restored(0, base))
    expect(readFileSync(await it.restored(base, base)).equals(ofLog)).toBe(true)
    expect(readFileSync(await it.restored(base)).equals(it.bytes())).toBe(true)
  }
  await until('no file to be left', () => [...new Bun.Glob('tmp/*').scanSync(it.folder)].length === 0)
  await it.end()
}, 60_000)

test('after a migration one is made at once', async () => {
  const it = new Shipping({ wantsBase: true })
  await it.shipper.sync()
  await until('the base', () => it.bases().length === 1)
  expect(it.bases()).toEqual([1])
  await it.end()
})

test('the newest two stay, and the log from the older one on, but an hour of it', async () => {
  let later = 0
  const it = new Shipping({ due: { baseBytes: 1 }, now: () => Date.now() + later })
  const base = async () => {
    const before = it.bases().at(-1) ?? 0
    await fill(it, 1)
    await until('a base', () => (it.bases().at(-1) ?? 0) > before)
    return it.bases().at(-1) ?? 0
  }
  for (let round = 0; round < 4; round += 1) await base()
  await until('two bases', () => it.bases().length === 2)
  expect(it.numbers()[0]).toBe(1)
  later = 2 * 3_600_000
  const last = await base()
  await until('two bases', () => it.bases().length === 2)
  const [older = 0] = it.bases()
  await until('the log to begin there', () => it.numbers()[0] === older)
  expect(it.numbers().at(-1)).toBeGreaterThanOrEqual(last)
  expect(readFileSync(await it.restored(older)).equals(it.bytes())).toBe(true)
  await it.end()
})

test('what the log had since the last base counts after a start, too', async () => {
  const it = new Shipping({ due: { baseBytes: 2 ** 20 } })
  await fill(it, 60)
  await fill(it, 5)
  await it.crash()
  await fill(it, 1)
  await until('a base', () => it.bases().length === 1)
  await it.end()
})

test('a store that does not take one is asked again, and all else goes on', async () => {
  const it = new Shipping({ due: { baseBytes: 1 } })
  it.server.fault = ({ method, key }) =>
    method === 'PUT' && key.startsWith('db/0009') ? { status: 403, code: 'AccessDenied' } : undefined
  await fill(it, 3)
  await until('a warning', () => it.lines.some((line) => line.includes('no new base')))
  await fill(it, 3)
  expect(readFileSync(await it.restored(0)).equals(it.bytes())).toBe(true)
  expect(it.shipper.refusal()).toBeNull()
  await it.end()
})
