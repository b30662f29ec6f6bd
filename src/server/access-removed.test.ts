import { afterAll, beforeAll, expect, test } from 'bun:test'
import { operatorGrant } from '../modules/auth/authorize.ts'
import { deleteProject, removeDeletedProjects } from '../modules/projects/service.ts'
import { requestOf } from '../testing/access-request.ts'
import { ACCESS_TABLE, type Content } from '../testing/access-table.ts'
import { type ActorName, createWorld, type HostName, type World } from '../testing/access-world.ts'

/**
 * Deletes `acme/other` and crashes after the first commit, so that nearly all of its rows are still there. Every route
 * with its ids, and every list, must then answer as it does once they are gone.
 */

const CALLERS: [actor: ActorName, host: HostName][] = [
  ['global admin', 'admin'],
  ['global key', 'admin'],
  ["other project's key", 'admin'],
  ['owner', 'admin'],
  ['anonymous', 'admin'],
  ['global admin', 'other'],
  ['anonymous', 'other'],
]

/** What each answer makes anew, and what others do to the disk meanwhile. */
const NEW =
  /[0-9a-f]{8}-[0-9a-f-]{27}|svc_[\w-]+|whsec_[\w+/=]+|token=[\w-]+|"uptime":[\d.]+|"freeBytes":\d+|"name":"disk"[^}]*/g
const TICKET = /(?<=\/_svc\/picture\/)[\w-]+/g
/** Their good answers are never the same twice: drawn secrets, and counts of this test's own requests. */
const NEVER_THE_SAME = [
  'POST /api/auth/device/code',
  'POST /api/account/mfa/totp',
  'GET /api/logs',
  'GET /api/analytics',
]

type Case = { route: string; content: Content }
const CASES: Case[] = [
  ...ACCESS_TABLE.map(([route, , content = {}]) => ({ route, content })),
  { route: 'GET /', content: {} },
  { route: 'GET /public/:owner/:repo/production/', content: {} },
]

let world: World
const during = new Map<Case, string[]>()
const deployments = () => world.app.ctx.db.sqlite.query('SELECT id FROM deployments').all().length

beforeAll(async () => {
  world = await createWorld()
  world.set({ isPublic: true, isGated: false })
  const { ctx } = world.app
  ctx.db.sqlite.run(
    "CREATE TRIGGER crash BEFORE DELETE ON pipeline_runs BEGIN SELECT RAISE(ABORT, 'crash'); END",
  )
  await deleteProject(ctx, operatorGrant(world.foreignIds['projectId']))
  expect(deployments()).toBe(2)
  for (const each of CASES) during.set(each, await answersTo(each))
  ctx.db.sqlite.run('DROP TRIGGER crash')
  await removeDeletedProjects(ctx)
  expect(deployments()).toBe(1)
})
afterAll(() => world.close())

async function answersTo({ route, content }: Case): Promise<string[]> {
  const answers: string[] = []
  for (const [actor, host] of CALLERS) {
    const request = requestOf(route, { ...world.ids, ...world.foreignIds }, content)
    const answer = await world.call(actor, host, request)
    const text = NEVER_THE_SAME.includes(route) && answer.ok ? '' : await textOf(answer)
    answers.push(`${actor}, ${host} host: ${answer.status} ${text}`)
  }
  return answers
}

/** A stream of events does not end. */
async function textOf(answer: Response): Promise<string> {
  if (answer.headers.get('content-type')?.startsWith('text/event-stream') !== true)
    return (await answer.text()).replaceAll(NEW, '…').replaceAll(TICKET, '…')
  await answer.body?.cancel()
  return 'events'
}

test.each(CASES)('$route', async (each) => {
  expect(during.get(each)).toEqual(await answersTo(each))
})
