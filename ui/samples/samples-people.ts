import { peoplePage } from '../people/people.ts'
import { personPage } from '../people/person.ts'
import { secretsPage } from '../projects/secrets.ts'
import { projectSettingsPage } from '../projects/settings.ts'
import { sample } from './sample.ts'
import { apiUrl, at, group, none, one, owner, settings, viewer, wrong } from './sample-data.ts'

const permissions = {
  users: [{ userId: 'u1', email: 'ada@example.com', role: 'owner' as const, isMember: true, grantedAt: at }],
  groups: [{ groupId: 'g1', name: 'Editors', role: 'contributor' as const, grantedAt: at }],
  me: { role: 'owner' as const },
}
const members = [
  { userId: 'u1', email: 'ada@example.com', role: 'owner' as const, isOwner: true, joinedAt: at },
  { userId: 'u2', email: 'grace@example.com', role: 'viewer' as const, isOwner: false, joinedAt: at },
]
const invitation = {
  id: 'i1',
  email: 'linus@example.com',
  role: 'viewer' as const,
  status: 'pending' as const,
  createdAt: at,
  expiresAt: at,
}
const person = {
  user: { id: 'u2', email: 'grace@example.com', role: 'member' as const },
  effectiveRole: 'viewer' as const,
  sources: [
    { kind: 'permission' as const, role: 'viewer' as const, grantedAt: at },
    { kind: 'group' as const, role: 'guest' as const, groupId: 'g1', name: 'Editors', grantedAt: at },
  ],
  membership: { isMember: true, joinedAt: at },
  settings: {
    requireProjectMembership: { value: false, source: 'default' },
    isPublic: false,
    requiredRole: 'guest' as const,
  },
  site: {
    passesGate: true,
    mayView: true,
    reason: 'The site is private: it needs guest, the visitor is viewer',
  },
  actions: [
    { action: 'project:read' as const, allowed: true, reason: 'The role viewer includes project:read' },
    {
      action: 'project:delete' as const,
      allowed: false,
      reason: 'This needs the role owner; you have viewer',
    },
  ],
}

export const peopleSamples = [
  sample('people', peoplePage, {
    ...owner,
    permissions,
    members,
    invitations: { data: [invitation], pagination: { ...one, pages: 2 } },
    page: 1,
    groups: [group],
  }),
  sample('people-viewer', peoplePage, {
    ...viewer,
    permissions,
    members,
    invitations: null,
    page: 1,
    groups: null,
  }),
  sample('people-invited', peoplePage, {
    ...owner,
    permissions,
    members,
    invitations: none,
    page: 1,
    groups: [],
    invited: {
      email: 'linus@example.com',
      role: 'viewer',
      url: `${apiUrl}/invite?token=tok-3`,
      mail: 'limited' as const,
    },
  }),
  sample('people-failed', peoplePage, {
    ...owner,
    permissions,
    members,
    invitations: none,
    page: 1,
    groups: null,
    failed: { intent: 'invite', error: wrong('email'), values: { email: 'x', role: 'admin' } },
  }),
  sample('person', personPage, { ...owner, person }),
  sample('project-settings', projectSettingsPage, { ...owner, settings }),
  sample('project-settings-failed', projectSettingsPage, {
    ...owner,
    settings: { ...settings, requireProjectMembership: { value: false, source: 'default' as const } },
    failed: { intent: 'transfer', error: wrong('confirm'), values: { email: 'x@example.com' } },
  }),
  sample('secrets', secretsPage, {
    ...owner,
    secrets: [
      { name: 'MAIL_API_KEY', usableBy: 'contributor' as const, updatedAt: at },
      { name: 'PAY_KEY', usableBy: 'admin' as const, updatedAt: at },
    ],
    disabled: [{ id: 'r1', pathPattern: '/api/pay', method: null }],
  }),
  sample('secrets-empty', secretsPage, {
    ...owner,
    secrets: [],
    failed: { intent: 'put', error: wrong('value'), values: { name: 'A', value: '' } },
  }),
]
