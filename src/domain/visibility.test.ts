import { expect, test } from 'bun:test'
import { resolveVisibility, type VisibilitySettings } from './visibility.ts'

const PROJECT = { isPublic: false, requiredRole: 'guest', isSpa: null } as const
const INHERIT: VisibilitySettings = { isPublic: null, requiredRole: null, isSpa: null }

test('the project decides if nothing else is set', () => {
  expect(resolveVisibility({ project: PROJECT })).toEqual({
    isPublic: false,
    requiredRole: 'guest',
    isSpa: null,
    setBy: { isPublic: 'project', requiredRole: 'project', isSpa: 'default' },
  })
})

test('null on domain and alias inherits', () => {
  const project = { isPublic: true, requiredRole: 'viewer', isSpa: false } as const
  expect(resolveVisibility({ domain: INHERIT, alias: INHERIT, project })).toEqual({
    ...project,
    setBy: { isPublic: 'project', requiredRole: 'project', isSpa: 'project' },
  })
  expect(resolveVisibility({ domain: null, alias: null, project })).toMatchObject(project)
})

test('the most specific level wins for each setting separately', () => {
  const domain: VisibilitySettings = { isPublic: true, requiredRole: null, isSpa: null }
  const alias: VisibilitySettings = { isPublic: false, requiredRole: 'admin', isSpa: null }
  const project = { isPublic: false, requiredRole: 'guest', isSpa: true } as const
  expect(resolveVisibility({ domain, alias, project })).toEqual({
    isPublic: true,
    requiredRole: 'admin',
    isSpa: true,
    setBy: { isPublic: 'domain', requiredRole: 'alias', isSpa: 'project' },
  })
})

const rows: [
  domain: boolean | null,
  alias: boolean | null,
  project: boolean,
  isPublic: boolean,
  by: string,
][] = [
  [null, null, true, true, 'project'],
  [null, null, false, false, 'project'],
  [null, false, true, false, 'alias'],
  [null, true, false, true, 'alias'],
  [false, null, true, false, 'domain'],
  [true, null, false, true, 'domain'],
  [false, true, true, false, 'domain'],
  [true, false, false, true, 'domain'],
]

test.each(rows)(
  'isPublic: domain %p, alias %p, project %p give %p by the %s',
  (domain, alias, project, value, by) => {
    const resolved = resolveVisibility({
      domain: { ...INHERIT, isPublic: domain },
      alias: { ...INHERIT, isPublic: alias },
      project: { ...PROJECT, isPublic: project },
    })
    expect<unknown>([resolved.isPublic, resolved.setBy.isPublic]).toEqual([value, by])
  },
)

test('a false isSpa of the domain overrides a true one below', () => {
  const resolved = resolveVisibility({
    domain: { ...INHERIT, isSpa: false },
    alias: { ...INHERIT, isSpa: true },
    project: { ...PROJECT, isSpa: true },
  })
  expect(resolved).toMatchObject({ isSpa: false, setBy: { isSpa: 'domain' } })
})
