import type { Held } from '../../src/modules/deployments/publish/held.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { checkResults } from './check-results.ts'

/** A release that checks held back, and the ways on. Sends `intent=release`. */
export const heldRelease = (held: Held, canRelease: boolean, error: string | undefined): Html =>
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
