import { expect, test } from 'bun:test'
import { crashWithHook } from '../../testing/crash-with-hook.ts'
import { publishTar, shaOf } from '../../testing/publish-tar.ts'
import { rounds } from '../../testing/rounds.ts'
import { runSvc, type ServerProcess } from '../../testing/server-process.ts'
import { until } from '../../testing/until.ts'

/** The real program is killed while previews are published and ended, with a hook that is told of both. contract 16 §2. */
const lab = crashWithHook()

const PAGES = 20
const filesOf = (sha: string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: PAGES }, (_, i) => [`p${i}.html`, `${sha} ${i}`]))

type Alias = { name: string; deploymentId: string; commitSha: string; url: string; projectId: string }

const call = (server: ServerProcess, key: string, method: string, path: string) =>
  fetch(`${server.url}${path}`, { method, headers: { 'x-api-key': key } })

async function aliasesOf(server: ServerProcess, key: string): Promise<Alias[]> {
  const answer = await call(server, key, 'GET', '/api/aliases?limit=100')
  return ((await answer.json()) as { data: Alias[] }).data
}

/** Every page of what the alias shows, as it was sent. */
async function expectWhole(server: ServerProcess, { commitSha, url, name }: Alias): Promise<void> {
  const { host } = new URL(url)
  for (let i = 0; i < PAGES; i += 1) {
    const page = await fetch(`${server.url}/p${i}.html`, { headers: { host } })
    expect([name, i, page.status, await page.text()]).toEqual([name, i, 200, `${commitSha} ${i}`])
  }
}

test('kill -9 while previews are published and ended: all that is there is whole, and what was acknowledged is there', async () => {
  const crash = await lab.start(['*'], { RATE_LIMIT_API: '0', RATE_LIMIT_UPLOAD: '0' })
  const { key } = crash
  let { running } = crash
  const ended = new Set<string>()
  expect(await publishTar(lab.work, running, key, 'crash', shaOf(1), filesOf(shaOf(1)))).toBe(true)
  const [live] = await aliasesOf(running, key)
  for (let round = 0; round < rounds(3, 20); round += 1) {
    const name = (i: number): string => `pr-${round}-${i}`
    const sha = (i: number): string => shaOf(round * 10 + 10 + i)
    const publish = (i: number, of = name(i)) =>
      publishTar(lab.work, running, key, 'crash', sha(i), filesOf(sha(i)), `preview=${of}`)
    expect(await Promise.all([publish(0), publish(1)])).toEqual([true, true])
    const kept = new Map([[name(1), sha(1)]])
    const { promise: first, resolve } = Promise.withResolvers<void>()
    const end = async (): Promise<void> => {
      const path = `/api/projects/${live?.projectId}/previews/${name(0)}`
      const answer = await call(running, key, 'DELETE', path).catch(() => undefined)
      if (answer?.status === 204) ended.add(name(0))
      resolve()
    }
    const again = async (i: number): Promise<void> => {
      if (await publish(i)) kept.set(name(i), sha(i))
    }
    const doing = [end(), again(2), again(3)]
    if (round % 3 === 0) await first
    else await Bun.sleep(((round * 37) % 100) + 1)
    running.signal('SIGKILL')
    await Promise.all([running.exited, ...doing])
    running = await crash.start()
    const aliases = await aliasesOf(running, key)
    for (const alias of aliases) await expectWhole(running, alias)
    for (const [preview, commitSha] of kept)
      expect(aliases.find((one) => one.name === preview)).toMatchObject({ commitSha })
    expect(aliases.filter((one) => ended.has(one.name))).toEqual([])
    expect(aliases.find((one) => one.name === 'live')).toMatchObject({ commitSha: shaOf(1) })
    for (const { name: old } of aliases.filter((one) => one.name !== 'live'))
      await call(running, key, 'DELETE', `/api/projects/${live?.projectId}/previews/${old}`)
  }
  const told = (name: string): boolean =>
    lab.receiver().received.some(({ body }) => {
      const { event, data }: { event: string; data: { name?: string } } = JSON.parse(body)
      return event === 'preview.ended' && data.name === name
    })
  await until('the ends that were acknowledged are told', () => [...ended].every(told))
  running.signal('SIGTERM')
  expect(await running.exited).toBe(0)
  expect(await runSvc(['check', '--data-dir', crash.dataDir])).toMatchObject({ code: 0 })
  crash.remove()
}, 3_600_000)
