import { expect, test } from 'bun:test'
import { explainerOf } from '../../src/server/endpoints.ts'
import { testApp } from '../../src/testing/test-app.ts'
import { pageRoutes } from '../../ui/pages-app.ts'
import type { Team } from './team.ts'
import { PAGES_OF_VISITORS, pagesOfMany, pagesOfProject, pagesOfWorkspace } from './typical.ts'

/** Answers of pages to their own scripts, what only leads on, and set-up, which is over once there is a team. */
const NO_PAGES = [
  ...['/robots.txt', '/docs/search.json', '/commands.json', '/projects/:id/publish/paths'],
  ...['/_svc/clear-cookies', '/projects', '/setup'],
]

const parts = (path: string) => path.split('/')
const isParameter = (part: string) => part.startsWith(':') || part === '*'
const isMeant = (route: string) => (path: string) =>
  parts(route).length === parts(path).length &&
  parts(route).every((part, at) => isParameter(part) || part === parts(path)[at])

/** As the router chooses: the one with the fewest parameters. */
const routeOf = (routes: readonly string[], path: string): string | undefined =>
  routes
    .filter((route) => isMeant(route)(path))
    .sort((a, b) => parts(a).filter(isParameter).length - parts(b).filter(isParameter).length)[0]

test('every page of the admin is among the pictures', async () => {
  const app = await testApp()
  const routes = pageRoutes(
    app.ctx,
    explainerOf(app.ctx, () => false),
  ).routes.flatMap(({ method, path }) => (method === 'GET' ? [path === '' ? '/' : path] : []))
  app.close()
  const ids = new Proxy({} as Team, { get: (_, name) => String(name) })
  const shots = [...pagesOfProject(ids), ...pagesOfWorkspace(ids), ...pagesOfMany(ids), ...PAGES_OF_VISITORS]
  const shown = new Set(shots.map(([, path]) => routeOf(routes, path.replace(/\?.*/, ''))))
  expect(routes.filter((route) => !shown.has(route)).sort()).toEqual([...NO_PAGES].sort())
  expect(new Set(shots.map(([name]) => name)).size).toBe(shots.length)
})
