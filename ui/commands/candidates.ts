import type { Caller, Context } from '../../src/context.ts'
import { authorize, mayDo } from '../../src/modules/auth/authorize.ts'
import { contentsOf, documentHref, listDocuments } from '../../src/modules/docs/service.ts'
import { listProjectNames, mayDoSomewhere } from '../../src/modules/projects/service.ts'
import { listUsers } from '../../src/modules/users/service.ts'
import { mainNav } from '../components/main-nav.ts'
import { type Candidate, type Does, opens, type Person } from './command.ts'
import { tabCandidates, toProject } from './project-candidates.ts'

const MAX_PEOPLE = 10

/** All that this person may do, unsorted. `words` are needed to find people, of whom there may be many. */
export async function candidatesFor(
  person: Person,
  place: string | undefined,
  words: readonly string[],
): Promise<Candidate[]> {
  const { ctx, caller } = person
  const projects = listProjectNames(ctx, authorize(ctx, caller, 'project:list', undefined, true))
  const here = projects.find(({ id }) => id === place)
  return [
    ...(here === undefined ? [] : tabCandidates(person, here)),
    ...deeds(person, here?.id),
    ...pages(person),
    ...projects.flatMap((project) => toProject(person, project)),
    ...people(person, words),
    ...(await documents()),
  ]
}

/** What belongs to no project. */
function deeds(person: Person, projectId: string | undefined): Candidate[] {
  const { ctx, caller } = person
  const deed = (name: string, doing: () => Does | undefined): Candidate => ({
    id: name,
    name,
    group: 'Commands',
    doing,
  })
  const theme = (name: string, theme: string) =>
    deed(name, () => ({ kind: 'send', action: '/theme', fields: { theme } }))
  return [
    deed('New project', () => (mayCreate(ctx, caller) ? opens('/projects/new') : undefined)),
    deed('Invite somebody', () => inviting(person, projectId)),
    theme('System theme', 'system'),
    theme('Light theme', 'light'),
    theme('Dark theme', 'dark'),
    deed('Documents', () => opens('/docs')),
    deed('Keyboard shortcuts', () => ({ kind: 'keys' })),
    deed('API explorer', () => opens('/api/docs')),
    deed('Sign out', () => ({ kind: 'send', action: '/signout', fields: {} })),
  ]
}

function mayCreate(ctx: Context, caller: Caller): boolean {
  try {
    authorize(ctx, caller, 'project:create', undefined, false)
    return true
  } catch {
    return false
  }
}

/** To the project of this page, else to the workspace, else to the first project where that is allowed. */
function inviting({ ctx, caller, user }: Person, projectId: string | undefined): Does | undefined {
  const may = (id: string) => mayDo(ctx, caller, 'permission:manage', id, false)
  if (projectId !== undefined && may(projectId)) return opens(`/projects/${projectId}/people#invite`)
  if (user.role === 'admin') return opens('/admin/users#new-user')
  if (!mayDoSomewhere(ctx, caller, 'permission:manage')) return undefined
  const projects = listProjectNames(ctx, authorize(ctx, caller, 'project:list', undefined, true))
  const first = projects.find(({ id }) => may(id))
  return first && opens(`/projects/${first.id}/people#invite`)
}

const pages = ({ user }: Person): Candidate[] =>
  mainNav(user, undefined).flatMap(({ items }) =>
    items.map(({ label, href }) => ({
      id: `page ${href}`,
      name: label,
      group: 'Pages',
      doing: () => opens(href),
    })),
  )

function people({ ctx, caller, user }: Person, words: readonly string[]): Candidate[] {
  const longest = words.toSorted((a, b) => b.length - a.length)[0]
  if (user.role !== 'admin' || longest === undefined) return []
  const grant = authorize(ctx, caller, 'workspace:administer', undefined, true)
  const { data } = listUsers(ctx, grant, { search: longest, limit: String(MAX_PEOPLE) })
  return data.map(({ id, email }) => ({
    id: `person ${id}`,
    name: email,
    group: 'People',
    doing: () => opens(`/admin/users/${id}`),
  }))
}

const documents = async (): Promise<Candidate[]> =>
  (await listDocuments()).flatMap((document) =>
    [document.title, ...contentsOf(document)].map(({ id, label }) => ({
      id: `document ${document.name}#${id}`,
      name: label,
      group: 'Documents',
      doing: () => opens(documentHref(document.name, id)),
    })),
  )
