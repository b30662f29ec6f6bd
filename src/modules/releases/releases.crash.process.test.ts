import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishTar, shaOf } from '../../testing/publish-tar.ts'
import { rounds } from '../../testing/rounds.ts'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../../testing/server-process.ts'

/** The real program is killed while it checks releases. contract 13 §8. */
const work = mkdtempSync(join(tmpdir(), 'svc-work-'))
afterAll(() => rmSync(work, { recursive: true }))

const PAGES = 20
/** Read by each check, so that the checks take their time. */
const LONG = `${'x'.repeat(1_000_000)}the end`
const checks = Array.from({ length: 48 }, () => '  - { path: /long.html, contains: the end }')

/** Every page names the commit. What fails its checks lacks the last page. */
function filesOf(sha: string, isGood: boolean): Record<string, string> {
  const pages = Array.from({ length: PAGES }, (_, i) => [`p${i}.html`, `${sha} ${i}`])
  return {
    'index.html': sha,
    '404.html': 'nothing',
    'long.html': LONG,
    '.svc/checks.yaml': `checks:\n${checks.join('\n')}\n  - { path: /good.html, contains: ${sha} }\n`,
    ...Object.fromEntries(pages),
    ...(isGood ? { 'good.html': sha } : {}),
  }
}

async function shown(server: ServerProcess): Promise<string> {
  const read = async (path: string) => {
    const answer = await fetch(`${server.url}${path}`, { headers: { host: 'live--crash--acme.localhost' } })
    return `${answer.status} ${await answer.text()}`
  }
  const [status, sha = ''] = (await read('/')).split(' ')
  expect([status, await read('/good.html')]).toEqual(['200', `200 ${sha}`])
  for (let i = 0; i < PAGES; i += 1) expect(await read(`/p${i}.html`)).toBe(`200 ${sha} ${i}`)
  return sha
}

test('kill -9 at every step of a checked upload: the alias shows one whole deployment that passed', async () => {
  const crash = makeDataDir()
  const env = { RATE_LIMIT_API: '0', RATE_LIMIT_UPLOAD: '0' }
  const admin = { ADMIN_EMAIL: 'root@example.com', ADMIN_PASSWORD: 'correct horse battery' }
  let running = await startServer(crash.path, { ...env, ...admin })
  const key = (await runSvc(['key', 'create', 'test', '--data-dir', crash.path])).stdout.trim()
  const publish = (sha: string, isGood: boolean): Promise<boolean> =>
    publishTar(work, running, key, 'crash', sha, filesOf(sha, isGood))
  expect(await publish(shaOf(1), true)).toBe(true)
  let live = await shown(running)
  const took = { ms: 0 }
  for (let round = 0; round < rounds(6, 60); round += 1) {
    const [good, bad] = [shaOf(round * 2 + 2), shaOf(round * 2 + 3)]
    const begun = performance.now()
    const publishing = [publish(good, true), publish(bad, false)]
    // Through the whole of an upload, step by step.
    if (round === 0) await Promise.all(publishing)
    else await Bun.sleep((took.ms * ((round * 7) % 20)) / 20)
    if (round === 0) took.ms = performance.now() - begun
    running.signal('SIGKILL')
    const [isAcknowledged] = await Promise.all(publishing)
    await running.exited
    running = await startServer(crash.path, env)
    const now = await shown(running)
    expect([live, good]).toContain(now)
    if (isAcknowledged) expect(now).toBe(good)
    expect([await publish(good, true), await publish(bad, false)]).toEqual([true, true])
    live = await shown(running)
    expect(live).toBe(good)
  }
  running.signal('SIGTERM')
  expect(await running.exited).toBe(0)
  expect(await runSvc(['check', '--data-dir', crash.path])).toMatchObject({ code: 0 })
  crash.remove()
}, 3_600_000)
