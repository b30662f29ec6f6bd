import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type MailServer, mailServer } from '../../testing/mail-server.ts'
import { rounds } from '../../testing/rounds.ts'
import { makeDataDir, runSvc, startServer } from '../../testing/server-process.ts'
import { until } from '../../testing/until.ts'

/** The real program is killed while somebody invites, and started again. */
const ADMIN = { email: 'root@example.com', password: 'correct horse battery' }
let smtp: MailServer
beforeAll(async () => {
  smtp = await mailServer()
})
afterAll(() => smtp.close())

const post = (url: string, json: unknown, cookie = ''): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(cookie && { cookie }) },
    body: JSON.stringify(json),
  })

async function signIn(url: string): Promise<string> {
  const answer = await post(`${url}/api/auth/signin`, ADMIN)
  return answer.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ')
}

test('kill -9 at any moment: every acknowledged invitation is mailed, with the link of its answer', async () => {
  const crash = makeDataDir()
  const env = { SMTP_URL: smtp.url, WEBHOOK_RETRY_SECONDS: '0,0,0,0' }
  const first = { ...env, ADMIN_EMAIL: ADMIN.email, ADMIN_PASSWORD: ADMIN.password }
  let running = await startServer(crash.path, first)
  const cookie = await signIn(running.url)
  const links = new Map<string, string>()
  for (let round = 0; round < rounds(3, 20); round++) {
    const invitations = Array.from({ length: 4 }, async (_, i) => {
      const email = `person-${round}-${i}@example.com`
      const answer = await post(`${running.url}/api/users`, { email }, cookie).catch(() => undefined)
      const body = (await answer?.json().catch(() => undefined)) as Record<string, string> | undefined
      if (body?.['mail'] === 'queued') links.set(email, String(body['inviteUrl']))
    })
    if (round % 2 === 0) await Promise.race(invitations)
    else await Bun.sleep((round * 37) % 100)
    running.signal('SIGKILL')
    await Promise.all([running.exited, ...invitations])
    running = await startServer(crash.path, env)
  }
  const arrived = () => new Map(smtp.mails.map(({ to, text }) => [String(to[0]), text]))
  await until('all acknowledged ones arrived', () => [...links.keys()].every((to) => arrived().has(to)))
  expect(links.size).toBeGreaterThan(0)
  const tokenOf = (link: string) => link.split('token=')[1] ?? link
  for (const [to, link] of links) expect(arrived().get(to)).toContain(tokenOf(link))
  running.signal('SIGTERM')
  expect(await running.exited).toBe(0)
  expect(await runSvc(['check', '--data-dir', crash.path])).toMatchObject({ code: 0 })
  crash.remove()
}, 3_600_000)

test('a mail server that hangs does not keep the server from stopping, and the mail is sent after the next start', async () => {
  const crash = makeDataDir()
  let isHanging = true
  const hanging = await mailServer({ ofMail: () => (isHanging ? new Promise(() => {}) : undefined) })
  const env = { SMTP_URL: hanging.url, ADMIN_EMAIL: ADMIN.email, ADMIN_PASSWORD: ADMIN.password }
  let running = await startServer(crash.path, env)
  const made = await post(`${running.url}/api/users`, { email: 'ann@example.com' }, await signIn(running.url))
  expect(made.status).toBe(201)
  running.signal('SIGTERM')
  expect(await running.exited).toBe(0)
  expect(hanging.mails).toEqual([])
  isHanging = false
  running = await startServer(crash.path, env)
  expect((await hanging.next()).to).toEqual(['ann@example.com'])
  running.signal('SIGTERM')
  expect(await running.exited).toBe(0)
  await hanging.close()
  crash.remove()
}, 3_600_000)
