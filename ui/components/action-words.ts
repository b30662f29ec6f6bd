import { PROJECT_ACTIONS, type ProjectAction } from '../../src/domain/access.ts'

/** The actions in a project, in the words of its pages. */
export const actionWords = (action: string): string => WORDS[action] ?? action

/** The lowest role that may do it. */
export const roleFor = (action: string): string => LEAST_ROLES[action] ?? ''

const LEAST_ROLES: Readonly<Record<string, string>> = PROJECT_ACTIONS

const WORDS: Readonly<Record<string, string>> = {
  'site:view': 'See the site while it is private',
  'project:see': 'See the project in lists',
  'project:read': 'Open the project: deployments, aliases, rules, data',
  'permission:read': 'See who belongs to it',
  'deployment:create': 'Publish',
  'alias:write': 'Move aliases',
  'preview:end': 'End previews',
  'traffic:configure': 'Change rules, domains\u2019 traffic and data',
  'secret:names': 'See the names of secrets',
  'deployment:delete': 'Delete deployments',
  'alias:manage': 'Change, lock and delete aliases',
  'domain:manage': 'Add and remove domains',
  'settings:manage': 'Change the settings',
  'permission:manage': 'Give and remove roles',
  'invitation:manage': 'Invite people',
  'secret:manage': 'Set and remove secrets',
  'secret:read': 'See headers that rules add',
  'cdn:purge': 'Purge the CDN',
  'admin:read': 'Compare deployments, see what needs attention',
  'analytics:read': 'See visits',
  'audit:read': 'See who changed what, and undo it',
  'webhook:manage': 'Manage webhooks',
  'retention:manage': 'Manage retention',
  'project:delete': 'Delete the project',
  'ownership:transfer': 'Transfer the project',
} satisfies Record<ProjectAction, string>
