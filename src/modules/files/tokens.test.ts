import { expect, test } from 'bun:test'
import type { Context } from '../../context.ts'
import { createSecretBox } from '../../platform/secret-box.ts'
import { type FilesWorld, filesWorld } from './files.fixture.ts'
import { registerFile } from './service.ts'
import { fileToken, readFileToken, readUploadToken, refuseSpent, uploadToken } from './tokens.ts'

async function inWorld(work: (world: FilesWorld) => unknown): Promise<void> {
  const world = await filesWorld()
  try {
    await work(world)
  } finally {
    world.close()
  }
}

const upload = ({ app, projectId }: FilesWorld, path = 'a/ü.png') => ({
  projectId,
  path,
  endsAt: app.ctx.now() + 1000,
  maxBytes: 5,
  types: ['image/*'],
})

test('a token says what it allows, also when it has ended', () =>
  inWorld((world) => {
    const { ctx } = world.app
    const facts = upload(world)
    expect(readUploadToken(ctx, uploadToken(ctx, facts))).toEqual({ ...facts, issuedAt: ctx.now() })
    const { projectId, path, endsAt } = facts
    const read = { projectId, path, endsAt: endsAt - 5000, filename: 'ü "x".png' }
    expect(readFileToken(ctx, fileToken(ctx, read))).toEqual(read)
  }))

test('with any byte changed, cut or added it is none of ours, and none is for the other purpose', () =>
  inWorld((world) => {
    const { ctx } = world.app
    const facts = upload(world)
    const token = uploadToken(ctx, facts)
    for (let at = 0; at < token.length; at++)
      for (const other of ['A', 'B', '.', '=', '-']) {
        const changed = token.slice(0, at) + other + token.slice(at + 1)
        if (changed !== token) expect(readUploadToken(ctx, changed)).toBeUndefined()
      }
    for (const other of ['', '.', token.slice(1), token.slice(0, -1), `${token}A`, `${token}.`, `${token}=`])
      expect(readUploadToken(ctx, other)).toBeUndefined()
    expect(readFileToken(ctx, token)).toBeUndefined()
    expect(readUploadToken(ctx, fileToken(ctx, { ...facts, filename: null }))).toBeUndefined()
  }))

test('rotating the secret ends it, although values sealed before still open', () =>
  inWorld((world) => {
    const { ctx } = world.app
    const [older, newer] = [7, 8].map((byte) => Buffer.alloc(32, byte).toString('base64')) as [string, string]
    const before: Context = { ...ctx, secrets: createSecretBox([older]) }
    const after: Context = { ...ctx, secrets: createSecretBox([newer, older]) }
    const token = uploadToken(before, upload(world))
    expect(readUploadToken(before, token)).toBeDefined()
    expect(readUploadToken(after, token)).toBeUndefined()
  }))

test('a record of the path spends what was issued before, also with a clock that is set back', () =>
  inWorld(async (world) => {
    const { ctx } = world.app
    const issue = () => {
      const facts = readUploadToken(ctx, uploadToken(ctx, upload(world)))
      if (facts === undefined) throw new Error('The token is ours')
      return facts
    }
    const first = issue()
    expect(() => refuseSpent(ctx, first)).not.toThrow()
    const file = await world.put('a/ü.png', 'x')
    registerFile(ctx, file, () => null)
    expect(() => refuseSpent(ctx, first)).toThrow(expect.objectContaining({ code: 'UPLOAD_URL_SPENT' }))
    world.app.advance(-3_600_000)
    const second = issue()
    expect(() => refuseSpent(ctx, second)).not.toThrow()
    registerFile(ctx, file, () => null)
    expect(() => refuseSpent(ctx, second)).toThrow(expect.objectContaining({ code: 'UPLOAD_URL_SPENT' }))
  }))
