import { expect, test } from 'bun:test'
import { STORE_KEYS, startObjectServer } from '../../testing/object-server.ts'
import { openObjectStore } from '../object-store.ts'
import { initStore } from './init.ts'

test('a prefix becomes a store once, and only an empty one does', async () => {
  const server = startObjectServer()
  const init = (prefix: string, id: string) => {
    const own = { bucket: 'bucket', prefix, endpoint: server.endpoint, timeoutMs: 1_000, writer: id }
    return initStore(openObjectStore({ ...STORE_KEYS, ...own, now: Date.now }), id, 0)
  }
  try {
    const both = await Promise.all([init('a/', 'one'), init('a/', 'two')])
    expect(both.filter((made) => 'id' in made)).toHaveLength(1)
    expect(await init('a/', 'three')).toEqual({ foundKey: 'svc.json' })
    expect(await init('', 'four')).toEqual({ foundKey: 'a/svc.json' })
    expect([...server.objects.keys()]).toEqual(['a/svc.json'])
  } finally {
    await server.stop()
  }
})
