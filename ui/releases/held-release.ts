import type { Held } from '../../src/modules/deployments/publish/held.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { checkResults } from './check-results.ts'

/** A release that waits, and the ways on. Sends `intent=release`, and `startPage` as the answer to a question. */
export const heldRelease = (held: Held, canRelease: boolean, error: string | undefined): Html =>
  held.question === undefined
    ? heldBack(held, canRelease, error)
    : asked(held, held.question.startPages, canRelease ? error : null)

/** `error` null: whoever looks may not answer. */
const asked = ({ alias }: Held, startPages: readonly string[], error: string | undefined | null): Html =>
  card(
    {
      id: 'held',
      title: startPages.length === 0 ? 'No start page' : 'Which folder is the site?',
      about: `The alias ${alias} was not moved here: there is no index.html at the top.`,
    },
    html`
      ${error && notice({ tone: 'bad', message: error, live: true })}
      ${
        error !== null &&
        html`
          <form method="post" class="stack">
            ${hidden('intent', 'release')} ${startPages.length > 0 && folders(startPages)}
            <div class="actions">
              ${button({ label: startPages.length === 0 ? 'Publish without a start page' : 'Publish' })}
            </div>
          </form>
        `
      }
    `,
  )

const folders = (startPages: readonly string[]): Html => html`
  <fieldset class="choices">
    <legend>Which folder is the site?</legend>
    ${[...startPages, ''].map(
      (folder, at) => html`
        <div class="check">
          <input type="radio" id=${`start-${at}`} name="startPage" value=${folder} required />
          <div><label for=${`start-${at}`}>${folder === '' ? 'Everything as it is' : folder}</label></div>
        </div>
      `,
    )}
  </fieldset>
`

const heldBack = (held: Held, canRelease: boolean, error: string | undefined): Html =>
  card(
    {
      id: 'held',
      title: 'Held back by its checks',
      about: `The alias ${held.alias} was not moved here, because of what failed. Mend it and publish again.`,
    },
    html`
      ${error !== undefined && notice({ tone: 'bad', message: error, live: true })}
      ${checkResults(held.checks)}
      ${
        canRelease &&
        confirmDialog(
          {
            id: 'release-anyway',
            opener: 'Release all the same',
            openerKind: 'secondary',
            title: `Show this deployment as ${held.alias}, although checks failed?`,
            text: 'Visitors see it at once. The audit log says which checks were overruled.',
            confirm: 'Release it',
          },
          hidden('intent', 'release'),
        )
      }
    `,
  )
