import { Database } from 'bun:sqlite'

/**
 * What a contact form costs where every request has a commit of its own: reads the form, checks it, inserts a row with
 * `synchronous=FULL`, answers JSON. It knows neither sites nor rules, so it is the better of its kind.
 * Usage: commit-each.ts PORT FILE
 */
const [port = '', file = ''] = process.argv.slice(2)
const db = new Database(file, { create: true, strict: true })
db.run('PRAGMA journal_mode = WAL')
db.run('PRAGMA synchronous = FULL')
db.run('CREATE TABLE records (id TEXT PRIMARY KEY, data TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT')
const insert = db.prepare('INSERT INTO records (id, data, created_at) VALUES (?, ?, ?)')

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(port),
  async fetch(request) {
    const form = new URLSearchParams(await request.text())
    const fields = { name: form.get('name'), email: form.get('email'), message: form.get('message') }
    if (!fields.name || !fields.message || !/^[^@\s]+@[^@\s]+$/.test(fields.email ?? ''))
      return Response.json({ message: 'name, email and message are required' }, { status: 400 })
    const id = Bun.randomUUIDv7()
    const createdAt = Date.now()
    insert.run(id, JSON.stringify(fields), createdAt)
    return Response.json({ id, ...fields, createdAt: new Date(createdAt).toISOString() }, { status: 201 })
  },
})
