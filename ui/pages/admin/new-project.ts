import { button, linkButton } from '../../components/button.ts'
import { card } from '../../components/card.ts'
import { checkbox, type FormError, field, fieldError, formError, hidden } from '../../components/field.ts'
import { mainNav } from '../../components/main-nav.ts'
import type { PageUser } from '../../components/user-menu.ts'
import { type Html, html } from '../../html.ts'
import { appLayout } from '../../layout.ts'

type Failed = { error: FormError; values: Readonly<Record<string, string>> } | undefined

export type NewProjectPageProps = { user: PageUser; failed?: Failed }

/** Sends `intent=create-project`, `owner`, `name`, `displayName` (may be empty) and `isPublic=true` when ticked. */
export const newProjectPage = ({ user, failed }: NewProjectPageProps): Html =>
  appLayout(
    {
      title: 'New project',
      user,
      nav: mainNav(user, 'projects'),
      crumbs: [{ label: 'Projects', href: '/' }],
    },
    html`
      <header class="page-head"><h1>New project</h1></header>
      <div class="cards">
        ${card(
          {
            id: 'new-project',
            title: 'What is it called?',
            about: 'A project holds one site. It is named like the repository that it is published from.',
          },
          form(failed),
        )}
      </div>
    `,
  )

const form = (failed: Failed): Html => html`
  <form method="post" class="stack narrow">
    ${formError(failed?.error)} ${hidden('intent', 'create-project')}
    ${nameField('owner', 'Owner', 'acme', failed)} ${nameField('name', 'Repository', 'website', failed)}
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
      hint: 'Anyone can see its sites. Without it, only people with a role on the project.',
    })}
    <div class="actions">
      ${button({ label: 'Create project' })} ${linkButton({ label: 'Cancel', href: '/', kind: 'secondary' })}
    </div>
  </form>
`

const nameField = (name: 'owner' | 'name', label: string, placeholder: string, failed: Failed): Html =>
  field({
    name,
    label,
    placeholder,
    value: failed?.values[name],
    error: fieldError(failed?.error, name),
    pattern: '[A-Za-z0-9._\\-]{1,100}',
    hint: 'Letters, digits, dots, dashes and underscores.',
    verbatim: true,
  })
