import { expect, test } from 'bun:test'
import { createRouteTable } from './route-table.ts'

const table = createRouteTable([
  { method: 'GET', path: '/api/projects' },
  { method: 'POST', path: '/api/projects/' },
  { method: 'GET', path: '/api/projects/:id' },
  { method: 'PUT', path: '/api/projects/:id/reorder' },
  { method: 'GET', path: '/api/projects/fixed' },
  { method: 'GET', path: '/api/docs/*' },
])

const rows: [path: string, methods: string[]][] = [
  ['/api/projects', ['GET', 'POST']],
  ['/api/projects/', ['GET', 'POST']],
  ['/api/projects/7', ['GET']],
  ['/api/projects/fixed', ['GET']],
  ['/api/projects/7/reorder', ['PUT']],
  ['/api/projects/7/other', []],
  ['/api/docs/a/b', ['GET']],
  ['/api/docs', ['GET']],
  ['/api', []],
  ['/api//projects', []],
  ['/api/projects//', []],
  ['/api/projects//reorder', []],
  ['/', []],
]

test.each(rows)('%s takes %p', (path, methods) => {
  expect(table.methodsOf(path)).toEqual(methods)
})
