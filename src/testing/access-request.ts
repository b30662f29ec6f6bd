import type { Content } from './access-table.ts'
import type { WorldRequest } from './access-world.ts'

export type Ids = Readonly<Record<string, string>>

/** The request of a row of the access table, with names replaced by the ids of existing things. */
export function requestOf(route: string, ids: Ids, content: Content = {}): WorldRequest {
  const [method = '', ...rest] = route.split(' ')
  const query = content.query === undefined ? '' : `?${fillText(content.query, ids)}`
  const isRead = method === 'GET'
  const json =
    isRead || content.body !== undefined
      ? undefined
      : JSON.parse(fillText(JSON.stringify(content.json ?? {}), ids))
  return {
    method,
    path: fillPath(rest.join(' '), ids) + query,
    headers: content.headers,
    ...(json === undefined ? { body: content.body?.() } : { json }),
  }
}

/** The names in a row's path, query and body. */
export const namesIn = (route: string, { query = '', json = {} }: Content = {}): string[] => [
  ...[...route.matchAll(PATH_NAME)].map(([, name]) => name ?? ''),
  ...[...`${query}${JSON.stringify(json)}`.matchAll(TEXT_NAME)].map(([, name]) => name ?? ''),
]

const PATH_NAME = /:([^/]+)/g
const TEXT_NAME = /\{([a-z][A-Za-z -]*)\}/g

const fillPath = (path: string, ids: Ids): string => path.replace(PATH_NAME, (_all, name) => thing(ids, name))
const fillText = (text: string, ids: Ids): string => text.replace(TEXT_NAME, (_all, name) => thing(ids, name))

function thing(ids: Ids, name: string): string {
  const id = ids[name]
  if (id === undefined) throw new Error(`The world has no ${name}`)
  return id
}
