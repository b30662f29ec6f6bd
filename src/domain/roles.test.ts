import { expect, test } from 'bun:test'
import {
  hasAtLeast,
  highestRole,
  isProjectRole,
  lowerRole,
  PROJECT_ROLES,
  type ProjectRole,
  roleLevel,
} from './roles.ts'

test.each<[ProjectRole, number]>([
  ['owner', 4],
  ['admin', 3],
  ['contributor', 2],
  ['viewer', 1],
  ['guest', 0],
])('%s has level %p', (role, level) => {
  expect(roleLevel(role)).toBe(level)
})

const effective: [
  direct: ProjectRole | null,
  groups: (ProjectRole | null)[],
  expected: ProjectRole | null,
][] = [
  ['viewer', ['contributor'], 'contributor'],
  ['admin', ['viewer'], 'admin'],
  [null, ['contributor'], 'contributor'],
  ['contributor', [], 'contributor'],
  [null, [], null],
  [null, [null], null],
  ['guest', [], 'guest'],
  ['guest', ['viewer', 'admin', 'contributor'], 'admin'],
  ['owner', ['admin'], 'owner'],
]

test.each(effective)('direct %p and groups %j give %p', (direct, groups, expected) => {
  expect(highestRole([direct, ...groups])).toBe(expected)
})

test('each role includes the lower ones and no higher one', () => {
  for (const role of PROJECT_ROLES)
    for (const least of PROJECT_ROLES)
      expect(hasAtLeast(role, least)).toBe(roleLevel(role) >= roleLevel(least))
  expect(hasAtLeast(null, 'guest')).toBe(false)
})

test.each<[ProjectRole | null, ProjectRole, ProjectRole | null]>([
  ['owner', 'viewer', 'viewer'],
  ['viewer', 'viewer', 'viewer'],
  ['guest', 'viewer', 'guest'],
  [null, 'viewer', null],
])('%p capped at %s is %p', (role, max, expected) => {
  expect(lowerRole(role, max)).toBe(expected)
})

test.each<[unknown, boolean]>([
  ['owner', true],
  ['guest', true],
  ['admin', true],
  ['member', false],
  ['user', false],
  ['Owner', false],
  ['', false],
  [null, false],
  [3, false],
  ['constructor', false],
])('%p is a project role: %p', (value, expected) => {
  expect(isProjectRole(value)).toBe(expected)
})
