import { type GlobalRole, hasAtLeast, lowerRole, type ProjectRole } from './roles.ts'

/** The lowest project role that may perform each action. spec: Permission matrix; contract §4. */
export const PROJECT_ACTIONS = {
  'site:view': 'guest',
  'project:see': 'guest',
  'project:read': 'viewer',
  'permission:read': 'viewer',
  /** What viewers read on the admin host alone. contract 17.13. */
  'admin:read': 'viewer',
  'deployment:create': 'contributor',
  'alias:write': 'contributor',
  'preview:end': 'contributor',
  'traffic:configure': 'contributor',
  'cdn:purge': 'contributor',
  'secret:names': 'contributor',
  'deployment:delete': 'admin',
  'alias:manage': 'admin',
  'domain:manage': 'admin',
  'settings:manage': 'admin',
  'permission:manage': 'admin',
  'invitation:manage': 'admin',
  'secret:manage': 'admin',
  'secret:read': 'admin',
  'analytics:read': 'admin',
  'audit:read': 'admin',
  'webhook:manage': 'admin',
  'retention:manage': 'admin',
  'project:delete': 'owner',
  'ownership:transfer': 'owner',
} as const satisfies Record<string, ProjectRole>

/** Actions that belong to no project, and who may perform them. spec: Global roles. */
export const WORKSPACE_ACTIONS = {
  /** Users, groups, settings, API keys, logs: signed-in global admins only. */
  'workspace:administer': 'admin',
  /** A suspended key becomes the caller's. */
  'api-key:take-over': 'admin',
  /** Creating a project: global admins and users, not members. */
  'project:create': 'user',
  /** The caller's own account. */
  'account:use': 'signed_in',
  /** Lists that contain only what the caller may see. */
  'project:list': 'any_credential',
  /** The same, on the admin host alone. */
  'admin:list': 'any_credential',
  /** What an invitation link leads to: the token in the path is the credential. */
  'invitation:see': 'anybody',
} as const

export type ProjectAction = keyof typeof PROJECT_ACTIONS
type WorkspaceAction = keyof typeof WORKSPACE_ACTIONS
export type Action = ProjectAction | WorkspaceAction

/** The caller, reduced to the facts that decide. */
export type Asker =
  | { kind: 'anonymous' }
  /** A person whose roles count for nothing. None comes this far: they have neither session nor key. contract 17.6. */
  | { kind: 'suspended' }
  /** `other_site`: the request names another project than the one that the site belongs to. */
  | { kind: 'user'; globalRole: GlobalRole; place: 'admin_host' | 'own_site' | 'other_site' }
  /** `covers`: the key is global, or belongs to the project in question. */
  | { kind: 'key'; isGlobal: boolean; covers: boolean }
  /** A person by `svc login`: not ambient as cookies are, so it is the same on every host. */
  | { kind: 'cli'; globalRole: GlobalRole }
  /** The command line working on the data directory, and the first start. */
  | { kind: 'operator' }

type AccessQuestion = {
  action: Action
  asker: Asker
  /** GET and HEAD. */
  isRead: boolean
  /** The user's effective role on the project; null if they have none. Ignored for keys. */
  role: ProjectRole | null
  /** Whether the project exists. True for workspace actions. */
  exists: boolean
}

export type Denial = 'unauthenticated' | 'hidden' | 'forbidden' | 'admin_host_only'

/** `role` is the role that the asker acts with. `reason` is a sentence for the person who asks why. */
type Decision =
  | { allowed: true; role: ProjectRole | null; reason: string }
  | { allowed: false; denial: Denial; role: ProjectRole | null; reason: string }

/** Decides whether this asker may perform this action. The only place that compares roles. contract §2 and §4. */
export function decideAccess(question: AccessQuestion): Decision {
  const { action, asker } = question
  if (asker.kind === 'operator') return allow('owner', 'The operator of this machine may do everything')
  if (asker.kind === 'anonymous') return decideAnonymous(action)
  if (asker.kind === 'suspended') return deny('unauthenticated', null, 'The account is suspended')
  if (asker.kind === 'user' && asker.place !== 'admin_host')
    return decideOnSite(question, asker.place, asker.globalRole)
  return isWorkspaceAction(action) ? decideWorkspace(action, asker) : decideOnProject(question, action)
}

function decideAnonymous(action: Action): Decision {
  if (isWorkspaceAction(action) && WORKSPACE_ACTIONS[action] === 'anybody') return allow(null, FOR_ANYBODY)
  return deny('unauthenticated', null, 'Sign in or send an API key')
}

function decideWorkspace(
  action: WorkspaceAction,
  asker: Exclude<Asker, { kind: 'anonymous' | 'suspended' | 'operator' }>,
): Decision {
  const needed = WORKSPACE_ACTIONS[action]
  if (needed === 'anybody') return allow(null, FOR_ANYBODY)
  if (needed === 'any_credential') return allow(null, 'Lists show what the caller may see')
  if (asker.kind === 'key') return deny('forbidden', null, 'An API key cannot do this: sign in as a person')
  if (asker.kind === 'cli') return deny('forbidden', null, 'svc login cannot do this: sign in in the browser')
  if (needed === 'signed_in') return allow(null, 'Everybody manages their own account')
  const isEnough = asker.globalRole === 'admin' || asker.globalRole === needed
  if (isEnough) return allow(null, `The global role ${asker.globalRole} allows it`)
  return deny('forbidden', null, ROLE_REFUSALS[needed])
}

const FOR_ANYBODY = 'Whoever holds the link may see the invitation'

const ROLE_REFUSALS = {
  admin: 'Only administrators of the workspace may do this',
  user: 'Members cannot create projects: ask an administrator for the user role',
}

function decideOnProject(question: AccessQuestion, action: ProjectAction): Decision {
  const { asker, exists, isRead } = question
  if (asker.kind === 'key' && (!asker.covers || !exists)) return denyKeyElsewhere(asker.isGlobal, isRead)
  const role = roleOfAsker(asker, question.role)
  if (!exists || role === null)
    return deny('hidden', null, 'This does not exist, or you have no role on its project')
  return compare(action, role)
}

function denyKeyElsewhere(isGlobal: boolean, isRead: boolean): Decision {
  const reason = isGlobal ? 'This does not exist' : 'This API key does not belong to that project'
  return isRead || isGlobal ? deny('hidden', null, reason) : deny('forbidden', null, reason)
}

/**
 * The role an asker acts with on a project it may access: contributor for a key, owner for a global admin, and of a person
 * on the command line their own, at most contributor.
 */
export function roleOfAsker(asker: Asker, role: ProjectRole | null): ProjectRole | null {
  if (asker.kind === 'operator') return 'owner'
  if (asker.kind === 'suspended') return null
  if (asker.kind === 'key') return asker.covers ? 'contributor' : null
  if (asker.kind === 'cli')
    return asker.globalRole === 'admin' ? 'contributor' : lowerRole(role, 'contributor')
  if (asker.kind === 'user' && asker.globalRole === 'admin') return 'owner'
  return role
}

/** What nobody reads on a site host, whatever their role. contract 17.13. */
const ADMIN_HOST_READS: ReadonlySet<Action> = new Set(['admin:list', 'admin:read'])

/** Contributors wrote the page on a site host, so a session there only reads its own project, as viewer at most. */
function decideOnSite(
  question: AccessQuestion,
  place: 'own_site' | 'other_site',
  globalRole: GlobalRole,
): Decision {
  const { action, isRead, exists } = question
  const only = 'On a site this works only with an API key: use the admin host'
  const isShown = isRead && exists && place === 'own_site' && !ADMIN_HOST_READS.has(action)
  if (!isShown) return deny('admin_host_only', null, only)
  if (action === 'project:list') return allow(null, 'Lists show what the caller may see')
  if (isWorkspaceAction(action)) return deny('admin_host_only', null, only)
  const role = lowerRole(globalRole === 'admin' ? 'viewer' : question.role, 'viewer')
  if (role === null) return deny('hidden', null, 'You have no role on this project')
  if (!hasAtLeast('viewer', PROJECT_ACTIONS[action])) return deny('admin_host_only', role, only)
  return compare(action, role)
}

function compare(action: ProjectAction, role: ProjectRole): Decision {
  const least = PROJECT_ACTIONS[action]
  return hasAtLeast(role, least)
    ? allow(role, `The role ${role} includes ${action}`)
    : deny('forbidden', role, `This needs the role ${least} or higher on the project; you have ${role}`)
}

const isWorkspaceAction = (action: Action): action is WorkspaceAction => action in WORKSPACE_ACTIONS

const allow = (role: ProjectRole | null, reason: string): Decision => ({ allowed: true, role, reason })
const deny = (denial: Denial, role: ProjectRole | null, reason: string): Decision => ({
  allowed: false,
  denial,
  role,
  reason,
})

/** Whether this role may see a site of this visibility: it must be at least the site's required role. */
export function decideView(
  site: { isPublic: boolean; requiredRole: ProjectRole },
  role: ProjectRole | null,
): { allowed: boolean; reason: string } {
  if (site.isPublic) return { allowed: true, reason: 'The site is public' }
  if (role === null)
    return { allowed: false, reason: 'The site is private and the visitor has no role on it' }
  const allowed = hasAtLeast(role, site.requiredRole)
  return { allowed, reason: `The site is private: it needs ${site.requiredRole}, the visitor is ${role}` }
}
