/** The headings of docs/admin.md by their ids. A test compares both. */
export const HELP_TOPICS = [
  'commands',
  'projects',
  'a-project',
  'publish',
  'deployments',
  'aliases',
  'domains',
  'rules',
  'schedules',
  'data',
  'files',
  'people',
  'analytics',
  'errors',
  'secrets',
  'webhooks',
  'retention',
  'checked-releases',
  'settings-of-a-project',
  'your-account',
  'users',
  'groups',
  'api-keys',
  'settings-of-the-workspace',
  'requests',
  'audit-log',
  'storage',
  'machines',
  'certificates',
  'backups',
  'health',
] as const

export type HelpTopic = (typeof HELP_TOPICS)[number]

export const helpHref = (topic: HelpTopic): string => `/docs/admin#${topic}`
