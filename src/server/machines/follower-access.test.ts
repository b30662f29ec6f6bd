import { afterAll, beforeAll, expect, test } from 'bun:test'
import { requestOf } from '../../testing/access-request.ts'
import { ACCESS_TABLE } from '../../testing/access-table.ts'
import {
  ACTOR_NAMES,
  ACTORS,
  createWorld,
  HOSTS,
  WORLD_ENV,
  type World,
  type WorldRequest,
} from '../../testing/access-world.ts'
import { type MachinePair, machinePair } from '../../testing/machine-pair.ts'
import { rounds } from '../../testing/rounds.ts'

/**
 * contract 18 §6: a machine that follows answers every caller as the primary does, or passes them on. Each row of the access
 * table, and files, asked of both: fresh, 4 s and 6 s without the store.
 */

let pair: MachinePair
let here: World
/** The same callers of the same things, asked of the follower. */
let there: World['call']
let asksFollower = false
beforeAll(async () => {
  pair = await machinePair(WORLD_ENV)
  const call: MachinePair['call'] = (...asked) =>
    asksFollower ? pair.call(...asked) : pair.primary.call(...asked)
  here = await createWorld({ app: pair.primary, call })
  there = async (...asked) => {
    asksFollower = true
    try {
      return await here.call(...asked)
    } finally {
      asksFollower = false
    }
  }
})
afterAll(() => pair.close())

const STATES = [true, false].flatMap((isPublic) => [false, true].map((isGated) => ({ isPublic, isGated })))
const SILENCES = [0, 4_000, 6_000]

/** What differs between two answers to the same request anyway: ids, times, tokens. */
async function told(answer: Response): Promise<string> {
  const { status, headers, body } = answer
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true
  if (isStream) void body?.cancel()
  const text = isStream ? '' : await answer.text()
  const { error = '', message = '' } = text.startsWith('{') ? JSON.parse(text) : {}
  return `${status} ${headers.get('content-type')} ${headers.get('location')} ${error} ${message}`
}

// Which machine is the primary each says of itself.
const rows = ACCESS_TABLE.filter(([route]) => route !== 'GET /api/health/primary').map(
  ([route, who, content], n) => ({ route, who, content, n }),
)
test.each(rows)(
  '$route: $who',
  async ({ route, content, n }) => {
    const wrong: string[] = []
    const cases = STATES.flatMap((state) => HOSTS.map((host) => ({ state, host })))
    // All of them in the long run.
    const mine = cases.filter((_, i) => rounds((i + n) % cases.length, 0) === 0)
    for (const { state, host } of mine) {
      here.set(state)
      for (const name of ACTOR_NAMES.filter((_, i) => rounds((i + n) % 3, 0) === 0)) {
        const request = requestOf(route, here.ids, content)
        const primary = await told(await here.call(name, host, request))
        const again = requestOf(route, here.ids, content)
        const follower = await told(await there(name, host, again))
        if (follower !== primary) wrong.push(`${name}, ${host}: ${follower}, not ${primary}`)
      }
    }
    expect(wrong).toEqual([])
  },
  60_000,
)

const FILES = [
  ['own', '/index.html'],
  ['own', '/missing'],
  ['aaaaaaaaaaaa--docs--acme.localhost', '/index.html'],
  ['mapped-docs.localhost', '/'],
  ['other', '/index.html'],
  ['never--docs--acme.localhost', '/index.html'],
  ['admin', '/repo/acme/docs/alias/production/index.html'],
  ['admin', '/repo/acme/never/alias/production/index.html'],
  ['admin', '/public/acme/docs/production/index.html'],
] as const

test.each(SILENCES)(
  'files, %d ms without the store',
  async (silentMs) => {
    pair.following.silentMs = silentMs
    const wrong: string[] = []
    for (const state of STATES) {
      here.set(state)
      for (const name of ACTOR_NAMES)
        for (const [host, path] of FILES)
          for (const headers of [
            { accept: 'text/html' },
            { 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate' },
          ]) {
            const request: WorldRequest = { method: 'GET', path, headers }
            const primary = await told(await here.call(name, host, request))
            const before = pair.forwarded.length
            const follower = await told(await there(name, host, request))
            const isForwarded = pair.forwarded.length > before
            const about = `${name}, ${path} at ${host}, ${JSON.stringify(state)}`
            if (follower !== primary) wrong.push(`${about}: ${follower}, not ${primary}`)
            if (mayBeHere(name, state.isPublic, { host, path }) !== !isForwarded && silentMs < 5_000)
              wrong.push(`${about}: ${isForwarded ? 'passed on' : 'answered here'}`)
            if (
              !isForwarded &&
              silentMs >= 5_000 &&
              !follower.startsWith('200') &&
              !follower.startsWith('30')
            )
              if (!state.isPublic) wrong.push(`${about}: decided here`)
          }
    }
    expect(wrong).toEqual([])
  },
  120_000,
)

/** Anonymous people and those of a session are known here; of keys and of svc login only the primary knows. */
const mayBeHere = (name: (typeof ACTOR_NAMES)[number], isPublic: boolean, { host, path }: Asked): boolean =>
  ACTORS[name].kind === 'anonymous' ||
  ACTORS[name].kind === 'person' ||
  (isPublic && !`${host}${path}`.includes('never'))

type Asked = { host: string; path: string }
