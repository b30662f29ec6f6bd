import { expect, test } from 'bun:test'
import { until } from '../../testing/until.ts'
import { createLog } from '../log.ts'
import { Sender } from './sender.ts'
import { Waker } from './waker.ts'

/** contract 18 §4: nothing leaves because of a write before the object store has it. */

const log = createLog({ level: 'silent', format: 'json', now: () => 0, write: () => {} })

function outbox(shipped: () => Promise<void>) {
  const waiting = new Set(['one'])
  const sent: string[] = []
  const sender = new Sender<{ id: string }>({
    name: 'test',
    now: () => 0,
    log,
    waker: new Waker(),
    shipped,
    listDue: (apart) => [...waiting].filter((id) => !apart.includes(id)).map((id) => ({ id })),
    nextDueAt: () => null,
    receiverOf: () => 'receiver',
    async attempt({ id }) {
      sent.push(id)
      return () => void waiting.delete(id)
    },
  })
  return { sender, sent }
}

test('what is due is sent once the store has it', async () => {
  const store = Promise.withResolvers<void>()
  const { sender, sent } = outbox(() => store.promise)
  const done = sender.sendDue()
  await Bun.sleep(20)
  expect(sent).toEqual([])
  store.resolve()
  await done
  expect(sent).toEqual(['one'])
})

test('while the store is away it waits, and it is sent once the store is back', async () => {
  let tries = 0
  const { sender, sent } = outbox(async () => {
    tries += 1
    if (tries === 1) throw new Error('the store is away')
  })
  await sender.sendDue()
  expect([tries, sent]).toEqual([2, ['one']])
})

test('a stop does not wait for the store, and nothing is sent', async () => {
  let tries = 0
  const { sender, sent } = outbox(async () => {
    tries += 1
    throw new Error('the store is away')
  })
  const stop = sender.start()
  await until('it was asked', () => tries > 0)
  await stop()
  expect(sent).toEqual([])
})
