import { expect, test } from 'bun:test'
import { fileToken } from '../modules/files/tokens.ts'
import { contentsApp } from '../testing/contents-app.ts'
import { putFile } from '../testing/put-file.ts'
import { DOCS, seedDeployment } from '../testing/seed.ts'

/** contract 14.2: with an object store the bytes are there before the answer, and come from it. */

test.each([
  ['a small file', Buffer.from('a small file')],
  ['a large one', Buffer.alloc(3_000_000, 'a large file ')],
])('%s is in the object store, and served from it, also in part', async (_, bytes) => {
  const app = await contentsApp()
  try {
    const { projectId } = await seedDeployment(app, { ...DOCS, alias: 'production' })
    await putFile(app.ctx, projectId, 'in/a.txt', bytes)
    app.forget()
    const endsAt = app.ctx.now() + 60_000
    const token = fileToken(app.ctx, { projectId, path: 'in/a.txt', endsAt, filename: null })
    const get = (headers: Record<string, string> = {}) =>
      app.call('GET', `/_svc/files/a.txt?token=${token}`, {
        host: 'production--docs--acme.localhost',
        headers,
      })
    const part = await get({ range: 'bytes=2-6' })
    expect([part.status, await part.text()]).toEqual([206, bytes.subarray(2, 7).toString()])
    const whole = Buffer.from(await (await get()).arrayBuffer())
    expect(whole.equals(bytes)).toBe(true)
  } finally {
    app.close()
  }
})
