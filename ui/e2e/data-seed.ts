import type { Appliance } from './appliance.ts'

/** Creates a schema with all field types and records. Returns the paths of their pages, below the project's. */
export async function seedData(appliance: Appliance, projectId: string): Promise<string[]> {
  const make = async (path: string, json: unknown) => (await appliance.asAdmin('POST', path, json)).json()
  const fields = [
    { name: 'email', type: 'email', required: true, unique: true },
    ...['text', 'integer', 'number', 'boolean', 'date', 'datetime', 'json'].map((type) => ({
      name: type,
      type,
    })),
  ]
  const { id } = await make('/api/schemas', { projectId, name: 'messages', fields })
  const { id: bare } = await make('/api/schemas', { projectId, name: 'bare', fields: [] })
  const record = await make(`/api/schemas/${id}/records`, {
    ...{
      email: 'ann@example.com',
      text: 'A long way up. '.repeat(60),
      integer: 3,
      number: 1.5,
      boolean: true,
    },
    ...{ date: '2026-12-24', datetime: '2026-12-24T12:00:00Z', json: { a: [1] } },
  })
  await make(`/api/schemas/${id}/records`, { email: 'ben@example.com' })
  const filter = 'filter%5Binteger%5D%5Bgte%5D=2&sort=integer&order=asc'
  return [
    ...['', '/new', `/${id}`, `/${id}?${filter}`, `/${id}?filter%5Binteger%5D=9`, `/${id}?sort=none`],
    ...[`/${id}/new`, `/${id}/schema`, `/${id}/${record.id}`, `/${bare}`],
  ].map((rest) => `/data${rest}`)
}
