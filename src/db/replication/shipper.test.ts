import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { AppError } from '../../domain/errors.ts'
import { BASE_FOLDER, baseKey, logKey } from '../../domain/store-keys.ts'
import type { StoreFault, StoreRequestSeen } from '../../testing/object-server.ts'
import { Shipping } from '../../testing/shipping.ts'
import { until } from '../../testing/until.ts'
import { groupCommit } from '../group-commit.ts'
import { inTransaction } from '../open.ts'
import { inDurableTransaction, inRelaxedTransaction } from '../relaxed.ts'

let it: Shipping
beforeEach(async () => {
  it = new Shipping()
  await it.shipper.sync()
})
afterEach(() => it.end())

const write = () => inDurableTransaction(it.db, () => it.insert())
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error) => (error instanceof AppError ? error.code : error),
  )
const puts = () => it.server.requests.filter(({ method }) => method === 'PUT').length
/** Each PUT meets the fault until it is taken away. */
function failing(fault: StoreFault): void {
  it.server.fault = ({ method }) => (method === 'PUT' ? fault : undefined)
}
const mend = () => {
  it.server.fault = () => undefined
}

async function expectStored(base = 0): Promise<void> {
  const restored = readFileSync(await it.restored(base))
  expect(restored.equals(it.bytes())).toBe(true)
}

describe('what is committed', () => {
  test('is in the store, whole, when somebody is told', async () => {
    expect(it.numbers()).toEqual([1])
    await expectStored()
    await write()
    expect(it.numbers()).toEqual([1, 2])
    it.insert(12_000)
    await it.shipper.sync()
    expect(it.shipper.number).toBe(3)
    await expectStored()
  })

  test('says who wrote it, and in which epoch', async () => {
    await write()
    expect(it.server.objects.get(logKey(2))?.headers).toMatchObject({
      'x-amz-meta-svc-writer': 'w1',
      'x-amz-meta-svc-epoch': '1',
    })
  })

  test('is nothing: nothing is sent, and nobody waits', async () => {
    const before = it.server.requests.length
    await it.shipper.sync()
    await it.shipper.sync()
    expect(it.server.requests.length).toBe(before)
  })

  test('at once shares objects, by each way to write', async () => {
    it.server.delayMs = 20
    const ways = [
      () => write(),
      () => groupCommit(it.db, () => it.insert()),
      async () => {
        inTransaction(it.db, () => it.insert())
        await it.shipper.sync()
      },
    ]
    await Promise.all(Array.from({ length: 300 }, (_, i) => ways[i % ways.length]?.()))
    expect(it.rows().length).toBe(300)
    expect(it.numbers().length).toBeLessThanOrEqual(5)
    await expectStored()
  })

  test('while an object is on its way, and is in it, waits for that one alone', async () => {
    it.server.delayMs = 30
    const first = write()
    const same = it.shipper.sync()
    await Promise.all([first, same])
    expect(it.numbers()).toEqual([1, 2])
  })

  test('by a relaxed transaction goes out by itself', async () => {
    inRelaxedTransaction(it.db, () => it.insert())
    await until('the object', () => it.numbers().length === 2, 1_500)
    await expectStored()
  })

  test('by another process goes out, too, and with it whoever asks', async () => {
    const other = new Database(it.file)
    other.run('INSERT INTO t (v) VALUES (zeroblob(5000))')
    await it.shipper.sync()
    await expectStored()
    other.run('DELETE FROM t')
    other.close()
    await until('the object', () => it.numbers().length === 3, 1_500)
    await expectStored()
  })

  test('in a large transaction is sent from a file, which is removed', async () => {
    inTransaction(it.db, () => {
      for (let row = 0; row < 400; row += 1) it.insert(60_000)
    })
    await it.shipper.sync()
    await expectStored()
    const left = [...new Bun.Glob('tmp/*').scanSync(it.folder)]
    expect(left).toEqual([])
  })
})

describe('an answer that is lost', () => {
  test.each<[string, StoreFault]>([
    ['500 before', { status: 500 }],
    ['503 SlowDown', { status: 503, code: 'SlowDown' }],
    ['500 after', { status: 500, afterwards: true }],
    ['503 after', { status: 503, afterwards: true }],
    ['a hanging connection before', { hang: 'before' }],
    ['a hanging connection after', { hang: 'after' }],
    ['409', { status: 409, code: 'ConditionalRequestConflict' }],
    ['412 of our own', { status: 412, code: 'PreconditionFailed', afterwards: true }],
  ])('%s is settled, and the object is there once', async (_, fault) => {
    let isFirst = true
    it.server.fault = ({ method }) => {
      if (method !== 'PUT' || !isFirst) return undefined
      isFirst = false
      return fault
    }
    const outcome = await codeOf(write())
    expect(['done', 'STORE_UNREACHABLE']).toContain(outcome)
    await until('the store to be back', () => it.shipper.refusal() === null)
    await write()
    expect(it.numbers()).toEqual([1, 2, 3])
    await expectStored()
  })
})

test('an object of our own is ours by its bytes, where the store has lost their digest', async () => {
  it.server.fault = ({ method, key }) => {
    if (key !== logKey(2)) return undefined
    const headers = it.server.objects.get(key)?.headers
    if (headers !== undefined) delete headers['x-amz-meta-svc-sha256']
    return method === 'PUT' ? { status: 500, afterwards: true } : undefined
  }
  expect(await codeOf(write())).toBe('done')
  expect([it.deposed, it.numbers()]).toEqual([0, [1, 2]])
  await write()
  await expectStored()
})

test('who waits for an object before their own waits no longer than for one', async () => {
  it.server.fault = ({ method }) => (method === 'PUT' ? { status: 500, afterwards: true } : undefined)
  it.server.delayMs = 270
  const first = codeOf(write())
  await until('the first to be on its way', () => it.server.requests.some(({ key }) => key === logKey(2)))
  expect(await codeOf(write())).toBe('STORE_UNREACHABLE')
  expect(await first).toBe('done')
  it.server.delayMs = 0
  mend()
  await until('the store to have all', () => it.shipper.state().unshippedBytes === 0)
  expect([it.shipper.refusal(), it.deposed]).toEqual([null, 0])
  await expectStored()
})

describe('while the store is away', () => {
  test('a write that waits is refused, may have happened, and further ones are refused at once', async () => {
    failing({ hang: 'before' })
    const waiting = [write(), write()]
    await Bun.sleep(20)
    waiting.push(write())
    const refused = await Promise.all(waiting.map((one) => one.catch((error) => error)))
    for (const error of refused) {
      expect(error).toMatchObject({ status: 503, code: 'STORE_UNREACHABLE', headers: { 'retry-after': '5' } })
      expect(error.message).toContain('may still have happened')
    }
    const { awaited } = it.db.log
    const further = await write().catch((error) => error)
    expect(further).toMatchObject({ status: 503, code: 'STORE_UNREACHABLE' })
    expect(further.message).toContain('Nothing of this was done')
    expect(() => inTransaction(it.db, () => it.insert())).toThrow(further.message)
    expect(it.db.log.awaited).toBe(awaited)
    expect(it.rows().length).toBe(3)
    expect(it.shipper.state()).toMatchObject({ number: 1, isStoreUp: false, error: expect.any(String) })
    expect(it.shipper.state().unshippedBytes).toBeGreaterThan(0)
    mend()
    await until('the store to be back', () => it.shipper.refusal() === null, 5_000)
    await write()
    expect(it.rows().length).toBe(4)
    expect(it.shipper.state()).toMatchObject({ isStoreUp: true, error: null, unshippedBytes: 0 })
    await expectStored()
  })

  test('the same bytes are sent under a number, whatever is committed meanwhile', async () => {
    failing({ status: 500 })
    await codeOf(write())
    const other = new Database(it.file)
    other.run('INSERT INTO t (v) VALUES (zeroblob(5000))')
    other.close()
    expect(await codeOf(it.shipper.sync())).toBe('STORE_UNREACHABLE')
    failing({ status: 500, afterwards: true })
    await until('the object', () => it.numbers().length > 1, 5_000)
    mend()
    await until('the store to be back', () => it.shipper.refusal() === null, 5_000)
    await it.shipper.sync()
    expect(it.deposed).toBe(0)
    expect(it.numbers()).toEqual([1, 2, 3])
    await expectStored()
  })

  test('nothing that the store lacks gets into the file, when it is closed neither', async () => {
    const before = readFileSync(it.file)
    failing({ status: 500 })
    await codeOf(write())
    await it.shipper.stop()
    it.db.close()
    expect(readFileSync(it.file).equals(before)).toBe(true)
    mend()
    await it.crash()
    expect(it.rows()).toEqual([])
    await write()
    await expectStored()
  })
})

describe('deposed', () => {
  test.each(['another machine', 'a start of its own with other bytes'])(
    'by %s it ships nothing more, and refuses all',
    async (who) => {
      const other = it.store()
      const writer = who === 'another machine' ? other.writer : 'w1'
      await other.create(logKey(2), new TextEncoder().encode('another object'), { epoch: 2 })
      const object = it.server.objects.get(logKey(2))
      if (object !== undefined) object.headers['x-amz-meta-svc-writer'] = writer
      const waiting = [codeOf(write()), codeOf(write()), codeOf(write())]
      await Bun.sleep(5)
      waiting.push(codeOf(write()))
      expect(await Promise.all(waiting)).toEqual(Array(4).fill('NOT_PRIMARY'))
      expect(await codeOf(write())).toBe('NOT_PRIMARY')
      expect(await codeOf(it.shipper.sync())).toBe('NOT_PRIMARY')
      expect(it.shipper.refusal()).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
      expect(it.deposed).toBe(1)
      const sent = puts()
      await Bun.sleep(1_200)
      expect(puts()).toBe(sent)
      expect(it.numbers()).toEqual([1, 2])
    },
  )
})

describe('the file of the database', () => {
  /** A large one, so that a checkpoint is due. */
  const fill = () =>
    inDurableTransaction(it.db, () => {
      for (let row = 0; row < 300; row += 1) it.insert(60_000)
    })

  test('gets what the store has, and the log begins anew', async () => {
    await fill()
    await until('a mark', () => it.marks.length > 0)
    await write()
    await fill()
    await until('another', () => it.marks.length > 1)
    await expectStored()
    const marked = it.marks.at(-1) ?? 0
    await it.crash()
    expect(it.rows().length).toBe(601)
    expect(marked).toBeGreaterThan(1)
  })

  test('is whole for a number, whatever is committed after it and lost', async () => {
    it.server.fault = ({ key }) => (key === logKey(3) ? { hang: 'before' } : undefined)
    it.server.delayMs = 50
    const filling = fill()
    it.db.sqlite.run('UPDATE t SET v = zeroblob(60000) WHERE id % 2 = 0')
    it.db.sqlite.run('DELETE FROM t WHERE id > 250')
    it.db.sqlite.run('VACUUM')
    await filling
    await until('a mark', () => it.marks.includes(2))
    await it.crash()
    mend()
    const ofLog = readFileSync(await it.restored(0))
    expect(it.numbers()).toEqual([1, 2])
    expect(it.rows().length).toBe(300)
    expect(it.bytes().subarray(0, ofLog.length).equals(ofLog)).toBe(true)
  })

  test('is whole after a stop', async () => {
    await write()
    await it.shipper.stop()
    expect(it.marks).toEqual([2])
    expect(it.rowsOf(it.file).length).toBe(1)
    it.db.close()
    await it.crash()
    await write()
    expect(it.numbers()).toEqual([1, 2, 3])
    await expectStored()
  })
})

describe('a machine that stood still', () => {
  const HOUR = 3_600_000
  let clock = Date.now()
  const isOfBases = ({ query }: StoreRequestSeen) => query.get('prefix')?.endsWith(BASE_FOLDER) === true
  const looks = () => it.server.requests.filter(isOfBases).length
  let before = 0
  beforeEach(async () => {
    await it.end()
    clock = Date.now()
    it = new Shipping({ now: () => clock })
    await it.shipper.sync()
    await write()
    before = looks()
  })

  /** Another that stood still may have created 2 again, just before. */
  test.each([
    ['', [1, 2]],
    [', though the one before is there again', [1]],
  ])(
    'acknowledges nothing under a number that another had, and that was removed as old%s',
    async (_, gone) => {
      clock += 2 * HOUR
      // Others went on from 2, made bases, and removed what these do not need.
      for (const number of gone) it.server.objects.delete(logKey(number))
      for (const number of [4, 6])
        it.server.objects.set(baseKey(number), { bytes: Buffer.from('a base'), headers: {} })
      expect(await codeOf(write())).toBe('NOT_PRIMARY')
      expect(it.deposed).toBe(1)
      expect(await codeOf(write())).toBe('NOT_PRIMARY')
    },
  )

  test.each([2 * HOUR, -2 * HOUR])(
    'of which nobody took over goes on, after %d ms by its clock',
    async (ms) => {
      clock += ms
      expect(await codeOf(write())).toBe('done')
      expect([it.numbers(), looks()]).toEqual([[1, 2, 3], before + 1])
      // From now on nothing is asked again.
      expect(await codeOf(write())).toBe('done')
      expect(looks()).toBe(before + 1)
    },
  )

  test('is away where it cannot find out, and tries again', async () => {
    clock += 2 * HOUR
    it.server.fault = (request) => (isOfBases(request) ? { status: 500 } : undefined)
    expect(await codeOf(write())).toBe('STORE_UNREACHABLE')
    mend()
    await until('it goes on', async () => (await codeOf(write())) === 'done')
    expect(it.deposed).toBe(0)
  })
})
