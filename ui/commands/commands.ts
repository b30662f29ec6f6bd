import { button } from '../components/button.ts'
import { field } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { mainNav } from '../components/main-nav.ts'
import { searchForm } from '../components/search-form.ts'
import type { PageUser } from '../components/user-menu.ts'
import { appLayout } from '../frame/layout.ts'
import type { Command } from './command.ts'

type CommandsPageProps = { user: PageUser; query: string; commands: readonly Command[] }

/** What the palette shows, for browsers without scripts. */
export const commandsPage = ({ user, query, commands }: CommandsPageProps): Html =>
  appLayout(
    { title: 'Commands', user, nav: mainNav(user, undefined), help: 'commands' },
    html`
      <header class="page-head"><h1>Commands</h1></header>
      ${searchForm(
        'Commands',
        field({
          name: 'q',
          label: 'Find a page, a project or a command',
          type: 'search',
          value: query,
          required: false,
          isPlain: true,
        }),
        query === '' ? undefined : '/commands',
      )}
      <section class="card">
        ${commands.length === 0 ? html`<p>Nothing found</p>` : html`<ul class="commands">${commands.map(item)}</ul>`}
      </section>
    `,
  )

const item = (command: Command): Html => html`
  <li>${deed(command)} <span class="muted small">${command.group}</span></li>
`

function deed({ name, does }: Command): Html | null {
  if (does.kind === 'open') return html`<a href=${does.href}>${name}</a>`
  if (does.kind === 'copy') return html`<span>${name}: <code>${does.text}</code></span>`
  if (does.kind === 'keys') return html`<span>${name}: <kbd>?</kbd> shows them, with scripts</span>`
  return html`
    <form method="post" action=${does.action}>
      ${Object.entries(does.fields).map(
        ([field, value]) => html`<input type="hidden" name=${field} value=${value} />`,
      )}
      ${button({ label: name, kind: 'secondary', small: true })}
    </form>
  `
}
