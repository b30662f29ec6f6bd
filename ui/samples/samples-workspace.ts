import type { UserOverview } from '../../src/modules/users/overview.ts'
import { projectAuditPage } from '../projects/audit.ts'
import { auditPage } from '../workspace/audit.ts'
import type { AuditList } from '../workspace/audit-list.ts'
import { groupPage, groupsPage } from '../workspace/groups.ts'
import { healthPage } from '../workspace/health.ts'
import { keysPage } from '../workspace/keys.ts'
import { userPage } from '../workspace/person.ts'
import { workspaceSettingsPage } from '../workspace/settings.ts'
import { usersPage } from '../workspace/users.ts'
import { sample } from './sample.ts'
import {
  admin,
  apiUrl,
  at,
  group,
  keys,
  none,
  one,
  owner,
  projects,
  settings,
  user,
  wrong,
} from './sample-data.ts'

const overview: UserOverview = {
  user: { ...user, role: 'admin' },
  suspendedReason: null,
  sessions: [
    {
      id: 's1',
      kind: 'browser',
      name: null,
      ip: '192.0.2.7',
      userAgent: 'Firefox/140 Linux',
      createdAt: at,
      lastSeenAt: at,
    },
    {
      id: 's2',
      kind: 'cli',
      name: 'laptop',
      ip: '192.0.2.8',
      userAgent: 'svc',
      createdAt: at,
      lastSeenAt: at,
    },
  ],
  secondStep: { totp: true, recoveryCodesLeft: 8, passkeys: 0 },
  groups: [{ id: 'g1', name: 'Editors' }],
  keys,
  projects: [
    {
      projectId: 'p1',
      owner: 'acme',
      name: 'website',
      displayName: 'Acme Website',
      role: 'owner',
      isMember: true,
      canSeeSite: true,
      why: [
        { kind: 'owner', name: null, role: 'owner' },
        { kind: 'group', name: 'Editors', role: 'contributor' },
        { kind: 'workspace', name: 'admin', role: 'owner' },
      ],
    },
    {
      projectId: 'p2',
      owner: 'acme',
      name: 'handbook',
      displayName: 'Employee handbook',
      role: null,
      isMember: true,
      canSeeSite: false,
      why: [],
    },
  ],
}

const changes: AuditList = {
  filters: { group: '', action: '', projectId: '', actorId: '', from: '', to: '' },
  actors: [{ id: 'u1', name: 'ada@example.com' }],
  found: {
    pagination: { ...one, pages: 2 },
    data: [
      {
        id: 'e1',
        at,
        actor: { kind: 'user', id: 'u1', name: 'ada@example.com' },
        credential: 'session',
        ip: '192.0.2.7',
        action: 'project.change',
        target: { kind: 'project', id: 'p1', name: 'acme/website' },
        projectId: 'p1',
        before: { isPublic: false, displayName: 'Old' },
        after: { isPublic: true, displayName: 'New' },
        sentence: 'ada@example.com changed the settings of acme/website',
        canUndo: true,
        undoneBy: null,
        undoOf: null,
      },
      {
        id: 'e2',
        at,
        actor: { kind: 'operator', id: null, name: null },
        credential: 'operator',
        ip: null,
        action: 'user.create',
        target: { kind: 'user', id: 'u2', name: 'grace@example.com' },
        projectId: null,
        before: null,
        after: { id: 'u2', email: 'grace@example.com', role: 'member', mfaEnabled: false, note: [1, 2] },
        sentence: 'The operator made the account grace@example.com',
        canUndo: false,
        undoneBy: null,
        undoOf: null,
      },
    ],
  },
}

export const workspaceSamples = [
  sample('users', usersPage, {
    user: admin,
    found: { data: [user], pagination: one },
    search: '',
    twins: [],
  }),
  sample('users-twins', usersPage, {
    user: admin,
    found: { data: [user], pagination: one },
    search: '',
    twins: [
      [
        { id: 'u3', email: 'ann@b\u00fccher.example', createdAt: at },
        { id: 'u4', email: 'ann@xn--bcher-kva.example', createdAt: at },
      ],
    ],
  }),
  sample('users-created', usersPage, {
    user: admin,
    found: { data: [user], pagination: one },
    search: 'g',
    twins: [],
    created: {
      email: 'grace@example.com',
      inviteUrl: `${apiUrl}/reset-password?token=tok-4`,
      mail: 'queued' as const,
    },
  }),
  sample('user', userPage, { user: admin, overview }),
  sample('user-suspended', userPage, {
    user: admin,
    overview: {
      ...overview,
      user: { ...user, suspendedAt: at, lastSeenAt: null },
      suspendedReason: 'Left the company',
      sessions: [],
      secondStep: { totp: false, recoveryCodesLeft: 0, passkeys: 0 },
    },
  }),
  sample('user-reset', userPage, {
    user: admin,
    overview: { ...overview, user, groups: [], keys: [], projects: [] },
    reset: { url: `${apiUrl}/reset-password?token=tok-5`, expiresAt: at },
    failed: { intent: 'delete', error: { message: 'Owns acme/website.' }, values: {} },
  }),
  sample('groups', groupsPage, { user: admin, found: { data: [group], pagination: one } }),
  sample('groups-empty', groupsPage, {
    user: admin,
    found: none,
    failed: { intent: 'create', error: wrong('name'), values: { name: '' } },
  }),
  sample('group', groupPage, {
    user: admin,
    group,
    members: {
      data: [{ userId: 'u2', email: 'grace@example.com', addedAt: at }],
      pagination: { ...one, pages: 2 },
    },
  }),
  sample('workspace-settings', workspaceSettingsPage, { user: admin, settings }),
  sample('audit', auditPage, {
    user: admin,
    projects: [{ id: 'p1', owner: 'acme', name: 'website' }],
    ...changes,
  }),
  sample('project-audit', projectAuditPage, { ...owner, ...changes }),
  sample('audit-refused', auditPage, {
    user: admin,
    filters: { group: 'keys', action: 'x', projectId: '', actorId: 'u1', from: 'never', to: '' },
    actors: [],
    projects: [],
    found: null,
    problem: 'from: A time in ISO 8601',
  }),
  sample('health', healthPage, {
    user: admin,
    adminUrl: apiUrl,
    certificate: {
      status: 'active' as const,
      expiresAt: Date.parse('2027-02-18T12:00:00.000Z'),
      error: null,
    },
    version: '1.2.3',
    uptime: 98_765.4,
    canMail: true,
    backups: { last: null, lastDrill: null },
    cdn: {
      kind: 'varnish' as const,
      pending: 3,
      failing: 1,
      lastPurge: { at, keys: ['p-1', 'a-1'], status: 200 },
    },
    checks: [
      { name: 'database' as const, status: 'ok' as const, message: 'It works', at, value: null },
      { name: 'storage' as const, status: 'error' as const, message: 'No space', at, value: null },
      { name: 'disk' as const, status: 'warn' as const, message: '7 % of the disk is free', at, value: 7 },
      { name: 'mail' as const, status: 'off' as const, message: 'No mail is sent', at: null, value: 0 },
    ],
  }),
  sample('keys', keysPage, {
    user: admin,
    found: { data: keys, pagination: { ...one, pages: 2 } },
    projects,
    suspended: keys,
  }),
  sample('keys-created', keysPage, {
    user: admin,
    found: { data: keys, pagination: one },
    projects,
    suspended: [],
    created: { name: 'Website CI', key: 'svc_9fK2mT0cQ4vZr8yLx1WbN6sJ3hDgPaEuRiYo5kXqB7V' },
  }),
  sample('keys-empty', keysPage, {
    user: admin,
    found: none,
    projects: [],
    suspended: [],
    failed: {
      intent: 'create-key',
      values: { name: '', scope: 'global', expiresInDays: '90' },
      error: wrong('name'),
    },
  }),
]
