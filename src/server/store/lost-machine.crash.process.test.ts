import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishTar, shaOf, type TarFiles } from '../../testing/publish-tar.ts'
import { rounds } from '../../testing/rounds.ts'
import type { ServerProcess } from '../../testing/server-process.ts'
import { newKey, type StoreProcess, storeProcess } from '../../testing/store-process.ts'
import { until } from '../../testing/until.ts'

/** contract 18 §4: what was acknowledged is in the store, whatever becomes of the machine and its disk. */

const work = mkdtempSync(join(tmpdir(), 'svc-work-'))
afterAll(() => rmSync(work, { recursive: true }))

let at: StoreProcess
let running: ServerProcess
let key: string
beforeEach(async () => {
  at = await storeProcess()
  running = await at.start()
  key = await newKey(at)
})
afterEach(async () => {
  running.signal('SIGKILL')
  await running.exited
  await at.remove()
})

const filesOf = (name: string): TarFiles =>
  Object.fromEntries(
    Array.from({ length: 6 }, (_, n) => [`f${n}.txt`, `${name} ${n} ${'x'.repeat(n * 900)}`]),
  )

const publish = (i: number, files: TarFiles) => publishTar(work, running, key, `r${i % 3}`, shaOf(i), files)

async function textOf(i: number, path: string): Promise<string> {
  const answer = await fetch(`${running.url}/repo/acme/r${i % 3}/${shaOf(i)}/${path}`, {
    headers: { 'x-api-key': key },
  })
  return answer.text()
}

test('kill -9 and a lost disk at any moment: what was acknowledged is there, byte for byte', async () => {
  const acknowledged = new Map<number, TarFiles>()
  for (let round = 0; round < rounds(3, 20); round++) {
    const uploads = [0, 1, 2].map(async (n) => {
      const i = round * 10 + n
      const files = filesOf(`round ${round} upload ${n}`)
      if (await publish(i, files)) acknowledged.set(i, files)
    })
    if (round % 3 === 2) await Promise.all(uploads)
    else await Promise.race([Bun.sleep(60 + ((round * 97) % 400)), Promise.all(uploads)])
    if (round % 2 === 0) await at.lose(running)
    else running.signal('SIGKILL')
    await Promise.all([running.exited, ...uploads])
    running = await at.start()
    for (const [i, files] of acknowledged)
      for (const [path, content] of Object.entries(files)) expect(await textOf(i, path)).toBe(content)
  }
  expect(acknowledged.size).toBeGreaterThan(0)
}, 600_000)

/** Publishes while the store takes nothing of the log, and loses the machine. Whether it was acknowledged, and is there. */
async function publishedInVain(): Promise<{ isAcknowledged: boolean; isThere: boolean }> {
  const isOfLog = (method: string, of: string) => method === 'PUT' && of.includes('/db/0000/')
  let tried = 0
  at.store.fault = ({ method, key: of }) => {
    if (!isOfLog(method, of)) return undefined
    tried += 1
    return { hang: 'before' }
  }
  const published = publish(1, filesOf('vain'))
  await until('the log is sent, or the answer is there', async () =>
    tried > 0 ? Promise.race([published.then(() => true), Bun.sleep(500).then(() => true)]) : false,
  )
  const isAcknowledged = await Promise.race([published, Bun.sleep(300).then(() => false)])
  await at.lose(running)
  await published
  at.store.fault = () => undefined
  running = await at.start()
  return { isAcknowledged, isThere: (await textOf(1, 'f1.txt')) === filesOf('vain')['f1.txt'] }
}

test('what the store does not have is not acknowledged', async () => {
  expect(await publishedInVain()).toEqual({ isAcknowledged: false, isThere: false })
}, 100_000)

test('without the gate it would be acknowledged, and lost', async () => {
  running.signal('SIGTERM')
  await running.exited
  running = await at.start({
    BUN_OPTIONS: `--preload=${join(import.meta.dir, '../../testing/without-gate.child.ts')}`,
  })
  expect(await publishedInVain()).toEqual({ isAcknowledged: true, isThere: false })
}, 100_000)
