import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { CHANGES, change, createUndoWorld, snapshot, type UndoWorld, undo } from './undo.fixture.ts'

/** Undo of each kind of change. contract 17.9. */
let world: UndoWorld
beforeAll(async () => {
  world = await createUndoWorld()
})
afterAll(() => world.close())

describe.each(CHANGES.map(([action, ...call]) => ({ action, call })))('$action', ({ action, call }) => {
  test('goes back, comes again, and goes back for good', async () => {
    const before = snapshot(world)
    const entry = await change(world, call)
    const after = snapshot(world)
    expect(after).not.toEqual(before)

    const undone = await undo(world, entry)
    expect(undone.body).toMatchObject({
      undone: entry,
      entry: { id: undone.entry, action: 'undo', undoOf: entry, undoneBy: null, canUndo: true },
    })
    expect(snapshot(world)).toEqual(before)
    expect((await undo(world, entry)).body).toMatchObject({ statusCode: 409, error: 'ALREADY_UNDONE' })

    const again = await undo(world, undone.entry)
    expect(again.status).toBe(200)
    expect(snapshot(world)).toEqual(after)

    expect((await undo(world, again.entry)).status).toBe(200)
    expect(snapshot(world)).toEqual(before)
    expect(rootAction(entry)).toBe(action)
  })
})

const rootAction = (entry: string): string | undefined =>
  world.app.ctx.db.sqlite
    .query<{ action: string }, [string]>('SELECT action FROM audit_log WHERE id = ?')
    .get(entry)?.action
