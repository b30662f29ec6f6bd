import { expect, test } from 'bun:test'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import {
  ADMIN,
  type Call,
  CHANGES,
  callAs,
  createUndoWorld,
  snapshot,
  type UndoWorld,
  undo,
} from './undo.fixture.ts'

const random = seededRandom(seedOf('undo'))
const one = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T

/** Others of the same things, so that changes meet. */
const MORE: readonly Call[] = [
  ['PATCH', '/api/aliases/{alias}', { deploymentId: '{first}' }],
  ['PATCH', '/api/aliases/{alias}', { isSpa: true }],
  ['PATCH', '/api/projects/{project}', { displayName: 'Third' }],
  ['PATCH', '/api/proxy-rules/{rule}', { isEnabled: false }],
  ['PATCH', '/api/proxy-rules/{rule2}', { timeout: 7000, description: 'x' }],
  ['PUT', '/api/projects/{project}/quota', { files: 700, bytes: 9_000_000 }],
  ['POST', '/api/projects/{project}/permissions/users', { userId: '{person}', role: 'viewer' }],
  ['DELETE', '/api/projects/{project}/members/{person}'],
  ['DELETE', '/api/domains/{domain}/traffic'],
  ['PATCH', '/api/groups/{group}', { description: 'Others' }],
]
const CALLS: readonly Call[] = [...CHANGES.map(([, ...call]) => call as Call), ...MORE]

/** Changes that were made and not undone, the newest last, with everything as it was before each. */
type Made = { entry: string; before: ReturnType<typeof snapshot> }

async function live(world: UndoWorld, steps: number): Promise<void> {
  const made: Made[] = []
  for (let step = 0; step < steps; step += 1) {
    const before = snapshot(world)
    if (made.length === 0 || random() < 0.55) {
      const answer = await callAs(world, ADMIN, one(CALLS))
      expect(answer.status).toBeLessThan(500)
      const entry = answer.headers.get('x-svc-change')
      if (entry !== null) made.push({ entry, before })
    } else if (random() < 0.6) await undoNewest(world, made)
    else await undoAny(world, made)
  }
  while (made.length > 0) await undoNewest(world, made)
}

/** Nothing came after it, so that it goes back to exactly what was. */
async function undoNewest(world: UndoWorld, made: Made[]): Promise<void> {
  const { entry, before } = made.pop() as Made
  expect(await undo(world, entry)).toMatchObject({ status: 200 })
  expect(snapshot(world)).toEqual(before)
}

/** Refused, and nothing has changed; or undone, and undoing that gives back what was. */
async function undoAny(world: UndoWorld, made: Made[]): Promise<void> {
  const now = snapshot(world)
  const undone = await undo(world, one(made).entry)
  expect(undone.status).toBeOneOf([200, 400, 409])
  if (undone.status === 200) expect((await undo(world, undone.entry)).status).toBe(200)
  expect(snapshot(world)).toEqual(now)
  // What was undone and made again is undone by its last entry, which the changes before it do not know.
  if (undone.status === 200) made.length = 0
}

test('changes and undos at random go back to what was', async () => {
  const world = await createUndoWorld()
  try {
    for (let round = 0; round < rounds(2, 60); round += 1) await live(world, 30)
  } finally {
    world.close()
  }
}, 600_000)
