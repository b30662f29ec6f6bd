import { isOwnerName } from '../../src/domain/names.ts'
import { button, linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import {
  checkbox,
  type FieldProps,
  type FormError,
  field,
  fieldError,
  formError,
  hidden,
} from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { mainNav } from '../components/main-nav.ts'
import type { PageUser } from '../components/user-menu.ts'
import { appLayout } from '../frame/layout.ts'

type Failed = { error: FormError; values: Readonly<Record<string, string>> } | undefined

export type NewProjectPageProps = { user: PageUser; failed?: Failed }

/** Sends `intent=create-project`, `owner`, `name`, `displayName` (may be empty) and `isPublic=true` when ticked. */
export const newProjectPage = ({ user, failed }: NewProjectPageProps): Html =>
  appLayout(
    {
      title: 'New project',
      user,
      nav: mainNav(user, 'projects'),
      help: 'projects',
      crumbs: [{ label: 'Projects', href: '/' }],
    },
    html`
      <header class="page-head"><h1>New project</h1></header>
      <div class="cards">
        ${card(
          {
            id: 'new-project',
            title: 'Name',
            about: 'A project holds one site. Give it the name of the repository it is published from.',
          },
          form(user, failed),
        )}
      </div>
    `,
  )

const form = (user: PageUser, failed: Failed): Html => html`
  <form method="post" class="stack narrow">
    ${formError(failed?.error)} ${hidden('intent', 'create-project')}
    ${nameField({
      name: 'owner',
      label: 'Owner',
      placeholder: 'acme',
      hint: 'Your name or that of your team, without spaces.',
      value: failed?.values['owner'] ?? ownerFor(user.email),
      error: fieldError(failed?.error, 'owner'),
    })}
    ${nameField({
      name: 'name',
      label: 'Repository',
      placeholder: 'website',
      hint: html`Any name without spaces. Both are part of the address: <code class="path">production--REPOSITORY--OWNER</code>`,
      value: failed?.values['name'],
      error: fieldError(failed?.error, 'name'),
    })}
    ${field({
      name: 'displayName',
      label: 'Display name',
      required: false,
      value: failed?.values['displayName'],
      error: fieldError(failed?.error, 'displayName'),
    })}
    ${checkbox({
      name: 'isPublic',
      label: 'Public',
      checked: failed?.values['isPublic'] === 'true',
      hint: 'Anyone can see its sites. Otherwise only people with a role on the project can.',
    })}
    <div class="actions">
      ${button({ label: 'Create project' })} ${linkButton({ label: 'Cancel', href: '/', kind: 'secondary' })}
    </div>
  </form>
`

const nameField = (props: FieldProps): Html =>
  field({ ...props, pattern: '[A-Za-z0-9._\\-]{1,100}', verbatim: true })

/** The name in the email, with what an owner's name cannot have left out; empty where nothing is left. */
export function ownerFor(email: string): string {
  const name = email
    .slice(0, email.lastIndexOf('@'))
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  return isOwnerName(name) ? name : ''
}
